# SPDX-License-Identifier: Apache-2.0
"""mutate_rows.py and tables.py: every expression of the tables changes, tests are matched to rows and dtypes, and a
test that stays green is seen."""
import os
import sys
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import mutate_rows  # noqa: E402
import tables  # noqa: E402


class FakeTree:
    """A scratch tree whose programs have three tests for each row of `names`, some of which stay green."""

    def __init__(self, green=()):
        self.green = set(green)

    def write(self, texts):
        self.texts = texts

    def make(self, targets, jobs):
        return None

    def run(self, program, argument):
        tests = [f"MatchesOracle/{row['Name']}_{dtype}_cpu" for row in tables.read_table("unary")
                 for dtype in ("i32", "f16", "f64")]
        if argument == "--gtest_list_tests":
            return 0, "Rows/UnaryTest.\n" + "".join(f"  {test}  # GetParam() = (...)\n" for test in tests)
        return 1, "".join(f"[  FAILED  ] Rows/UnaryTest.{test}, where GetParam() = 1\n" for test in tests
                          if test not in self.green)


UNARY = [mutate_rows.ROUNDS["values"][0]]


class MutateRows(unittest.TestCase):
    def test_each_kind_of_change(self):
        for old, new in (("T(1) / x", "T(2) / x"), ("m::maximum(x, T(0))", "m::maximum(x, T(1))"), ("x * x", "x + x"),
                         ("x + y", "x - y"), ("x <= y", "x > y"), ("-x", "x"), ("m::exp(x)", "-m::exp(x)"),
                         ("T(0.5) / y", "T(0.625) / y"), ("m::log1p(x)", "-m::log1p(x)")):
            self.assertEqual(mutate_rows.mutate(old), new)

    def test_every_row_changes_on_its_own_line(self):
        for wanted in mutate_rows.ROUNDS.values():
            for name in {table for table, _ in wanted}:
                text, changes = mutate_rows.changed_table(name, [column for table, column in wanted if table == name])
                lines = text.split("\n")
                for column, row, old, new in changes:
                    self.assertNotEqual(old, new)
                    self.assertIn(new, lines[row.line - 1])

    def test_red_everywhere_is_no_complaint(self):
        dtypes = tables.read_table("dtypes")
        rows, red, complaints = mutate_rows.play_round("r", UNARY, FakeTree(), 1, dtypes)
        integers = sum(row["dtypes"] == "Number" for row in tables.read_table("unary"))
        self.assertEqual(complaints, [])
        self.assertEqual(red, 2 * rows + integers)

    def test_one_green_test_is_a_complaint(self):
        dtypes = tables.read_table("dtypes")
        green = FakeTree(["MatchesOracle/Exp_f16_cpu"])
        _, _, complaints = mutate_rows.play_round("r", UNARY, green, 1, dtypes)
        self.assertEqual(len(complaints), 1)
        self.assertIn("Exp expr: green with `-m::exp(x)`", complaints[0])

    def test_a_row_without_tests_is_a_complaint(self):
        class NoTests(FakeTree):
            def run(self, program, argument):
                return 0, ""
        rows, _, complaints = mutate_rows.play_round("r", UNARY, NoTests(), 1, tables.read_table("dtypes"))
        self.assertEqual(len(complaints), rows)

    def test_columns_split_as_the_preprocessor_does(self):
        self.assertEqual(tables.split_columns('A, f(x, y), "a, \\"b\\", c", T{1, 2}'),
                         ["A", "f(x, y)", '"a, \\"b\\", c"', "T{1, 2}"])


if __name__ == "__main__":
    unittest.main()
