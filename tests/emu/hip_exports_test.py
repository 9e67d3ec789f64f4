#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What libbeeswax_emu.so exports: every function that emu/hip defines, nothing else, each under one of AMD's version
nodes; and, where AMD's library is installed, under the same node as there.

usage: hip_exports_test.py SOURCE_FOLDER LIBRARY
EMU_HIP_ROOT: where the distribution's HIP packages were unpacked, when not in the system (default: /)
"""
import glob
import os
import re
import subprocess
import sys


def exported(library):
    """{name: version node} of the functions a library defines."""
    table = subprocess.run(["readelf", "--dyn-syms", "-W", library], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in table.splitlines():
        words = line.split()
        if len(words) >= 8 and words[3] == "FUNC" and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
            name, _, node = words[7].partition("@@")
            found[name] = node
    return found


def main():
    source, library = sys.argv[1:3]
    defined = set()
    for path in glob.glob(os.path.join(source, "emu/hip/*.cc")):
        with open(path, encoding="utf-8") as file:
            defined |= set(re.findall(r"^EMU_API [\w* ]+?[\s*](\w+)\(", file.read(), re.M))
    with open(os.path.join(source, "emu/hip/unsupported.def"), encoding="utf-8") as file:
        unsupported = set(re.findall(r"^EMU_UNSUPPORTED\((\w+)\)", file.read(), re.M))
    twice = defined & unsupported
    defined |= unsupported
    mine = exported(library)
    problems = [f"{name} is defined in emu/hip and not exported: name it in emu/hip/exports.map"
                for name in sorted(defined - set(mine))]
    problems += [f"{name} is exported and is not defined in emu/hip" for name in sorted(set(mine) - defined)]
    problems += [f"{name} is defined and stands in unsupported.def" for name in sorted(twice)]
    problems += [f"{name} has no version node" for name, node in sorted(mine.items())
                 if not node.startswith("beeswax_" if name.startswith("beeswax_") else "hip_")]
    theirs = sorted(glob.glob(os.path.join(os.environ.get("EMU_HIP_ROOT", "/"), "usr/lib/*/libamdhip64.so.5")))
    compared = 0
    if theirs:
        for name, node in exported(theirs[0]).items():
            if name in mine:
                compared += 1
                if mine[name] != node:
                    problems.append(f"{name} is under {mine[name]}, AMD has it under {node}")
    for problem in problems:
        print(problem)
    print(f"{len(mine)} functions exported, {len(unsupported)} of them not supported, {compared} compared with AMD's library")
    return 1 if problems or len(mine) < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
