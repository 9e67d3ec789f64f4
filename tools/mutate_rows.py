#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that the tests of the tables can fail. In a copy of the tree one constant or operator is changed in one
expression of every row at once; then every test of every row must go red, on every dtype. Each expression column
has its turn (a round). A row whose test stays green is reported and is a failure.

usage: mutate_rows.py [--jobs N] [--folder build/mutate] [--show]
  --show   print the changed expressions and build nothing
"""
import argparse
import os
import re
import sys
from dataclasses import dataclass

import scratch_tree
import tables


@dataclass
class Column:
    """Where a column's tests are: a program, and a pattern over test names with {Name} for the row's."""
    macros: tuple
    column: str
    program: str
    tests: str
    narrow_only: bool = False


# One table's columns are changed in different rounds, so that a red test has one cause.
ROUNDS = {
    "values": [
        ("unary", Column(("BW_UNARY", "BW_UNARY_PARAM"), "expr", "unary_test", r"MatchesOracle/{Name}_\w+")),
        ("binary", Column(("BW_BINARY",), "expr", "binary_test", r"BinaryTest\.MatchesOracle/{Name}_\w+")),
        ("binary", Column(("BW_COMPARE",), "expr", "binary_test", r"CompareTest\.\w+/{Name}_\w+")),
    ],
    "second expressions, first derivatives": [
        ("unary", Column(("BW_UNARY", "BW_UNARY_PARAM"), "half", "unary_test", r"MatchesOracle/{Name}_\w+", True)),
        ("binary", Column(("BW_BINARY",), "dx", "derivative_test", r"IsTheSlope/{Name}_dx")),
    ],
    "other derivatives": [
        ("unary", Column(("BW_UNARY", "BW_UNARY_PARAM"), "derivative", "derivative_test", r"IsTheSlope/{Name}")),
        ("binary", Column(("BW_BINARY",), "dy", "derivative_test", r"IsTheSlope/{Name}_dy")),
    ],
}
NOTHING = {"SAME", "NONE", "ERROR"}
OPPOSITE = {"+": "-", "-": "+", "*": "+", "/": "*", "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=",
            ">=": "<"}
NUMBER = re.compile(r"(?<![\w.])\d+(\.\d+)?(e[-+]?\d+)?")
# Operators as this project formats them: with spaces around.
OPERATOR = re.compile(r"(?<= )(==|!=|<=|>=|[-+*/<>])(?= )")


def mutate(expression):
    """The expression with one constant changed, else one operator, else its sign."""
    number = NUMBER.search(expression)
    if number:
        # Twice the number would be lost where a bound only cuts off; 0 and 1 change visibly.
        value = number.group()
        changed = {"0": "1", "1": "2"}.get(value) or (repr(float(value) * 1.25) if "." in value else str(int(value) + 1))
        return expression[:number.start()] + changed + expression[number.end():]
    operator = OPERATOR.search(expression)
    if operator:
        return expression[:operator.start()] + OPPOSITE[operator.group()] + expression[operator.end():]
    return expression[1:] if expression.startswith("-") else "-" + expression


def changed_table(name, wanted):
    """(text of src/tables/NAME.def with the wanted columns mutated, [(column, row, old, new)])."""
    path = os.path.join(tables.ROOT, "src", "tables", name + ".def")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    changes = []
    for row in tables.read_table(name):
        for column in wanted:
            if row.macro not in column.macros or row[column.column] in NOTHING:
                continue
            old = row[column.column]
            values = list(row.values)
            values[row.names.index(column.column)] = mutate(old)
            lines[row.line - 1] = f"{row.macro}({', '.join(values)})"
            changes.append((column, row, old, mutate(old)))
    return "\n".join(lines), changes


def expected_tests(column, row, listed, dtypes):
    """The listed tests that must go red for this row: those of the dtypes it computes."""
    pattern = re.compile(column.tests.replace("{Name}", re.escape(row["Name"])) + "$")
    found = [test for test in listed if pattern.search(test)]
    if row.has("dtypes"):
        kinds = {d["name"]: (d["kind"], int(d["bits"])) for d in dtypes if d.macro == "BW_DTYPE"}
        refused = {name for name, (kind, bits) in kinds.items()
                   if (row["dtypes"] == "Float" and kind == "Int")
                   or (column.narrow_only and (kind == "Int" or bits > 16))}
        found = [test for test in found if not any(f"_{name}_" in test for name in refused)]
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


def play_round(title, wanted, scratch, jobs, dtypes):
    """(rows changed, tests red, complaints)."""
    texts, changes = {}, []
    for name in sorted({table for table, _ in wanted}):
        text, found = changed_table(name, [column for table, column in wanted if table == name])
        texts[os.path.join("src", "tables", name + ".def")] = text
        changes += found
    scratch.write(texts)
    programs = sorted({column.program for column, *_ in changes})
    failure = scratch.make(programs, jobs)
    if failure:
        return len(changes), 0, [f"{title}: the changed tree does not build:\n{failure[-6000:]}"]
    red, listed = set(), {}
    for program in programs:
        listed[program] = list_tests(scratch, program)
        output = scratch.run(os.path.join("tests", program), "--gtest_brief=1")[1]
        red.update((program, test) for test in re.findall(r"^\[  FAILED  \] ([^,\s]+)", output, re.M))
    count, complaints = 0, []
    for column, row, old, new in changes:
        expected = expected_tests(column, row, listed[column.program], dtypes)
        green = [test for test in expected if (column.program, test) not in red]
        count += len(expected) - len(green)
        if not expected:
            complaints.append(f"{row['Name']} {column.column}: no test in {column.program}")
        elif green:
            complaints.append(f"{row['Name']} {column.column}: green with `{new}` for `{old}`: {', '.join(green)}")
    return len(changes), count, complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", default=os.path.join(tables.ROOT, "build", "mutate"))
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    dtypes = tables.read_table("dtypes")
    scratch = scratch_tree.ScratchTree(args.folder)
    rows, tests, complaints = 0, 0, []
    for title, wanted in ROUNDS.items():
        if args.show:
            for name in sorted({table for table, _ in wanted}):
                for column, row, old, new in changed_table(name, [c for table, c in wanted if table == name])[1]:
                    print(f"{row['Name']:<12} {column.column:<10} {old}\n{'':<24}{new}")
            continue
        changed, red, found = play_round(title, wanted, scratch, args.jobs, dtypes)
        print(f"mutate: {title}: {changed} rows changed, {red} tests red, {len(found)} rows with a green test", flush=True)
        rows, tests, complaints = rows + changed, tests + red, complaints + found
    for complaint in complaints:
        print(complaint)
    if not args.show:
        print(f"mutate: {rows} changed expressions, {tests} tests red, {len(complaints)} expressions with a green test")
    return 1 if complaints or (rows == 0 and not args.show) else 0


if __name__ == "__main__":
    sys.exit(main())
