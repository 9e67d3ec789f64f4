# SPDX-License-Identifier: Apache-2.0
"""What a build refuses of kernels (tools/kernels/compile.py and pack.py): scratch memory, spills, serialized wgmma, objects
without kernels, a target that takes far too long to compile, and kernels that some target lacks. Nothing is written then.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

from kernel_compiler import CLANG, kernels
from scratch_folder import ROOT, ScratchFolder

KERNEL = """
extern "C" __attribute__((global)) void {name}(float* y, const float* x, int n) {{
  float local[64];
  for (int i = 0; i < 64; ++i) local[i] = x[i];
  for (int i = 0; i < n; ++i) local[{at}] += x[i];
  for (int i = 0; i < 64; ++i) y[i] = local[i];
}}
"""
PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry first(
\t.param .u64 first_param_0
)
.maxntid 128
{
\tret;
}
"""
LOG = """ptxas info    : Compiling entry function 'first' for 'sm_86'
ptxas info    : Function properties for first
    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads
ptxas info    : Used 40 registers, 512 bytes smem, 360 bytes cmem[0]
"""
SERIALIZED = "ptxas info    : (C7510) wgmma.mma_async instructions are serialized in the function 'first'\n"
# In place of ptxas: says what the file beside it says, and writes what -o names.
FAKE_PTXAS = """#!{python}
import pathlib, sys
sys.stderr.write(pathlib.Path(__file__).with_name("log").read_text())
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(b"cubin")
"""
# Has registers where a block may have a processor of its own.
TIGHT_PTXAS = """#!{python}
import pathlib, sys
alone = ".minnctapersm 1\\n" in pathlib.Path(sys.argv[3]).read_text()
sys.stderr.write(pathlib.Path(__file__).with_name("log").read_text().replace("16 bytes stack", "0 bytes stack" if alone else "16 bytes stack"))
pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_bytes(b"cubin")
"""


class Refusals(ScratchFolder):
    def run_tool(self, tool, *arguments):
        environment = {**os.environ, "BEESWAX_KERNEL_CACHE": os.path.join(self.root, "cache")}
        return subprocess.run([sys.executable, os.path.join(ROOT, "tools", "kernels", tool), *arguments], cwd=self.root,
                              env=environment, capture_output=True, text=True, check=False)

    def made(self, name):
        return os.path.exists(os.path.join(self.root, name))


