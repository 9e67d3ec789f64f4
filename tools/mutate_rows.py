#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the tests of the tables can fail. Every constant and operator of every expression column is changed,
one at a time, and a test of the row must go red for each change, on every dtype that the row computes. A change that
stays unseen is reported and is a failure.

All changes of expressions are in one build of a copy of the tree: each changed column reads `selected == 17 ? changed
: original`, and the variable BEESWAX_MUTANT selects the change when a test program starts. Columns that are no
expressions (bits, sizes, numbers in files, which dtypes) all change at once in a second build, of tables_test alone,
which has a test for each of them.

usage: mutate_rows.py [--jobs N] [--folder build/mutate] [--show]
  --show   print the changed expressions and build nothing
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import scratch_tree
import tables


@dataclass
class Column:
    """Where a column's tests are: a program, and a pattern over test names with {Name} for the row's. The group
    `dtype`, where there is one, finds the dtype a test is for."""
    table: str
    macros: tuple
    column: str
    program: str
    tests: str
    narrow_only: bool = False


UNARY, DTYPE = ("BW_UNARY", "BW_UNARY_PARAM"), r"(?P<dtype>[a-z0-9]+)_cpu"
EXPRESSIONS = [
    Column("unary", UNARY, "expr", "unary_test", r"UnaryTest\.MatchesOracle/{Name}_" + DTYPE),
    Column("unary", UNARY, "half", "unary_test", r"UnaryTest\.MatchesOracle/{Name}_" + DTYPE, True),
    Column("unary", UNARY, "derivative", "derivative_test", r"Derivative\.\w+/{Name}"),
    Column("binary", ("BW_BINARY",), "expr", "binary_test", r"BinaryTest\.MatchesOracle/{Name}_" + DTYPE),
    Column("binary", ("BW_BINARY",), "dx", "derivative_test", r"Derivative\.\w+/{Name}_dx"),
    Column("binary", ("BW_BINARY",), "dy", "derivative_test", r"Derivative\.\w+/{Name}_dy"),
    Column("binary", ("BW_COMPARE",), "expr", "binary_test", r"CompareTest\.HoldsWhereItShould/{Name}_" + DTYPE),
    Column("reduce", ("BW_REDUCE",), "map", "reduce_test", r"ReduceViews\.(?P<dtype>\w+)"),
    Column("reduce", ("BW_REDUCE",), "combine", "reduce_test", r"ReduceViews\.(?P<dtype>\w+)"),
    Column("reduce", ("BW_REDUCE",), "final", "reduce_test", r"ReduceViews\.(?P<dtype>\w+)"),
    Column("reduce", ("BW_REDUCE",), "empty", "reduce_test", r"Reduce\.OverNothing"),
    Column("reduce", ("BW_ARG_REDUCE",), "better", "arg_reduce_test", r"ArgReduce\.(?P<dtype>[A-Z0-9]+)"),
]
# Table: {column: (test of tables_test, how a value changes)}.
OTHER_WAY = {"Number": "Float", "Float": "Number", "None": "NonZero", "NonZero": "None", "Yes": "No", "No": "Yes",
             "Q8_0": "Q8_1", "Q8_1": "Q8_K", "Q8_K": "Q8_0"}
FACTS = {
    "quants": {"ggml_id": ("QuantRow.GgmlId", lambda value: str(int(value) + 1)),
               "elements": ("QuantRow.Elements", lambda value: str(int(value) * 2)),
               "bytes": ("QuantRow.Bytes", lambda value: str(int(value) + 1)),
               "dot_partner": ("QuantRow.DotPartner", OTHER_WAY.get),
               "imatrix": ("QuantRow.Imatrix", OTHER_WAY.get)},
    "dtypes": {"bits": ("DTypeRow.Bits", lambda value: str(int(value) + 1)),
               "kind": ("DTypeRow.Kind", lambda value: "Float" if value == "Int" else "Int"),
               "compute": ("DTypeRow.Compute", lambda value: "float" if value == "double" else "double")},
    "unary": {"dtypes": ("OperationRow.DTypes", OTHER_WAY.get)},
    "binary": {"dtypes": ("OperationRow.DTypes", OTHER_WAY.get), "guard": ("OperationRow.Guard", OTHER_WAY.get)},
    "reduce": {"dtypes": ("OperationRow.DTypes", OTHER_WAY.get)},
}
# Summed over x these are (x - c)^2 again, as c is the mean: they only round more, which narrow dtypes do not show.
ROUNDING_ONLY = {("Var", "(x + c) * (x - c)"), ("Var", "(x - c) * (x + c)")}
NOTHING = {"SAME", "NONE", "ERROR"}
OPPOSITE = {"+": "-", "-": "+", "*": "+", "/": "*", "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=",
            ">=": "<"}
NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[-+]?\d+)?|\bNAN\b")
# Operators as this project formats them: with spaces around.
OPERATOR = re.compile(r"(?<= )(==|!=|<=|>=|[-+*/<>])(?= )")


def changed_number(value):
    """Twice the number would be lost where a bound only cuts off; 0, 1 and NAN change visibly."""
    return {"0": "1", "1": "2", "NAN": "0"}.get(value) or (
        repr(float(value) * 1.25) if "." in value else str(int(value) + 1))


def mutants(expression):
    """The expression with one constant or operator changed, in every way; with neither, its sign."""
    found = [expression[:at.start()] + changed_number(at.group()) + expression[at.end():]
             for at in NUMBER.finditer(expression)]
    found += [expression[:at.start()] + OPPOSITE[at.group()] + expression[at.end():]
              for at in OPERATOR.finditer(expression)]
    if expression.startswith("-"):
        found.append(expression[1:])
    return found or ["-" + expression]


@dataclass
class Mutant:
    """Change number `number` (from 1): one expression of one row."""
    number: int
    column: Column
    row: tables.Row
    new: str

    def __str__(self):
        return f"{self.row['Name']} {self.column.column}: `{self.new}` for `{self.row[self.column.column]}`"


def selecting_tables(columns):
    """({path: text of the table with every change in it}, all mutants)."""
    texts, found = {}, []
    for name in sorted({column.table for column in columns}):
        path = os.path.join("src", "tables", name + ".def")
        with open(os.path.join(tables.ROOT, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for row in tables.read_table(name):
            values = list(row.values)
            for column in columns:
                if column.table != name or row.macro not in column.macros or row[column.column] in NOTHING:
                    continue
                old = row[column.column]
                chosen = ""
                for new in mutants(old):
                    found.append(Mutant(len(found) + 1, column, row, new))
                    chosen += f"BW_MUTANT({len(found)}) ? ({new}) : "
                values[row.names.index(column.column)] = f"({chosen}({old}))"
            lines[row.line - 1] = f"{row.macro}({', '.join(values)})"
        texts[path] = "\n".join(lines)
    return texts, found


SELECTED_HEADER = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
inline const int beeswax_mutant = std::getenv("BEESWAX_MUTANT") == nullptr ? 0 : std::atoi(std::getenv("BEESWAX_MUTANT"));
#define BW_MUTANT(number) (::beeswax_mutant == (number))
"""


def wide_only(mutant):
    """Whether dtypes of 16 and 8 bits do not show the change: because they round, or have an expression of their own."""
    own = mutant.column.column == "expr" and mutant.row.has("half") and mutant.row["half"] not in NOTHING
    return own or (mutant.row["Name"], mutant.new) in ROUNDING_ONLY


def expected_tests(column, row, listed, dtypes, wide_only=False):
    """The listed tests that look at this row, as {dtype it computes, or "": tests}; one of each must go red."""
    pattern = re.compile("(?:^|/|\\.)" + column.tests.replace("{Name}", re.escape(row["Name"])) + "$")
    kinds = {d["name"]: (d["kind"], int(d["bits"])) for d in dtypes if d.macro == "BW_DTYPE"}
    found = {}
    for test in listed:
        match = pattern.search(test)
        if not match:
            continue
        dtype = ""
        if "dtype" in pattern.groupindex:
            dtype = match.group("dtype").lower()
            if dtype not in kinds:
                continue
            kind, bits = kinds[dtype]
            if kind == "Int" and row.has("dtypes") and row["dtypes"] == "Float":
                continue
            if column.narrow_only and (kind == "Int" or bits > 16) or wide_only and bits < 32:
                continue
        found.setdefault(dtype, []).append(test)
    return found


def list_tests(scratch, program):
    """Full names of a program's tests."""
    names, suite = [], ""
    for line in scratch.run(os.path.join("tests", program), "--gtest_list_tests")[1].split("\n"):
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + name)
        else:
            suite = name
    return names


def red_tests(scratch, program, tests, mutant):
    """The tests among these that fail with the change selected; all of them where the program crashes."""
    status, output = scratch.run(os.path.join("tests", program), "--gtest_brief=1",
                                 "--gtest_filter=" + ":".join(tests), environment={"BEESWAX_MUTANT": str(mutant)})
    if status < 0:
        return set(tests)
    return set(re.findall(r"^\[  FAILED  \] ([^,\s]+)", output, re.M))


def play_expressions(columns, scratch, jobs, dtypes, header):
    """(changes, tests red, complaints)."""
    texts, found = selecting_tables(columns)
    scratch.write(texts)
    with open(header, "w", encoding="utf-8") as file:
        file.write(SELECTED_HEADER)
    programs = sorted({column.program for column in columns})
    # Kernels have no variables of the environment to choose a change by.
    failure = scratch.make(programs, jobs, f"-w -include {header}", kernels="none")
    if failure:
        return len(found), 0, ["the changed tree does not build:\n" + failure[-6000:]]
    listed = {program: list_tests(scratch, program) for program in programs}
    expected = {mutant.number: expected_tests(mutant.column, mutant.row, listed[mutant.column.program], dtypes,
                                              wide_only(mutant)) for mutant in found}
    looking = {number: [test for tests in groups.values() for test in tests] for number, groups in expected.items()}
    complaints, count = [], 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        wanted = {program: sorted({test for mutant in found if mutant.column.program == program
                                   for test in looking[mutant.number]}) for program in programs}
        for program, red in zip(programs, pool.map(lambda p: red_tests(scratch, p, wanted[p], 0), programs)):
            complaints += [f"{program}: {test} is red without a change" for test in sorted(red)]
        runs = pool.map(lambda m: red_tests(scratch, m.column.program, looking[m.number], m.number)
                        if looking[m.number] else set(), found)
        for mutant, red in zip(found, runs):
            count += len(red)
            green = [tests for tests in expected[mutant.number].values() if not red.intersection(tests)]
            if not looking[mutant.number]:
                complaints.append(f"{mutant}: no test in {mutant.column.program}")
            elif green:
                complaints.append(f"{mutant}: green: {', '.join(test for tests in green for test in tests)}")
            if mutant.number % 50 == 0:
                print(f"mutate: {mutant.number} of {len(found)}", flush=True)
    return len(found), count, complaints


def changed_facts():
    """({path: text of the table with every fact changed}, [(test, row, column)])."""
    texts, found = {}, []
    for name, columns in FACTS.items():
        path = os.path.join("src", "tables", name + ".def")
        with open(os.path.join(tables.ROOT, path), encoding="utf-8") as file:
            lines = file.read().split("\n")
        for row in tables.read_table(name):
            values = list(row.values)
            for column, (test, change) in columns.items():
                if row.has(column):
                    values[row.names.index(column)] = change(row[column])
                    found.append((f"{test}/{row['Name']}", row, column))
            lines[row.line - 1] = f"{row.macro}({', '.join(values)})"
        texts[path] = "\n".join(lines)
    return texts, found


def run_facts(tree, program, tables_in=None):
    """Builds tables_test of a tree alone, with the tables of another folder if wanted, and runs it: (the compiler's
    output if that failed, tests, those that were red)."""
    sources = ["tests/unit/tables_test.cc", "src/core/dtype.cc", "src/core/qtensor_type.cc", "src/core/error.cc"]
    includes = (["-I" + tables_in] if tables_in else []) + ["-Iinclude", "-Isrc", "-Itests"]
    build = subprocess.run(["g++", "-std=c++20", "-O0", "-w", "-DBW_BUILDING", *includes, *sources, "-o", program,
                            "-lgtest_main", "-lgtest", "-pthread"], cwd=tree, capture_output=True, text=True)
    if build.returncode != 0:
        return build.stderr[-6000:], set(), set()
    output = subprocess.run([program], capture_output=True, text=True).stdout
    return (None, set(re.findall(r"^\[ RUN      \] \w+/(\S+)", output, re.M)),
            set(re.findall(r"^\[  FAILED  \] \w+/(\S+?),", output, re.M)))


def play_facts(scratch, folder):
    """As play_expressions, for the columns that are no expressions."""
    texts, found = changed_facts()
    complaints, red = [], set()
    for changed in (False, True):
        scratch.write(texts if changed else {})
        failure, _, red = run_facts(scratch.tree, os.path.join(folder, "tables_test"))
        if failure:
            return len(found), 0, ["tables_test does not build:\n" + failure]
        if not changed:
            complaints += [f"tables_test: {test} is red without a change" for test in sorted(red)]
    complaints += [f"{row['Name']} {column}: no red test {test}" for test, row, column in found if test not in red]
    return len(found), len([test for test, _, _ in found if test in red]), complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=os.path.abspath, default=os.path.join(tables.ROOT, "build", "mutate"))
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    if args.show:
        for mutant in selecting_tables(EXPRESSIONS)[1]:
            print(mutant)
        return 0
    scratch = scratch_tree.ScratchTree(args.folder)
    os.makedirs(args.folder, exist_ok=True)
    facts, facts_red, complaints = play_facts(scratch, args.folder)
    print(f"mutate: {facts} facts changed, {facts_red} tests red", flush=True)
    changes, red, found = play_expressions(EXPRESSIONS, scratch, args.jobs, tables.read_table("dtypes"),
                                           os.path.join(args.folder, "selected.h"))
    complaints += found
    for complaint in complaints:
        print(complaint)
    print(f"mutate: {facts + changes} changes, {facts_red + red} tests red, {len(complaints)} complaints")
    return 1 if complaints or changes == 0 or facts == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
