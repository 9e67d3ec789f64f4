# SPDX-License-Identifier: Apache-2.0
"""check_isa_symbols.py: passes a clean kernel object, and finds each kind of planted symbol."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import check_isa_symbols  # noqa: E402

CLEAN = """
namespace { float twice(float x) { return x + x; } }
namespace beeswax::cpu::isa_v3 {
struct Kernels { float (*twice)(float); };
const Kernels& kernels() { static constexpr Kernels table{twice}; return table; }
}
"""


class IsaSymbols(unittest.TestCase):
    def check(self, source, level="v3"):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.o")
            subprocess.run(["g++", "-std=c++20", "-O0", "-c", "-x", "c++", "-", "-o", path], input=source, text=True,
                           check=True)
            return check_isa_symbols.problems_of("nm", level, path)

    def test_a_clean_object_passes(self):
        count, problems = self.check(CLEAN)
        self.assertGreater(count, 1)
        self.assertEqual(problems, [])

    def test_an_inline_function_is_found(self):
        _, problems = self.check(CLEAN + "inline float thrice(float x) { return 3 * x; }\n"
                                 "float (*use)(float) __attribute__((visibility(\"hidden\"))) = nullptr;\n"
                                 "namespace { struct Use { Use() { use = thrice; } } now; }\n")
        self.assertTrue(any("weak symbol (W) thrice(float)" in problem for problem in problems), problems)

    def test_a_template_instance_is_found(self):
        _, problems = self.check(CLEAN + "template <class T> T zero() { return T(); }\n"
                                 "namespace beeswax::cpu::isa_v3 { int f() { return zero<int>(); } }\n")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("weak symbol (W) int zero<int>()", problems[0])

    def test_an_inline_variable_is_found(self):
        _, problems = self.check(CLEAN + "inline int counter = 3;\n"
                                 "namespace beeswax::cpu::isa_v3 { int* f() { return &counter; } }\n")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("(u) counter", problems[0])

    def test_a_global_function_is_found(self):
        _, problems = self.check(CLEAN + "int everywhere() { return 1; }\n")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("outside isa_v3: everywhere()", problems[0])

    def test_the_other_level_is_outside(self):
        _, problems = self.check(CLEAN, level="v4")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("outside isa_v4", problems[0])

    def test_what_runs_at_the_start_is_found(self):
        _, problems = self.check(CLEAN + "namespace { int of(int x) { return x * x; } volatile int four = 2;\n"
                                 "const int now = of(four); }\n"
                                 "namespace beeswax::cpu::isa_v3 { int f() { return now; } }\n")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("runs at the program's start", problems[0])

    def test_another_namespace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.o")
            subprocess.run(["g++", "-std=c++20", "-O0", "-c", "-x", "c++", "-", "-o", path], text=True, check=True,
                           input="namespace emu::exec::isa_v4 { int f() { return 1; } }\n")
            self.assertEqual(check_isa_symbols.problems_of("nm", "v4", path, "emu::exec"), (1, []))
            self.assertEqual(len(check_isa_symbols.problems_of("nm", "v4", path)[1]), 1)


if __name__ == "__main__":
    unittest.main()
