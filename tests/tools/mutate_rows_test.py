# SPDX-License-Identifier: Apache-2.0
"""mutate_rows.py and tables.py: every expression of the tables changes in every way, tests are matched to rows and
dtypes, and a change that no test sees is reported."""
import os
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import mutate_rows  # noqa: E402
import tables  # noqa: E402

COLUMNS = [column for column in mutate_rows.EXPRESSIONS if (column.table, column.column) == ("unary", "expr")]


class FakeTree:
    """A scratch tree whose program has three tests for each row of unary.def. They fail when a change is selected,
    except for those of `green`, and always those of `red`."""

    def __init__(self, green=(), red=(), rows=True):
        self.green, self.red = set(green), set(red)
        self.tests = [f"MatchesOracle/{row['Name']}_{dtype}_cpu" for row in tables.read_table("unary")
                      for dtype in ("i32", "f16", "f64") if rows]

    def write(self, texts):
        self.texts = texts

    def make(self, targets, jobs, flags, kernels):
        return None

    def run(self, program, *arguments, environment=None):
        if "--gtest_list_tests" in arguments:
            return 0, "Rows/UnaryTest.\n" + "".join(f"  {test}  # GetParam() = (...)\n" for test in self.tests)
        asked = arguments[-1].split("=")[1].split(":")
        changed = environment["BEESWAX_MUTANT"] != "0"
        return 1, "".join(f"[  FAILED  ] Rows/UnaryTest.{test}, where GetParam() = 1\n" for test in self.tests
                          if f"Rows/UnaryTest.{test}" in asked and (test in self.red or (changed and test not in self.green)))


def play(tree):
    with tempfile.TemporaryDirectory() as folder:
        return mutate_rows.play_expressions(COLUMNS, tree, 1, tables.read_table("dtypes"), os.path.join(folder, "s.h"))


class MutateRows(unittest.TestCase):
    def test_each_kind_of_change(self):
        for old, new in (("T(1) / x", ["T(2) / x", "T(1) * x"]), ("m::maximum(x, T(0))", ["m::maximum(x, T(1))"]),
                         ("x <= y", ["x > y"]), ("-x", ["x"]), ("m::exp(x)", ["-m::exp(x)"]), ("NAN", ["0"]),
                         ("-y * y", ["-y + y", "y * y"]), ("m::log1p(x)", ["-m::log1p(x)"]),
                         ("T(0.5) / y", ["T(0.625) / y", "T(0.5) * y"])):
            self.assertEqual(mutate_rows.mutants(old), new)

    def test_every_change_is_on_its_row(self):
        texts, found = mutate_rows.selecting_tables(mutate_rows.EXPRESSIONS)
        self.assertEqual([mutant.number for mutant in found], list(range(1, len(found) + 1)))
        for mutant in found:
            line = texts[os.path.join("src", "tables", mutant.column.table + ".def")].split("\n")[mutant.row.line - 1]
            self.assertNotEqual(mutant.new, mutant.row[mutant.column.column])
            self.assertIn(f"BW_MUTANT({mutant.number}) ? ({mutant.new}) : ", line)
            self.assertEqual(len(tables.split_columns(line[line.index("(") + 1:-1])), len(mutant.row.values))

    def test_every_fact_changes(self):
        texts, found = mutate_rows.changed_facts()
        for _, row, column in found:
            table = next(name for name, columns in mutate_rows.FACTS.items() if column in columns and
                         any(row.values == other.values for other in tables.read_table(name)))
            line = texts[os.path.join("src", "tables", table + ".def")].split("\n")[row.line - 1]
            now = tables.split_columns(line[line.index("(") + 1:-1])[row.names.index(column)]
            self.assertNotEqual(now, row[column])

    def test_red_everywhere_is_no_complaint(self):
        changes, red, complaints = play(FakeTree())
        # Of a row with an expression for 16 bits, f16 does not take the other one.
        expected = sum((3 if row["dtypes"] == "Number" else 2 if row["half"] == "SAME" else 1) *
                       len(mutate_rows.mutants(row["expr"])) for row in tables.read_table("unary"))
        self.assertEqual(complaints, [])
        self.assertGreater(changes, 0)
        self.assertEqual(red, expected)

    def test_one_green_dtype_is_a_complaint(self):
        complaints = play(FakeTree(green=["MatchesOracle/Exp_f64_cpu", "MatchesOracle/Exp_f16_cpu"]))[2]
        self.assertEqual(len(complaints), 1)
        self.assertIn("Exp expr: `-m::exp(x)` for `m::exp(x)`: green: Rows/UnaryTest.MatchesOracle/Exp_f64_cpu", complaints[0])
        self.assertNotIn("f16", complaints[0])

    def test_red_without_a_change_is_a_complaint(self):
        self.assertIn("red without a change", play(FakeTree(red=["MatchesOracle/Exp_f64_cpu"]))[2][0])

    def test_a_row_without_tests_is_a_complaint(self):
        changes, _, complaints = play(FakeTree(rows=False))
        self.assertEqual(len(complaints), changes)

    def test_columns_split_as_the_preprocessor_does(self):
        self.assertEqual(tables.split_columns('A, f(x, y), "a, \\"b\\", c", T{1, 2}'),
                         ["A", "f(x, y)", '"a, \\"b\\", c"', "T{1, 2}"])


if __name__ == "__main__":
    unittest.main()
