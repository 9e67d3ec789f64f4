# SPDX-License-Identifier: Apache-2.0
"""One row of unary.def is a whole operation, with or without a parameter. In a copy of the tree this adds a line of each
kind to one file, counts that nothing else changed, and shows that the operations are there: in the shared library with
the right values, in the tests on every dtype, in the benchmarks and in the documentation. And it shows that
mutate_rows.py, which wants a test that goes red for a change of any column of any row, finds those of the first one.

usage: one_row_test.py SCRATCH-FOLDER [JOBS]
"""
import os
import subprocess
import sys
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import docs_tables  # noqa: E402
import mutate_rows  # noqa: E402
import scratch_tree  # noqa: E402
import tables  # noqa: E402

TABLE = os.path.join("src", "tables", "unary.def")
ROW = ('BW_UNARY(Cube, cube, Number, x * x * x, SAME, 2, 2, -50, 50, x * x * x, T(3) * x * x, '
       '"x*x*x; integers wrap")')
# With a parameter whose name no other row has, and an expression of its own for halves.
PARAM_ROW = ('BW_UNARY_PARAM(LeakyRelu, leaky_relu, slope, Float, x < T(0) ? p * x : x, x < 0.0f ? p * x : x, 0.51, 0.51, '
             '-50, 50, x < 0 ? p * x : x, x < T(0) ? p : T(1), "x, or slope times x below 0")')
# A caller of the installed API that knows nothing of the tables.
PROBE = """
#include <cstdio>
#include "beeswax/tensor.h"
using namespace beeswax;
int main() {
  const Tensor x = Tensor::from_vec(std::vector<float>{-3, 0.5f, 2}, {3});
  for (double value : x.cube().to_doubles()) std::printf("%g ", value);
  for (int32_t value : x.to_dtype(DType::I32).cube().to_vec<int32_t>()) std::printf("%d ", value);
  for (double value : x.leaky_relu(0.25).to_doubles()) std::printf("%g ", value);
  return 0;
}
"""


class OneRow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = scratch_tree.ScratchTree(FOLDER)
        with open(os.path.join(ROOT, TABLE), encoding="utf-8") as file:
            lines = file.read().split("\n")
        last = max(number for number, line in enumerate(lines) if line.startswith("BW_UNARY"))
        lines[last + 1:last + 1] = [ROW, PARAM_ROW]
        cls.scratch.write({TABLE: "\n".join(lines)})
        failure = cls.scratch.make(["unary_test", "derivative_test", "math_short_test", "bw_bench", "beeswax"], JOBS)
        if failure:
            raise AssertionError("the tree with two more rows does not build:\n" + failure[-8000:])
        cls.dtypes = [row["name"] for row in tables.read_table("dtypes") if row.macro == "BW_DTYPE"]

    def test_one_line_a_row_changed(self):
        self.assertEqual(self.scratch.changed_lines(), {TABLE: ("2", "0")})

    def test_the_library_has_the_method(self):
        program = os.path.join(FOLDER, "probe")
        libraries = os.path.join(self.scratch.build, "bin")
        subprocess.run(["g++", "-std=c++20", "-I", os.path.join(self.scratch.tree, "include"), "-I",
                        os.path.join(self.scratch.tree, "src"), "-x", "c++", "-", "-x", "none", "-o", program,
                        "-L", libraries, "-lbeeswax", "-Wl,--allow-shlib-undefined", "-Wl,-rpath," + libraries], input=PROBE, text=True, check=True)
        run = subprocess.run([program], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout.split(), ["-27", "0.125", "8", "-27", "0", "8", "-0.75", "0.5", "2"])

    def test_every_dtype_is_tested_and_right(self):
        _, listed = self.scratch.run("tests/unary_test", "--gtest_list_tests")
        for dtype in self.dtypes:
            self.assertIn(f"MatchesOracle/Cube_{dtype}_cpu", listed)
        status, output = self.scratch.run("tests/unary_test", "--gtest_filter=*/Cube_*")
        self.assertEqual(status, 0, output)
        self.assertIn(f"[  PASSED  ] {len(self.dtypes)} tests.", output)

    def test_the_row_with_a_parameter_is_tested_and_right(self):
        for program, tests, count in [("unary_test", "*/LeakyRelu_*", len(self.dtypes)), ("derivative_test", "*/LeakyRelu", 2),
                                      ("math_short_test", "*/leaky_relu", 1)]:
            status, output = self.scratch.run("tests/" + program, "--gtest_filter=" + tests)
            self.assertEqual(status, 0, output)
            self.assertIn(f"[  PASSED  ] {count} test", output)

    def test_every_expression_has_tests_that_a_change_turns_red(self):
        row = next(row for row in tables.read_table("unary", self.scratch.tree) if row["Name"] == "Cube")
        dtypes = tables.read_table("dtypes")
        checked = set()
        for column in mutate_rows.EXPRESSIONS:
            if column.table == "unary" and row[column.column] not in mutate_rows.NOTHING:
                listed = mutate_rows.list_tests(self.scratch, column.program)
                self.assertTrue(mutate_rows.expected_tests(column, row, listed, dtypes), column.column)
                checked.add(column.column)
        self.assertEqual(checked, {"expr", "derivative"})

    def test_every_fact_has_a_test_that_a_change_turns_red(self):
        program, other = os.path.join(FOLDER, "tables_test"), os.path.join(FOLDER, "changed")
        failure, ran, red = mutate_rows.run_facts(self.scratch.tree, program)
        self.assertIsNone(failure)
        self.assertEqual(red, set())
        row = next(row for row in tables.read_table("unary", self.scratch.tree) if row["Name"] == "Cube")
        for column, (test, change) in mutate_rows.FACTS["unary"].items():
            self.assertIn(f"{test}/Cube", ran)
            values = list(row.values)
            values[row.names.index(column)] = change(row[column])
            os.makedirs(os.path.join(other, "tables"), exist_ok=True)
            with open(os.path.join(self.scratch.tree, TABLE), encoding="utf-8") as file:
                text = file.read().replace(ROW, f"{row.macro}({', '.join(values)})")
            with open(os.path.join(other, "tables", "unary.def"), "w", encoding="utf-8") as file:
                file.write(text)
            failure, _, red = mutate_rows.run_facts(self.scratch.tree, program, other)
            self.assertIsNone(failure)
            self.assertEqual(red, {f"{test}/Cube"})

    def test_the_derivative_is_tested_and_right(self):
        status, output = self.scratch.run("tests/derivative_test", "--gtest_filter=*/Cube")
        self.assertEqual(status, 0, output)
        self.assertIn("[       OK ] Rows/Derivative.IsTheSlope/Cube", output)

    def test_the_benchmarks_have_a_case(self):
        status, output = self.scratch.run("bin/bw_bench", "--list")
        self.assertEqual(status, 0, output)
        self.assertIn("unary/cube/f32", output)
        self.assertIn("unary/leaky_relu/f32", output)

    def test_the_documentation_gains_a_row_for_each(self):
        before = docs_tables.document(ROOT).split("\n")
        after = docs_tables.document(self.scratch.tree).split("\n")
        added = [line for line in after if line not in before]
        self.assertEqual(len(after), len(before) + 2)
        self.assertEqual(added, ["| `cube()` | x*x*x; integers wrap | all 10 | 2 ulp | 2 ulp | yes |",
                                 "| `leaky_relu(slope)` | x, or slope times x below 0 | 5 floats | 0.51 ulp | 0.51 ulp | yes |"])


if __name__ == "__main__":
    FOLDER = os.path.abspath(sys.argv[1])
    JOBS = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    unittest.main(argv=sys.argv[:1])
