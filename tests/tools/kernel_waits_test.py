# SPDX-License-Identifier: Apache-2.0
"""Kernels of cubins for sm_90 and newer wait for the launch before them, before anything else: the host starts them while
that one ends. tools/kernels/compile.py writes the wait into the PTX.
"""
import pathlib
import re
import shutil
import tempfile
import unittest

from kernel_compiler import CLANG, assembly, kernels

PTX = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry first(
\t.param .u64 first_param_0
)
;
.visible .entry first(
\t.param .u64 first_param_0
)
.maxntid 256
{
\t.reg .b32 \t%r<2>;
\tret;
}
\t// .globl second
.entry second()
.maxntid 128
{
\tret;
}
.func helper()
{
\tret;
}
"""


class KernelWaits(unittest.TestCase):
    def test_every_kernel_and_no_function(self):
        text = kernels.with_waits(PTX)
        self.assertEqual(text.count("griddepcontrol.wait;"), 2)
        for name in ("first", "second"):
            self.assertRegex(text, name + r"\([^)]*\)[^{]*\{\s*griddepcontrol\.wait;")
        self.assertIn(".target sm_90\n", text)

    def test_what_cannot_be_read_is_refused(self):
        with self.assertRaises(SystemExit):
            kernels.with_waits(PTX.replace(".maxntid 128", '.maxntid 128\n.pragma "nounroll";'))

    def test_a_newer_target_stays(self):
        self.assertIn(".target sm_90a\n", kernels.with_waits(PTX.replace("sm_80", "sm_90a")))

    @unittest.skipUnless(CLANG, "no clang++")
    def test_modules(self):
        for target, source in (("ptx_80", "fill.cc"), ("ptx_80", "sort.cc"), ("ptx_90a", "sm_90/gemm_wgmma.cc")):
            with self.subTest(source=source):
                text = assembly(target, source)
                names = kernels.ptx_kernels(text)
                made = kernels.with_waits(text)
                first = re.findall(r"\.entry\s+(\w+)\s*\([^)]*\)[^{]*\{\s*(.*)", made)
                self.assertEqual(dict(first), dict.fromkeys(names, "griddepcontrol.wait;"))
                if shutil.which("ptxas") and source == "fill.cc":
                    with tempfile.TemporaryDirectory() as folder:
                        path = pathlib.Path(folder) / "module.ptx"
                        path.write_text(made)
                        kernels.run(["ptxas", "-arch=sm_90", str(path), "-o", f"{folder}/module.cubin"])


if __name__ == "__main__":
    unittest.main()
