#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel that ships runs in the tests: compares what the tests on the software AMD GPU launched with the table of
the packed kernels, and lists what never ran, module by module.

usage: launched_kernels.py KERNELS LAUNCHED...
KERNELS: the folder where tools/kernels/compile.py and pack.py left modules and registers.txt. LAUNCHED: one file for
each test, as BEESWAX_EMU_LAUNCHED makes it. Every kernel must have run on a chip with waves of 64 lanes and on one with waves of 32,
where it ships for such chips.
"""
import collections
import pathlib
import sys

WAVES = {"64": ("gfx9",), "32": ("gfx10", "gfx11", "gfx12")}


def lanes_of(chip):
    return next(lanes for lanes, chips in WAVES.items() if chip.startswith(chips))


def shipped(table, modules):
    """{(lanes, kernel): module} of AMD's targets. Columns of the table may run together; modules are known by name."""
    kernels = {}
    for line in table.splitlines()[1:]:
        target, rest = line[:9].strip(), line[9:]
        if target.startswith("gfx"):
            module = max((name for name in modules if rest.startswith(name)), key=len)
            kernels[lanes_of(target), rest[len(module):].split()[0]] = module
    return kernels


def missing(kernels, launched):
    """[(lanes, module, kernel)] of what never ran; launched: lines "chip kernel"."""
    ran = set()
    for line in launched:
        chip, kernel = line.split()
        ran.add((lanes_of(chip), kernel))
    return sorted((lanes, module, kernel) for (lanes, kernel), module in kernels.items() if (lanes, kernel) not in ran)


def main():
    folder, *files = sys.argv[1:]
    modules = {path.name.split(".")[0] for path in pathlib.Path(folder).glob("*.gfx*.json")}
    kernels = shipped((pathlib.Path(folder) / "registers.txt").read_text(encoding="utf-8"), modules)
    lines, absent = [], []
    for path in map(pathlib.Path, files):
        if path.exists():
            lines += path.read_text(encoding="utf-8").splitlines()
        else:
            absent.append(path.stem)
    found = missing(kernels, lines)
    groups = collections.defaultdict(list)
    for lanes, module, kernel in found:
        groups[lanes, module].append(kernel)
    for (lanes, module), names in groups.items():
        print(f"waves of {lanes}, {module}: {len(names)} never ran: {' '.join(names)}")
    for name in absent:
        print(f"{name} has not run: ctest -L device runs them all")
    pairs = len(kernels)
    print(f"{len({kernel for _, kernel in kernels})} kernels in {len(set(kernels.values()))} modules, {pairs - len(found)} of {pairs} ran (each on waves "
          f"of {' and '.join(WAVES)}), by {len(files) - len(absent)} tests")
    return 1 if found or absent or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