class Compile(Refusals):
    def source(self, name, at):
        self.write("kernel.cc", KERNEL.format(name=name, at=at))
        return self.run_tool("compile.py", "--clang", CLANG, "--target", "gfx1100", "--source", "kernel.cc", "--depfile",
                             "kernel.d", "--out", "kernel.gfx1100")

    def assembled(self, log, ptx=PTX, target="sm_86", ptxas=FAKE_PTXAS):
        self.write("ptxas", ptxas.format(python=sys.executable))
        os.chmod(os.path.join(self.root, "ptxas"), 0o755)
        self.write("log", log)
        self.write("kernel.ptx", ptx)
        return self.run_tool("compile.py", "--ptxas", os.path.join(self.root, "ptxas"), "--target", target, "--ptx",
                             "kernel.ptx", "--out", "kernel.sm_86")

    def refused(self, done, *words):
        self.assertEqual(done.returncode, 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        for name in ("kernel.gfx1100", "kernel.gfx1100.json", "kernel.sm_86", "kernel.sm_86.json", "cache"):
            self.assertFalse(self.made(name), name)

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_scratch_memory(self):
        self.refused(self.source("wanders", "int(x[i])"), "kernel.cc for gfx1100: registers do not suffice", "wanders: ",
                     " bytes of scratch")

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_none(self):
        done = self.source("stays", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.made("kernel.gfx1100") and self.made("cache"))
        with open(os.path.join(self.root, "kernel.gfx1100.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["kernels"]["stays"]["scratch"], 0)

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_mistakes_and_no_kernel(self):
        self.refused(self.source("fails", "nothing"), "use of undeclared identifier 'nothing'")
        self.write("kernel.cc", "int nothing_at_all;\n")
        done = self.run_tool("compile.py", "--clang", CLANG, "--target", "ptx_80", "--source", "kernel.cc", "--depfile",
                             "kernel.d", "--out", "kernel.ptx_80")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("kernel.cc for ptx_80: no kernel in the object", done.stderr)
        self.assertFalse(self.made("kernel.ptx_80"))

    def test_what_ptxas_says(self):
        done = self.assembled(LOG.format(stack=0, stores=0, loads=0))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.root, "kernel.sm_86.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["kernels"],
                             {"first": {"arguments": 8, "scratch": 0, "spills": 0, "vgprs": 40, "shared": 512}})

    def test_a_stack_frame_or_spills(self):
        self.refused(self.assembled(LOG.format(stack=16, stores=0, loads=0)), "kernel.ptx for sm_86: registers do not suffice",
                     "first: 16 bytes of scratch, 0 spills")
        self.refused(self.assembled(LOG.format(stack=0, stores=8, loads=4)), "first: 0 bytes of scratch, 12 spills")

    def test_blocks_side_by_side_give_way_where_they_were_not_chosen(self):
        log = LOG.format(stack=16, stores=0, loads=0)
        side_by_side = PTX.replace(".maxntid 128\n", ".maxntid 128\n.minnctapersm 4\n")
        self.refused(self.assembled(log, side_by_side, "sm_90", TIGHT_PTXAS), "first: 16 bytes of scratch")
        for ptx in (side_by_side, PTX):
            done = self.assembled(log, ptx, ptxas=TIGHT_PTXAS)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_serialized_wgmma(self):
        log = LOG.format(stack=0, stores=0, loads=0) + SERIALIZED
        self.refused(self.assembled(log), "ptxas serializes wgmma", "in the function 'first'")
        with self.assertRaisesRegex(SystemExit, "ptxas serializes wgmma"):
            kernels.ptxas_kernels(log, {"first": {}})


@unittest.skipUnless(shutil.which("zstd"), "no zstd is installed")
class Pack(Refusals):
    def object(self, name, *names, seconds=1.0, arguments=8):
        self.write(name, "code")
        of_each = {"arguments": arguments, "scratch": 0}
        report = {"seconds": seconds, "kernels": dict.fromkeys(names, of_each), "stamps": {}}
        self.write(f"{name}.json", json.dumps(report))
        return name

    def pack(self, *arguments):
        return self.run_tool("pack.py", "--out", "kernels.bwk", "--table", "registers.txt", *arguments)

    def refused(self, done, text):
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(text, done.stderr)
        self.assertFalse(self.made("kernels.bwk"))

    def test_the_same_kernels_everywhere(self):
        done = self.pack(self.object("fill.gfx1100", "fill", "clear"), self.object("fill.ptx_80", "fill", "clear"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("over it", done.stdout)
        self.assertTrue(self.made("kernels.bwk"))

    def test_time(self):
        objects = (self.object("fill.gfx1100", "fill", seconds=100.0), self.object("sort.gfx1100", "sort", seconds=100.0))
        done = self.pack(*objects)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("200.0 CPU-seconds (budget 60), over it", done.stdout)
        os.remove(os.path.join(self.root, "kernels.bwk"))
        self.object("sort.gfx1100", "sort", seconds=1000.0)
        self.refused(self.pack(*objects), "gfx1100: far over the budget of compilation")
        self.refused(self.pack(self.object("fill.sm_90", "fill", seconds=400.0)), "sm_90: far over the budget")

    def test_a_kernel_that_a_target_lacks(self):
        objects = (self.object("fill.gfx1100", "fill"), self.object("fill.gfx90a", "fill", "clear"))
        self.refused(self.pack(*objects), "gfx1100 lacks clear, which gfx90a has")
        self.refused(self.pack(self.object("fill.gfx1100", "fill", "clear"), self.object("fill.gfx90a", "fill")),
                     "gfx90a lacks clear, which gfx1100 has")

    def test_a_module_of_its_own(self):
        objects = (self.object("fill.gfx1100", "fill"), self.object("fill.gfx90a", "fill"))
        own = self.object("gemm.gfx90a", "gemm")
        self.refused(self.pack(*objects, own), "gfx1100 lacks gemm, which gfx90a has")
        self.assertEqual(self.pack(*objects, "--own", own).returncode, 0)

    def test_kernels_that_differ(self):
        one = self.object("fill.gfx1100", "fill")
        self.refused(self.pack(one, self.object("fill.gfx90a", "fill", arguments=16)), "arguments of fill differ in size")
        self.refused(self.pack(one, self.object("more.gfx1100", "fill")), "gfx1100: fill is in two modules")


if __name__ == "__main__":
    unittest.main()
