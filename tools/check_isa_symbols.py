#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what is compiled for AVX2 and AVX-512 hands no code to the rest of the program.

The linker keeps one copy of a weak (comdat) symbol. If the object of a high level defines one that a plain
object also uses, plain machines may end up running its instructions. So an object of level L may define no
weak or unique symbol, and its global names must be inside beeswax::cpu::isa_L.

usage: check_isa_symbols.py [--nm nm] LEVEL=OBJECT[;OBJECT...]...
Example: check_isa_symbols.py v3=a.o;b.o v4=c.o
"""
import argparse
import subprocess
import sys

WEAK = set("WVu")        # defined weak function, weak object, unique global
GLOBAL = set("TDBRGSCAi")  # defined elsewhere than in a weak section


def problems_of(nm, level, path, namespace="beeswax::cpu"):
    """(number of symbols defined, list of problems) of one object file."""
    text = subprocess.run([nm, "--defined-only", path], check=True, capture_output=True, text=True).stdout
    names = subprocess.run(["c++filt"], input=text, check=True, capture_output=True, text=True).stdout
    inside = "_ZN" + "".join(f"{len(part)}{part}" for part in (*namespace.split("::"), "isa_" + level))
    problems, count = [], 0
    for line, readable in zip(text.splitlines(), names.splitlines()):
        parts = line.split()
        if len(parts) < 3:
            continue
        kind, symbol = parts[-2], parts[-1]
        if symbol.startswith("DW.ref."):
            continue  # a pointer that exception tables use: no code
        count += 1
        shown = readable.split(None, 2)[2]
        if symbol.startswith("_GLOBAL__sub_I"):
            problems.append(f"{path}: runs at the program's start, on every machine: {shown}")
        elif kind in WEAK:
            problems.append(f"{path}: weak symbol ({kind}) {shown}")
        elif kind in GLOBAL and not symbol.startswith((inside, inside.replace("_ZN", "_ZNK"))):
            problems.append(f"{path}: global symbol ({kind}) outside isa_{level}: {shown}")
    return count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--namespace", default="beeswax::cpu")
    parser.add_argument("levels", nargs="+", metavar="LEVEL=OBJECT;...")
    args = parser.parse_args()
    files, symbols, problems = 0, 0, []
    for group in args.levels:
        level, objects = group.split("=", 1)
        for path in filter(None, objects.split(";")):
            files += 1
            count, found = problems_of(args.nm, level, path, args.namespace)
            symbols += count
            problems += found
    for problem in problems:
        print(problem)
    print(f"isa symbols: {files} objects, {symbols} symbols, {len(problems)} that other code could pick up")
    # No object at all means that the caller's list is wrong, not that all is well.
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
