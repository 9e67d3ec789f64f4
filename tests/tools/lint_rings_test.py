# SPDX-License-Identifier: Apache-2.0
"""lint_rings.py: the tree is clean, and each kind of planted violation is found at its line."""
import unittest

from scratch_folder import ROOT, ScratchFolder
import lint_rings  # in tools/, which scratch_folder adds to the path


class LintRings(ScratchFolder):
    def setUp(self):
        super().setUp()
        for path in ("src/core/fail.h", "src/core/math/exp.h", "src/backends/cpu/isa.h", "src/ops/unary.h",
                     "src/nn/linear.h", "src/io/mmap.h", "src/quant/q4_0.h", "src/kernels/gpu.h",
                     "src/tables/unary.def", "include/beeswax/tensor.h", "include/beeswax/half.h",
                     "include/beeswax/portable.h"):
            self.write(path, "")

    def problems(self, path, *includes):
        self.write(path, "".join(f"#include {name}\n" for name in includes))
        found = lint_rings.check(self.root)[1]
        self.write(path, "")
        return found

    def allowed(self, path, *includes):
        self.assertEqual(self.problems(path, *includes), [])

    def refused(self, path, include, said):
        # The second line, so that the number is seen to be right.
        found = self.problems(path, "<cstdint>", include)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        self.assertIn(said, found[0])

    def test_the_tree_keeps_the_rings(self):
        count, problems = lint_rings.check(ROOT)
        self.assertGreater(count, 20)
        self.assertEqual(problems, [])

    def test_downwards_is_allowed(self):
        self.allowed("src/ops/a.cc", '"backends/cpu/isa.h"', '"core/fail.h"', '"quant/q4_0.h"', '"beeswax/tensor.h"',
                     '"tables/unary.def"', '"core/math/exp.h"', "<vector>")
        self.allowed("src/models/a.cc", '"nn/linear.h"', '"ops/unary.h"', '"io/mmap.h"')
        self.allowed("src/kernels/a.cc", '"kernels/gpu.h"', '"core/math/exp.h"', '"quant/q4_0.h"', '"tables/unary.def"')
        self.allowed("src/core/math/a.h", '"core/math/exp.h"', '"beeswax/half.h"', "<cstdint>")
        self.allowed("src/core/os/a.cc", "<sys/mman.h>", "<dlfcn.h>")
        self.allowed("examples/a.cc", '"beeswax/tensor.h"')

    def test_upwards_is_found(self):
        self.refused("src/core/a.cc", '"ops/unary.h"', "ring core includes")
        self.refused("src/backends/cpu/a.cc", '"ops/unary.h"', "ring backends includes")
        self.refused("src/quant/a.h", '"backends/cpu/isa.h"', "ring quant includes")
        self.refused("src/ops/a.cc", '"nn/linear.h"', "ring ops includes")

    def test_sideways_is_found(self):
        self.refused("src/io/a.cc", '"quant/q4_0.h"', "ring io includes")
        self.refused("src/autograd/a.cc", '"nn/linear.h"', "ring autograd includes")
        self.refused("src/kernels/a.cc", '"core/fail.h"', "ring kernels includes")
        self.refused("emu/a.cc", '"core/fail.h"', "ring emu includes")
        self.refused("examples/a.cc", '"core/fail.h"', "ring examples includes")
        self.refused("src/core/a.cc", '"tests/support/x.h"', "not a file of the tree")

    def test_shared_math_is_closed(self):
        self.refused("src/core/math/a.h", '"core/fail.h"', "shared math includes only")
        self.refused("src/core/math/a.h", "<cmath>", "code shared with GPU compilers")
        self.refused("include/beeswax/half.h", "<vector>", "code shared with GPU compilers")

    def test_the_system_stays_in_core_os(self):
        self.refused("src/ops/a.cc", "<sys/mman.h>", "src/core/os only")
        self.refused("src/core/a.cc", "<dlfcn.h>", "src/core/os only")

    def test_public_headers_include_what_is_installed(self):
        self.refused("include/beeswax/a.h", '"core/fail.h"', "is not installed")

    def test_a_folder_outside_the_rings_is_found(self):
        found = self.problems("src/helpers/a.cc", "<vector>")
        self.assertEqual(len(found), 1)
        self.assertIn("'helpers' is in no ring", found[0])


if __name__ == "__main__":
    unittest.main()
