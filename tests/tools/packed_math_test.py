# SPDX-License-Identifier: Apache-2.0
"""Chips with instructions for two f32 at a time (v_pk_fma_f32) get them: matrix products for gfx90a and gfx942 have them. The
search that makes them is left out (tools/kernels/compile.py) only where it makes none.
"""
import concurrent.futures
import os
import re
import unittest

from kernel_compiler import CLANG, assembly, kernels

PACKED = re.compile(r"\bv_pk_\w+_f32\b")


def packed(target, *more):
    """Instructions on two f32 in the matrix products for a target."""
    return len(PACKED.findall(assembly(target, "gemm.cc", *more)))


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
