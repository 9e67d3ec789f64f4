#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sorting beside NumPy's, in turn: in every round bw_bench times its case and NumPy sorts the same kind of data.

Prints the medians, and the median over the rounds of our time divided by NumPy's: "stable" against the sort with the
same promise (kind="stable"), "default" against NumPy's fastest, which is not stable. Values come with ids from ours;
NumPy's sort gives values only, its argsort ids only.

Exit status: 0; 1 if a ratio to the stable sort is above --limit; 2 if bw_bench or numpy is missing.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

try:
    import numpy as np
except ImportError:
    print("sort_numpy: numpy is needed: pip install numpy", file=sys.stderr)
    sys.exit(2)

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i64": np.int64, "i32": np.int32, "u8": np.uint8}
ABOUT = {}  # the machine and the commit of ours
SHAPES = {"1e6": (1000000,), "rows": (1024, 1024)}


def cases(names):
    for what, call in (("values", np.sort), ("ids", np.argsort)):
        for size in SHAPES:
            for dtype in DTYPES:
                name = f"sort/{what}_{size}/{dtype}"
                if not names or any(text in name for text in names):
                    yield name, call, SHAPES[size], DTYPES[dtype]


def inputs(shape, dtype):
    low, high = (0, 256) if dtype == np.uint8 else (-30000, 30000)
    return np.random.default_rng(7).uniform(low, high, shape).astype(dtype)


def ours(program, name, threads):
    command = [program, "--filter", name, "--json", "-", "--repeat", "3", "--quick"]
    if threads:
        command += ["--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"sort_numpy: {' '.join(command)} failed:\n{done.stderr}")
    measured = json.loads(done.stdout)
    ABOUT.update({key: measured[key] for key in ("device", "isa", "threads", "commit", "dirty", "date")})
    return measured["cases"][0]["median_us"] / 1e6


def theirs(call, data, kind):
    times = []
    for _ in range(4):
        start = time.perf_counter()
        call(data, axis=-1, kind=kind)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(here / "build/bin/bw_bench"), help="bw_bench (default: %(default)s)")
    parser.add_argument("--filter", action="append", help="only cases whose name contains this text")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of every case (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="threads of ours (default: as bw_bench chooses)")
    parser.add_argument("--limit", type=float, default=1.2, help="highest ratio accepted (default: %(default)s)")
    parser.add_argument("--json", help='write the results there, too ("-": to standard output, the table to standard error)')
    options = parser.parse_args()
    if not pathlib.Path(options.program).exists():
        print(f"sort_numpy: {options.program} is not built: cmake --build build --target bw_bench", file=sys.stderr)
        return 2
    table = sys.stderr if options.json == "-" else sys.stdout
    print(f"numpy {np.__version__}; {options.rounds} rounds; ratio = our time / NumPy's time", file=table)
    print(f"{'case':<24} {'ours':>10} {'stable':>10} {'default':>10} {'/stable':>8} {'/default':>8}", file=table)
    above = []
    results = []
    for name, call, shape, dtype in cases(options.filter):
        data = inputs(shape, dtype)
        rounds = [(theirs(call, data, "stable"), ours(options.program, name, options.threads),
                   theirs(call, data, None)) for _ in range(options.rounds)]
        stable, mine, default = (statistics.median(column) for column in zip(*rounds))
        to_stable = statistics.median(m / s for s, m, _ in rounds)
        to_default = statistics.median(m / d for _, m, d in rounds)
        mark = "  ABOVE" if to_stable > options.limit else ""
        print(f"{name:<24} {mine * 1e3:>7.2f} ms {stable * 1e3:>7.2f} ms {default * 1e3:>7.2f} ms "
              f"{to_stable:>8.2f} {to_default:>8.2f}{mark}", file=table, flush=True)
        results.append({"name": name, "ours_us": round(mine * 1e6, 1), "stable_us": round(stable * 1e6, 1),
                        "default_us": round(default * 1e6, 1), "to_stable": round(to_stable, 3),
                        "to_default": round(to_default, 3)})
        if mark:
            above.append(name)
    if options.json:
        about = {**ABOUT, "numpy": np.__version__, "rounds": options.rounds}
        lines = ",\n".join("    " + json.dumps(result) for result in results)
        head = json.dumps(about, indent=2)[:-2]
        text = f'{head},\n  "cases": [\n{lines}\n  ]\n}}\n'
        if options.json == "-":
            sys.stdout.write(text)
        else:
            pathlib.Path(options.json).write_text(text, encoding="utf-8")
    if above:
        print(f"above {options.limit}: {', '.join(above)}", file=table)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
