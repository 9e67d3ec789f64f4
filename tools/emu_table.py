#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of emu/README.md of the kernels with the most instructions, by `beeswax bench ops --counters` on the software GPU.

usage: emu_table.py [--write] [BEESWAX]     prints them, or puts them in their places; BEESWAX: the command (build/bin/beeswax)
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
README = os.path.join(ROOT, "emu", "README.md")
CHIPS = ("gfx1100", "gfx90a")
KERNELS = 10
HEAD = ["| operation | kernel | instr. | valu | matrix | memory | LDS | MiB read | MiB written | LDS MiB | conflict cycles "
        "| lines per access | VGPRs | waves |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]


def count(number):
    if number >= 1e6:
        return f"{number / 1e6:.2f}M"
    return f"{number / 1e3:.0f}k" if number >= 1e3 else str(number)


def mib(number):
    return f"{number / 2 ** 20:.1f}"


def line(operation, k):
    cells = [operation, f"`{k['kernel']}`", *(count(k[name]) for name in ("instructions", "valu", "matrix", "vmem", "lds")),
             mib(k["global_read_bytes"]), mib(k["global_write_bytes"]), mib(k["lds_read_bytes"] + k["lds_write_bytes"]),
             count(k["lds_conflict_cycles"]), f"{k['lines_per_access']:.2f}", str(k["vgprs"]),
             f"{k['waves_per_simd']} of {k['wave_slots']} ({k['occupancy_limit']})"]
    return f"| {' | '.join(cells)} |"


def table(cases):
    """The lines of a table; cases as the command prints them."""
    kernels = [(case["operation"], kernel) for case in cases if "kernels" in case for kernel in case["kernels"]]
    kernels.sort(key=lambda pair: -pair[1]["instructions"])
    return HEAD + [line(*pair) for pair in kernels[:KERNELS]]


def main():
    given = [argument for argument in sys.argv[1:] if argument != "--write"]
    command = given[0] if given else os.path.join(ROOT, "build", "bin", "beeswax")
    with open(README, encoding="utf-8") as file:
        text = file.read()
    for chip in CHIPS:
        done = subprocess.run([command, "bench", "ops", "--device", f"emu:{chip}", "--counters", "--json", "--repeat", "1"],
                              stdout=subprocess.PIPE, check=True)
        made = "\n".join(table(json.loads(done.stdout)))
        print(f"{chip}:\n\n{made}\n")
        text, times = re.subn(rf"(?m)^{chip}:\n\n\| operation(.*)(\n\|.*)*", lambda _, m=made, c=chip: f"{c}:\n\n{m}", text)
        if times != 1:
            sys.exit(f"{README} has a table of {chip} {times} times, not once")
    if "--write" in sys.argv[1:]:
        with open(README, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
