# SPDX-License-Identifier: Apache-2.0
"""Chips with instructions for two f32 at a time (v_pk_fma_f32) get them: matrix products for gfx90a and gfx942 have them. The
search that makes them is left out (tools/kernels/compile.py) only where it makes none.
"""
import concurrent.futures
import os
import re
import shutil
import sys
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools", "kernels"))
import compile as kernels  # pylint: disable=wrong-import-position

CLANG = next((found for name in ("clang++-22", "clang++-21", "clang++-20", "clang++-19") if (found := shutil.which(name))), None)
PACKED = re.compile(r"\bv_pk_\w+_f32\b")


def packed(target, *more):
    """Instructions on two f32 in the matrix products for a target."""
    text, _ = kernels.run([CLANG, *kernels.clang_flags(target), *more, f"-I{ROOT}/src", f"-I{ROOT}/include", "-S",
                           os.path.join(ROOT, "src", "kernels", "gemm.cc"), "-o", "-"])
    return len(PACKED.findall(text))


@unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
class PackedMath(unittest.TestCase):
    def test_where_there_are_such_instructions(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for target, count in zip(("gfx90a", "gfx942"), pool.map(packed, ("gfx90a", "gfx942"))):
                self.assertGreater(count, 100, target)

    def test_the_search_is_left_out_only_where_it_makes_none(self):
        targets = ("gfx1030", "gfx1100", "gfx1200")
        for target in targets:
            self.assertIn("-fno-slp-vectorize", kernels.clang_flags(target))
        self.assertNotIn("-fno-slp-vectorize", kernels.clang_flags("gfx1250"))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for target, count in zip(targets, pool.map(lambda target: packed(target, "-fslp-vectorize"), targets)):
                self.assertEqual(count, 0, target)


if __name__ == "__main__":
    unittest.main()
