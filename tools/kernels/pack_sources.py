#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the kernel sources and the headers that they are written with into one file that the library carries, for
kernels compiled at run time. Each text is preceded by the lengths of its path and of itself, 32 bits each; the path is
the one that sources include it by. With --zstd the whole is compressed.

usage: pack_sources.py --root FOLDER --out FILE [--depfile FILE] [--zstd PROGRAM]
"""
import argparse
import pathlib
import re
import struct
import subprocess

# Where includes are looked for, and the folder of what stands in for a C++ library.
FOLDERS = ["src", "include", "src/kernels/rtc/system"]
# The dialect, and what is written for user kernels; the rest follows from what these include.
STARTS = ["src/kernels/gpu.h", "src/kernels/gpu_words.h", "src/kernels/wave.h", "src/kernels/atomics.h",
          "src/kernels/rtc/clang.h", "src/kernels/rtc/nvrtc.inc", "src/kernels/rtc/hiprtc.inc", "src/kernels/rtc/system/stdint.h", "src/kernels/rtc/system/stddef.h"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def find(root, name):
    """The file of the tree that an include means."""
    for folder in FOLDERS:
        path = root / folder / name
        if path.is_file():
            return path
    raise SystemExit(f"kernels include {name}, which run-time compilers would not find: see pack_sources.py")


def collect(root):
    """{name to include by: (path, text)}, of the starts, every kernel source, and all that they include."""
    waiting = [root / start for start in STARTS] + sorted((root / "src/kernels").glob("*.cc"))
    found = {}
    while waiting:
        path = waiting.pop()
        folder = next(f for f in reversed(FOLDERS) if path.is_relative_to(root / f))
        name = path.relative_to(root / folder).as_posix()
        if name in found:
            continue
        text = path.read_text()
        found[name] = (path, text)
        waiting += [find(root, other) for other in INCLUDE.findall(text)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("--zstd")
    args = parser.parse_args()
    found = collect(args.root)
    packed = b""
    for name, (_, text) in sorted(found.items()):
        packed += struct.pack("<II", len(name.encode()), len(text.encode())) + name.encode() + text.encode()
    if args.zstd:
        packed = subprocess.run([args.zstd, "-q", "-19", f"--stream-size={len(packed)}", "--stdout", "-"], input=packed,
                                stdout=subprocess.PIPE, check=True).stdout
    args.out.write_bytes(packed)
    if args.depfile:
        args.depfile.write_text(f"{args.out}: " + " \\\n  ".join(str(path) for path, _ in found.values()) + "\n")


if __name__ == "__main__":
    main()
