# SPDX-License-Identifier: Apache-2.0
"""lint_headers.py: finds a header that needs another one first, and compiles again only what changed."""
import os
import unittest

from scratch_folder import ScratchFolder
import lint_headers  # in tools/, which scratch_folder adds to the path


class LintHeaders(ScratchFolder):
    def setUp(self):
        super().setUp()
        self.write("src/a.h", "#pragma once\nstruct A {};\n")
        self.write("src/b.h", '#pragma once\n#include "a.h"\nstruct B { A a; };\n')

    def check(self):
        return lint_headers.check(self.root, "g++", os.path.join(self.root, "cache.json"), 2)

    def test_clean_headers_are_remembered(self):
        self.assertEqual(self.check(), (2, 2, {}))
        self.assertEqual(self.check(), (2, 0, {}))

    def test_a_change_is_seen_through_includes(self):
        self.check()
        self.write("src/a.h", "#pragma once\nstruct A { int x; };\n")
        self.assertEqual(self.check(), (2, 2, {}))
        self.write("src/a.h", "#pragma once\nstruct Other {};\n")
        count, compiled, failed = self.check()
        self.assertEqual((count, compiled, list(failed)), (2, 2, ["src/b.h"]))

    def test_a_header_that_leans_on_another_is_found_every_time(self):
        self.write("src/c.h", "#pragma once\nstruct C { A a; };\n")
        for _ in range(2):
            _, _, failed = self.check()
            self.assertEqual(list(failed), ["src/c.h"])
            self.assertIn("does not name a type", failed["src/c.h"])

    def test_a_header_that_opens_its_own_source_is_left_to_builds(self):
        self.write("src/c.h", "#pragma once\nstruct C { A a; };\n")
        self.write("src/c.cc", '// A comment.\n\n#include "c.h"\n\n#include "a.h"\n')
        self.assertEqual(self.check(), (2, 2, {}))
        self.write("src/c.cc", '#include "a.h"\n#include "c.h"\n')
        self.assertEqual(list(self.check()[2]), ["src/c.h"])

    def test_warnings_count(self):
        self.write("src/c.h", "#pragma once\ninline char narrow(int x) { return x; }\n")
        self.assertEqual(list(self.check()[2]), ["src/c.h"])

    def test_headers_of_kernels_are_read_for_both_vendors(self):
        self.write("src/kernels/both.h", "#pragma once\n__attribute__((device)) inline int one() { return 1; }\n")
        self.assertEqual(self.check()[2], {})
        self.write("src/kernels/nvidia.h", "#pragma once\n__attribute__((device)) inline void f(float x) {\n"
                                           "  asm volatile(\"\" : \"+f\"(x));\n}\n")
        self.write("src/kernels/amd.h", "#pragma once\n__attribute__((device)) inline void f(float x) {\n"
                                        "  asm volatile(\"\" : \"+v\"(x));\n}\n")
        self.assertEqual(sorted(self.check()[2]), ["src/kernels/amd.h", "src/kernels/nvidia.h"])


if __name__ == "__main__":
    unittest.main()
