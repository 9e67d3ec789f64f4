#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The worst errors of the functions of core/math over all 2^32 floats, and over a sample of doubles. Runs the
exhaustive tests of math_bounds_test one function at a time; what ran is remembered for as long as the functions, their
tests, the compiler and the processor stay the same, so an interrupted run goes on where it stopped. Then
docs/math-bounds.md must say the same, or is written.

Its second table, of the short functions that 16- and 8-bit results have, comes from math_short_test, which takes
seconds: every value of f16 and bf16.

usage: math_bounds.py [--build build] [--write] [--short] [FUNCTION...]
  --write   write docs/math-bounds.md (everything it depends on must be committed)
  --short   the table of short functions alone; the other one stays as it is
"""
import argparse
import hashlib
import os
import platform
import re
import subprocess
import sys
import time

from remembered import Remembered

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
DOCUMENT = os.path.join("docs", "math-bounds.md")
# What the results depend on, besides compiler and processor. (convert.h, between dtypes, is tested elsewhere.)
SOURCES = (*("src/core/math/" + name + ".h" for name in (
    "activations", "basic", "divide", "erf", "exp", "hyperbolic", "log", "polynomials", "pow", "trig", "trig_reduce")),
           "tests/math", "tests/unit/math_bounds_test.cc", "include/beeswax/portable.h")
TEST = "Exhaustive/EveryFloat.IsWithinTheBound/"
SHORT = "\n## Short functions of 16- and 8-bit results\n"


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)


def state(build):
    """A hash of the sources, the compiler and its flags, and the processor."""
    flags = os.path.join(build, "CMakeCache.txt")
    with open(flags, encoding="utf-8") as file:
        chosen = sorted(re.findall(r"^CMAKE_CXX_(?:COMPILER|FLAGS|FLAGS_RELEASE):.*$", file.read(), re.M))
    compiler = subprocess.run([chosen[0].split("=", 1)[1], "--version"], capture_output=True, text=True, check=True).stdout
    digest = hashlib.sha256("\n".join([*chosen, compiler, machine()]).encode())
    for source in SOURCES:
        path = os.path.join(ROOT, source)
        names = [path] if os.path.isfile(path) else [os.path.join(path, name) for name in sorted(os.listdir(path))]
        for name in names:
            with open(name, "rb") as file:
                digest.update(os.path.relpath(name, ROOT).encode() + b"\0" + file.read())
    return digest.hexdigest()


def machine():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*:\s*(.*)$", file.read(), re.M)
    except OSError:
        found = None
    return (found.group(1).strip() if found else platform.machine()) + f" ({os.cpu_count()} threads)"


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def run(program, function):
    """(the row's columns or None, the output)."""
    done = subprocess.run([program, "--gtest_brief=1", "--gtest_filter=" + TEST + function], capture_output=True,
                          text=True, errors="replace", env=dict(os.environ, BEESWAX_EXHAUSTIVE="1"))
    row = re.search(r"^worst: (.*)$", done.stdout, re.M)
    return (row.group(1).split(" | ") if row and done.returncode == 0 else None), done.stdout + done.stderr


def short_rows(program):
    """The rows of the second table, or None where the test failed."""
    done = subprocess.run([program, "--gtest_brief=1"], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
        return None
    return [row.split(" | ") for row in re.findall(r"^worst: (.*)$", done.stdout, re.M)]


def short_section(rows):
    lines = [
        SHORT,
        "The second expressions of `src/tables/unary.def`, over every value of f16 and bf16 (`elu` with two factors, `powf` with",
        "five exponents): the worst relative error before the rounding, in units of 2^-14, which is the bound, where the exact",
        "result is a normal number of the dtype; and the worst error of the rounded result, in units in the last place. The test",
        "`tools/math_short` compares; `tools/math_bounds.py --short --write` writes this table.", "",
        "| method | f16: before, 2^-14 | at | after, ulp | bf16: before, 2^-14 | at | after, ulp |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def parts_of_document():
    """The document before the second table, and the rest; both empty where there is none."""
    try:
        with open(os.path.join(ROOT, DOCUMENT), encoding="utf-8") as file:
            head, heading, rest = file.read().partition(SHORT)
            return head, heading + rest
    except OSError:
        return "", ""


def write_document(head, section):
    with open(os.path.join(ROOT, DOCUMENT), "w", encoding="utf-8") as file:
        file.write(head + section)
    print(f"written: {DOCUMENT}")


def document(rows, commit):
    lines = [
        "# Error bounds of the shared math", "",
        "The functions of `src/core/math`, which every device computes with, against references of more digits: over all",
        "2^32 values of f32, and over 5.7 million of f64 (every exponent, the neighbours of each number at which a formula",
        "changes, and random ones where the function does something). Errors are in units in the last place of the exact",
        "result; a correctly rounded function has at most 0.5. pow is sampled in f32 too, with 17 million pairs;",
        "elu is measured with alpha = 1.5.", "",
        f"Measured at commit {commit} on {machine()}. `./dev test --full` measures again and compares;",
        "`tools/math_bounds.py --write` makes this file.", "",
        "| function | f32: worst | at | stated | f64: worst | at | stated |", "| --- | --- | --- | --- | --- | --- | --- |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def differences(rows, text, exact, near, command="tools/math_bounds.py --write"):
    """Complaints about a table of docs/math-bounds.md: its columns `exact` and, but for the last digit, `near` are not
    these. (Two blocks of floats with the same worst error are judged in any order.)"""
    written = {columns[0]: columns for columns in (line.strip("| ").split(" | ") for line in text.split("\n")
                                                   if line.startswith("| "))}
    complaints = []
    for row in rows:
        there = written.get(row[0])
        same = there is not None and len(there) == len(row) and all(there[i] == row[i] for i in exact) and all(
            abs(float(there[i]) - float(row[i])) < 0.002 for i in near)
        if not same:
            complaints.append(f"{DOCUMENT} has {there} and the run {row}: run {command}")
    return complaints


def short_table(program, write):
    """The second table compared or written; complaints."""
    rows = short_rows(program)
    if not rows:
        return ["a short function is beyond its bound or did not run"]
    head, section = parts_of_document()
    if write:
        write_document(head, short_section(rows))
        return []
    complaints = differences(rows, section, (), (1, 3, 4, 6), "tools/math_bounds.py --short --write")
    listed = len(re.findall(r"^\| (?!method|---)", section, re.M))
    if listed != len(rows):
        complaints.append(f"{DOCUMENT} has {listed} short functions and the table {len(rows)}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("functions", nargs="*")
    args = parser.parse_args()
    short = os.path.join(args.build, "tests", "math_short_test")
    if args.short:
        complaints = short_table(short, args.write)
        for complaint in complaints:
            print(complaint)
        return 1 if complaints else 0
    if args.write and git("status", "--porcelain", "--", *SOURCES).stdout:
        sys.exit("commit " + ", ".join(SOURCES) + " first: the document names the commit")
    program = os.path.join(args.build, "tests", "math_bounds_test")
    listed = subprocess.run([program, "--gtest_list_tests", "--gtest_filter=" + TEST + "*"], capture_output=True,
                            text=True, check=True).stdout
    names = [name for name in re.findall(r"^  IsWithinTheBound/(\w+)", listed, re.M)
             if not args.functions or name in args.functions]
    now, remembered = state(args.build), Remembered("math-bounds")
    remembered.forget_old()
    rows = {name: kept.split(" | ") for name in names if (kept := remembered.get(f"{now}-{name}"))}
    failed, began, ran = [], time.monotonic(), 0
    missing = [name for name in names if name not in rows]
    for name in missing:
        row, output = run(program, name)
        ran += 1
        left = (time.monotonic() - began) / ran * (len(missing) - ran)
        print(f"[{ran}/{len(missing)}, {clock(left)} left] {' | '.join(row) if row else name + ' FAILED'}", flush=True)
        if row is None:
            failed.append(name)
            print(output)
            continue
        rows[name] = row
        remembered.put(f"{now}-{name}", " | ".join(row))
    rows = [rows[name] for name in names if name in rows]
    complaints = [f"{name} is beyond its bound or did not run" for name in failed]
    if args.write and not failed and not args.functions:
        write_document(document(rows, git("rev-parse", "--short", "HEAD").stdout.strip()), parts_of_document()[1])
    else:
        complaints += differences(rows, parts_of_document()[0], (3, 6), (1, 4))
    if not args.functions:
        complaints += short_table(short, args.write)
    for complaint in complaints:
        print(complaint)
    print(f"math bounds: {len(names)} functions, {len(missing) - len(failed)} run now, {len(complaints)} complaints")
    return 1 if complaints or not names else 0


if __name__ == "__main__":
    sys.exit(main())
