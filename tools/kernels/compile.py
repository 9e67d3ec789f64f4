#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles one kernel source for one GPU target and writes, beside the object, what its kernels use (OUT.json).

AMD targets (gfx...) give a code object, ptx_80, ptx_90 and ptx_90a give PTX, sm_... a cubin made from the PTX that --ptx
names. Results are kept under a key of everything that can change them (preprocessed source, flags, compiler), in
BEESWAX_KERNEL_CACHE or ~/.cache/beeswax/kernels, so that a fresh build folder costs seconds. Scratch memory,
register spills and ptxas's note of serialized wgmma are errors: a kernel that needs them is not done.

--stamp names other chips of the target's class, which run the same code. OUT.json lists the few bytes in which the object
differs for each: the chip's number in the ELF header, and its name in the metadata. tests/tools/stamps_test.py compares
such objects with what the assembler makes for the chips.

Every kernel of a cubin for sm_90 or newer begins with griddepcontrol.wait: it may be launched while the kernel before it
ends (CUDA's programmatic dependent launch), for it waits itself until all that one wrote is seen. Bundle::waits
(src/backends/gpu/bundle.h) tells the host of which targets this is true.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import code_object

COMMON = ["-std=c++20", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-cuda-version",
          "-Wno-bitwise-conditional-parentheses", "-Wno-bitwise-instead-of-logical"]
# An eighth less time than -O3 takes, for the same instructions: LLVM's back end looks twice more for equal values at -O3,
# and its search for equal loads peels loops of kernels that load nothing twice.
AMD_OPTIMIZATION = ["-O2", "-mllvm", "-enable-gvn-memdep=0"]
# Another twentieth: a search for neighbours to make vectors of. It pays where instructions work on two f32 (v_pk_fma_f32 of
# gfx90a, gfx942 and gfx1250; tests/tools/packed_math_test.py). Elsewhere it pairs 16-bit integers, and saves a
# hundredth of a module's instructions at most (gfx1100).
WITHOUT_PACKED_FLOATS = ("gfx10", "gfx11", "gfx120")
# EF_AMDGPU_MACH of LLVM's guide to the AMDGPU backend, byte 48 of an ELF file, of the chips that run another one's code.
MACHINE = {"gfx902": 0x2d, "gfx90c": 0x32, "gfx1031": 0x37, "gfx1032": 0x38, "gfx1033": 0x39, "gfx1034": 0x3e, "gfx1035": 0x3d,
           "gfx1036": 0x45, "gfx1101": 0x46, "gfx1103": 0x44, "gfx1150": 0x43, "gfx1152": 0x55, "gfx1201": 0x4e}
PTX_VERSION = {"80": "ptx78", "90": "ptx80", "90a": "ptx80"}
# Instructions that ask for a later PTX than the target's, of assemblers and drivers; a module without them stays as it is.
LATER_PTX = {"st.async": "8.1"}


def clang_flags(target):
    if target.startswith("gfx"):
        vectors = ["-fno-slp-vectorize"] if target.startswith(WITHOUT_PACKED_FLOATS) else []
        return ["-x", "hip", "--cuda-device-only", f"--offload-arch={target}", "-nogpuinc", "-nogpulib",
                "--no-gpu-bundle-output", "-mcode-object-version=5", *AMD_OPTIMIZATION, *vectors, *COMMON]
    chip = target.removeprefix("ptx_")
    return ["-x", "cuda", "--cuda-device-only", f"--cuda-gpu-arch=sm_{chip}", "-nocudainc", "-nocudalib",
            f"--cuda-feature=+{PTX_VERSION[chip]}", "-O3", *COMMON]


def identity(compiler):
    """Names this very compiler, without running it."""
    path = pathlib.Path(shutil.which(compiler) or compiler).resolve()
    found = path.stat()
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout, result.stderr


def cache_folder():
    given = os.environ.get("BEESWAX_KERNEL_CACHE")
    return pathlib.Path(given) if given else pathlib.Path.home() / ".cache/beeswax/kernels"


def ptx_kernels(text):
    """Names and argument bytes of the entries of a PTX file."""
    sizes = {"8": 1, "16": 2, "32": 4, "64": 8}
    out = {}
    for name, arguments in re.findall(r"\.entry\s+(\w+)\s*\(([^)]*)\)\s*\n\.maxntid", text):
        end = 0
        for align, kind, count in re.findall(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.[bufs](\d+)\s+\w+(?:\[(\d+)\])?", arguments):
            size = sizes[kind] * int(count or 1)
            step = int(align or sizes[kind])
            end = (end + step - 1) // step * step + size
        out[name] = {"arguments": end}
    return out


def ptxas_kernels(log, names):
    """What ptxas -v says of each kernel."""
    if "wgmma" in log and "serializ" in log:
        sys.exit(f"ptxas serializes wgmma:\n{log}")
    out, name = {}, None
    for line in log.splitlines():
        if m := re.search(r"Compiling entry function '(\w+)'", line):
            name = m[1]
            out[name] = dict(names[name])
        elif m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            out[name].update(scratch=int(m[1]), spills=int(m[2]) + int(m[3]))
        elif m := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            out[name].update(vgprs=int(m[1]), shared=int(shared[1]) if shared else 0)
    return out


def with_waits(ptx):
    """PTX for sm_90 and newer whose kernels wait for the launch before them, first of all."""
    entries = len(ptx_kernels(ptx))
    out, waits = re.subn(r"(\.entry\s+\w+\s*\([^)]*\)[^{};]*\{)", r"\1\n\tgriddepcontrol.wait;", ptx)
    if waits != entries:
        sys.exit(f"{entries} kernels, of which {waits} can be made to wait")
    return re.sub(r"^\.target sm_80\b", ".target sm_90", out, flags=re.MULTILINE)


def with_registers(ptx):
    """PTX whose blocks may have a processor of their own, so that registers suffice."""
    alone = re.sub(r"^\.minnctapersm.*\n", "", ptx, flags=re.MULTILINE)
    return re.sub(r"^(\.maxntid [^/\n]*).*$", r"\1\n.minnctapersm 1", alone, flags=re.MULTILINE)


def spilling(kernels):
    """What is wrong with each kernel that spills."""
    return [f"{name}: {kernel.get('scratch', 0)} bytes of scratch, {kernel.get('spills', 0)} spills"
            for name, kernel in kernels.items() if kernel.get("scratch", 0) or kernel.get("spills", 0)]


def compile_ptx_to_cubin(args, output):
    ptx = pathlib.Path(args.ptx).read_text()
    source = args.ptx
    if int(re.match(r"sm_(\d+)", args.target)[1]) >= 90:
        source = output.with_suffix(".ptx")
        source.write_text(with_waits(ptx))
    def assemble():
        _, log = run([args.ptxas, f"-arch={args.target}", "-v", str(source), "-o", str(output)])
        return ptxas_kernels(log, ptx_kernels(ptx))
    kernels = assemble()
    # The blocks side by side were chosen on sm_90, where one that spills is an error. Elsewhere they, or as many as ptxas
    # aims at, may leave too few registers.
    if args.target.startswith("sm_90") or not spilling(kernels):
        return kernels
    roomy = with_registers(pathlib.Path(source).read_text())
    source = output.with_suffix(".roomy.ptx")
    source.write_text(roomy)
    return assemble()


def compile_source(args, output):
    emit = ["-S"] if args.target.startswith("ptx") else []
    run([args.clang, *clang_flags(args.target), *args.include, *emit, args.source, "-o", str(output)])
    if emit:
        text = with_version(output.read_text())
        output.write_text(text)
        return ptx_kernels(text)
    data = output.read_bytes()
    args.stamps = {chip: stamp(data, args.target, chip) for chip in args.stamp}
    return code_object.kernels(data)


def with_version(ptx):
    """PTX that says the version which its instructions ask for."""
    for instruction, version in LATER_PTX.items():
        if instruction in ptx:
            ptx = re.sub(r"^\.version .*$", f".version {version}", ptx, flags=re.MULTILINE)
    return ptx


def stamp(data, target, chip):
    """[[offset, byte]] that make the object of `chip` of its class's."""
    prefix = b"amdgcn-amd-amdhsa--"
    names = [m.start() + len(prefix) for m in re.finditer(prefix + target.encode() + rb"\b", data)]
    if len(target) != len(chip) or not names:
        sys.exit(f"{chip}: its name does not fit in {target}'s objects")
    changed = [(48, MACHINE[chip]), *((at + i, byte) for at in names for i, byte in enumerate(chip.encode()))]
    return [[at, byte] for at, byte in changed if data[at] != byte]


def key_of(args):
    """The text that decides the result; writes the depfile."""
    if args.ptx:
        return identity(args.ptxas) + args.target + pathlib.Path(args.ptx).read_text()
    flags = clang_flags(args.target)
    # The driver of clang 22 takes no -MF beside -E for HIP; the compiler itself takes it.
    depfile = ["-dependency-file", args.depfile, "-sys-header-deps", "-MT", args.out]
    depfile = [word for option in depfile for word in ("-Xclang", option)]
    text, _ = run([args.clang, *flags, *args.include, "-E", "-P", *depfile, args.source])
    return "\n".join([identity(args.clang), *flags, *args.stamp, text])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--target", required=True)
    parser.add_argument("--ptx", help="make a cubin of this PTX")
    parser.add_argument("--source")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--stamp", action="append", default=[], help="a chip that runs the target's code")
    parser.add_argument("--depfile")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    args.include = [f"-I{folder}" for folder in args.include]

    key = hashlib.sha256((pathlib.Path(__file__).read_text() + key_of(args)).encode()).hexdigest()
    kept = cache_folder() / key[:2] / key
    out = pathlib.Path(args.out)
    if kept.with_suffix(".json").exists() and kept.exists():
        out.write_bytes(kept.read_bytes())
        pathlib.Path(f"{out}.json").write_text(kept.with_suffix(".json").read_text())
        return
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / out.name
        kernels = compile_ptx_to_cubin(args, made) if args.ptx else compile_source(args, made)
        data = made.read_bytes()
    if broken := spilling(kernels):
        sys.exit(f"{args.source or args.ptx} for {args.target}: registers do not suffice\n  " + "\n  ".join(broken))
    if not kernels:
        sys.exit(f"{args.source or args.ptx} for {args.target}: no kernel in the object")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.dumps({"target": args.target, "seconds": round(used.ru_utime + used.ru_stime, 2), "kernels": kernels,
                         "stamps": getattr(args, "stamps", {})})
    out.write_bytes(data)
    pathlib.Path(f"{out}.json").write_text(report)
    try:  # through names of this process, so that builds side by side never see half a file
        kept.parent.mkdir(parents=True, exist_ok=True)
        for path, content in ((kept, data), (kept.with_suffix(".json"), report.encode())):
            mine = path.with_suffix(f".{os.getpid()}")
            mine.write_bytes(content)
            mine.replace(path)
    except OSError as error:
        print(f"kernel cache not written: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
