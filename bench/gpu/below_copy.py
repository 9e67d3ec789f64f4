#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of bench/README.md of what moves less than 0.90 of copying's bytes on an H200, as
bench/results/nvidia-h200-operations.json has it. tests/tools/results_test.py tells when the two differ.

usage: below_copy.py [--write]     prints the table, or puts it in its place in bench/README.md
"""
import json
import os
import re
import sys

BENCH = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
README = os.path.join(BENCH, "README.md")
RESULTS = os.path.join(BENCH, "results", "nvidia-h200-operations.json")
LEAST = 0.90
# Operations whose bytes are not read and written in the order of memory, or are not what takes the time.
NO_STREAM = {"argsort": "several passes", "gather": "ids say where to read", "index_add": "ids say where to add",
             "index_select": "ids say where to read", "randn": "arithmetic", "scatter_add": "ids say where to add"}
HEAD = ["| operation | dtypes | rows below | share of copying | time over PyTorch's | does not stream |",
        "| --- | --- | ---: | ---: | ---: | --- |"]


def between(values):
    if not values:
        return "-"
    return " to ".join(dict.fromkeys(f"{value:.2f}" for value in (min(values), max(values))))


def table(rows):
    """The lines of the table; rows as the file has them."""
    memory = [row for row in rows if "teraflops_per_second" not in row]
    below = [row for row in memory if row["share_of_copy"] < LEAST]
    lines = list(HEAD)
    names = {row["operation"].split()[0] for row in below}
    for name in sorted(names, key=lambda name: (name in NO_STREAM, name)):
        these = [row for row in below if row["operation"].split()[0] == name]
        count = sum(row["operation"].split()[0] == name for row in memory)
        dtypes = sorted({row["operation"].split()[1] for row in these})
        shares = between([row["share_of_copy"] for row in these])
        ratios = between([row["time_over_pytorch"] for row in these if "time_over_pytorch" in row])
        why = f"{NO_STREAM[name]} " if name in NO_STREAM else ""
        lines.append(f"| {name} | {', '.join(dtypes)} | {len(these)} of {count} | {shares} | {ratios} | {why}|")
    lines.append(f"| all that move data | | {len(below)} of {len(memory)} | | | |")
    return lines


def main():
    with open(RESULTS, encoding="utf-8") as file:
        made = "\n".join(table(json.load(file)["rows"]))
    if "--write" not in sys.argv[1:]:
        print(made)
        return
    with open(README, encoding="utf-8") as file:
        text, count = re.subn(re.escape(HEAD[0]) + r"(\n\|.*)*", lambda _: made, file.read())
    if count != 1:
        sys.exit(f"{README} has the table's first line {count} times, not once")
    with open(README, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
