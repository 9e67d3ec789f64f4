#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Square matrix products beside OpenBLAS's, by its own choice of kernels and by each other kind that suits this processor:
peer_gemm, which times ours and OpenBLAS's in turn, once for each (OPENBLAS_CORETYPE counts when the library is opened).

Prints for each size the kernels that OpenBLAS chose and its best ones: those beside which our time is the largest share
of OpenBLAS's. ABOVE marks a size at which that is more than 1. Where OPENBLAS_CORETYPE is set, only those kernels run.

Exit status: 0; 1 if a run failed; 2 if peer_gemm is not built; 3 if there is no OpenBLAS.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys

V3 = {"avx2", "fma"}
V4 = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
BF16 = V4 | {"avx512_vnni", "avx512_bf16"}
# What a kind of kernels may use, as /proc/cpuinfo spells it: OpenBLAS does not look when it is told which to take.
CORES = {"Haswell": V3, "Zen": V3, "SkylakeX": V4, "Cooperlake": BF16, "Sapphirerapids": BF16 | {"amx_tile", "avx512_fp16"}}
ASKED = os.environ.get("OPENBLAS_CORETYPE")
CHOICE = "as asked" if ASKED else "its own choice"


def features():
    """The processor's instruction sets; none where it is no x86 one."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("flags")]
    except OSError:
        lines = []
    return set(lines[0].split()) if lines else set()


def run(command, core=None):
    """(exit status, peer_gemm's output) by the kernels called `core`, or by OpenBLAS's choice."""
    chosen = {"OPENBLAS_CORETYPE": core} if core else {}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, **chosen})
    return done.returncode, done.stdout


def is_there(program, core):
    """Whether this OpenBLAS has these kernels: a name that it does not know leaves it its own choice."""
    status, output = run([program, "--json", "--rounds", "1", "64"], core)
    return status == 0 and json.loads(output)["openblas_core"].lower() == core.lower()


def measure(command, table):
    """({kind of kernels: rows}, what the first run says of itself), OpenBLAS's own choice first; or an exit status."""
    status, output = run(command)
    if status != 0:
        print(output.strip() or f"peer_gemm ended with {status}", file=table)
        return 3 if status == 3 else 1
    about = json.loads(output)
    found = {about["openblas_core"]: about.pop("rows")}
    print(f"{about['cpu']}, {about['isa']}, {about['threads']} threads, {about['dtype']}; {about['openblas']}", file=table)
    print_median(table, about["openblas_core"], found, f", {CHOICE}")
    if ASKED and ASKED.lower() != about["openblas_core"].lower():
        print(f"(it does not have {ASKED}, which OPENBLAS_CORETYPE asks for)", file=table)
    there = features()
    for core, needs in CORES.items():
        if ASKED or not needs <= there or core.lower() == about["openblas_core"].lower() or not is_there(command[0], core):
            continue
        status, output = run(command, core)
        if status != 0:
            print(f"{core}: peer_gemm ended with {status}", file=table)
            return 1
        found[core] = json.loads(output)["rows"]
        print_median(table, core, found)
    return found, about


def print_median(table, core, found, what=""):
    ratio = statistics.median(row["time_over_openblas"] for row in found[core])
    print(f"{core}{what}: ours takes {ratio:.3f} of its time, median of the sizes", file=table, flush=True)


def print_row(table, what, row, mark=""):
    print(f"{row['n']:>6} {what:<32} {row['peak_gflops']:>10.1f} {row['gflops']:>10.1f} {row['share_of_peak']:>7.1%} "
          f"{row['openblas_gflops']:>10.1f} {row['time_over_openblas']:>14.3f}{mark}", file=table)


def print_sizes(table, found, chosen):
    """The table; returns for each size the ratios to the kernels that were chosen and to the best."""
    print(f"\n{'n':>6} {'OpenBLAS by':<32} {'peak GF/s':>10} {'ours GF/s':>10} {'share':>7} {'OpenBLAS':>10} "
          f"{'time/OpenBLAS':>14}", file=table)
    sizes = []
    for i, first in enumerate(found[chosen]):
        best = max(found, key=lambda core: found[core][i]["time_over_openblas"])
        row = found[best][i]
        mark = "  ABOVE" if row["time_over_openblas"] > 1 else ""
        if best == chosen:
            print_row(table, f"{best} ({CHOICE}, best)", row, mark)
        else:
            print_row(table, f"{chosen} ({CHOICE})", first)
            print_row(table, f"{best} (best)", row, mark)
        sizes.append({"n": row["n"], "to_chosen": first["time_over_openblas"], "best": best,
                      "to_best": row["time_over_openblas"]})
    return sizes


def json_text(about, rounds, chosen, found, sizes):
    commit = os.environ.get("BEESWAX_COMMIT", "unknown")
    head = {"device": about["cpu"], **{key: about[key] for key in ("isa", "threads", "dtype")},
            "commit": commit.removesuffix("-dirty"), "dirty": commit.endswith("-dirty"),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "openblas": about["openblas"], "rounds": rounds, "chosen": chosen,
            "chosen_by": "OPENBLAS_CORETYPE" if ASKED else "OpenBLAS"}

    def lines(rows, indent):
        return ",\n".join(" " * indent + json.dumps(row) for row in rows)
    cores = ",\n".join(f"    {json.dumps(core)}: [\n{lines(rows, 6)}\n    ]" for core, rows in found.items())
    return (f'{json.dumps(head, indent=2)[:-2]},\n  "openblas_core": {{\n{cores}\n  }},\n'
            f'  "sizes": [\n{lines(sizes, 4)}\n  ]\n}}\n')


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(here / "build/bin/peer_gemm"), help="peer_gemm (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of every size (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="threads of both (default: as ours chooses)")
    parser.add_argument("--f64", action="store_true", help="products of f64")
    parser.add_argument("--json", help='write the results there, too ("-": to standard output, the table to standard error)')
    parser.add_argument("sizes", nargs="*", type=int, help="rows and columns (default: 256 to 2048)")
    options = parser.parse_args()
    if not pathlib.Path(options.program).exists():
        print(f"gemm_openblas: {options.program} is not built: cmake --build build --target peer_gemm", file=sys.stderr)
        return 2
    command = [options.program, "--json", "--rounds", str(options.rounds), *(["--f64"] if options.f64 else []),
               *(["--threads", str(options.threads)] if options.threads else []), *map(str, options.sizes)]
    table = sys.stderr if options.json == "-" else sys.stdout
    measured = measure(command, table)
    if isinstance(measured, int):
        return measured
    found, about = measured
    chosen = about["openblas_core"]
    sizes = print_sizes(table, found, chosen)
    if options.json:
        text = json_text(about, options.rounds, chosen, found, sizes)
        if options.json == "-":
            sys.stdout.write(text)
        else:
            pathlib.Path(options.json).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
