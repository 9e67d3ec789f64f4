# SPDX-License-Identifier: Apache-2.0
"""PTX says the oldest version that knows its instructions, so that old assemblers and drivers take all modules but those
with newer ones. tools/kernels/compile.py raises it where it must.
"""
import unittest

from kernel_compiler import CLANG, assembly, kernels

PTX = ".version 8.0\n.target sm_90a\n.entry first()\n.maxntid 128\n{\n\tret;\n}\n"


class PtxVersion(unittest.TestCase):
    def test_counted_stores_ask_for_8_1(self):
        ptx = PTX.replace("ret;", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%r1], %f1, [%r2];\n\tret;")
        self.assertEqual(kernels.with_version(ptx), ptx.replace(".version 8.0", ".version 8.1"))

    def test_others_stay(self):
        self.assertEqual(kernels.with_version(PTX), PTX)

    @unittest.skipUnless(CLANG, "no clang++")
    def test_products_are_8_0(self):
        self.assertIn("\n.version 8.0\n", kernels.with_version(assembly("ptx_90a", "sm_90/gemm_wgmma.cc")))


if __name__ == "__main__":
    unittest.main()
