# SPDX-License-Identifier: Apache-2.0
"""bw_gpu_bench's figures of the layer itself, on the software AMD GPU: what a call costs the host, what each kernel
module takes at its first use, and how far results are from the CPU's.

usage: gpu_bench_test.py PROGRAM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop()


def measure(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        done = subprocess.run([PROGRAM, "--device", "emu:gfx1100", *arguments, "--json", path], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        with open(path, encoding="utf-8") as file:
            return done.stdout, json.load(file)


class GpuBench(unittest.TestCase):
    def test_host_cost(self):
        shown, out = measure("--host-cost")
        self.assertEqual(out["kernel"], "binary_add_f32")
        self.assertGreater(out["launch_seconds"], 0)
        self.assertGreater(out["call_seconds"], 0)
        self.assertIn(f"{out['call_to_launch']:.2f}", shown.splitlines()[1].split())

    def test_modules(self):
        shown, out = measure("--modules")
        self.assertEqual(out["target"], "gfx1100")
        of_target = {target["target"]: target for target in out["targets"]}["gfx1100"]
        self.assertEqual(of_target["modules"], len(out["modules"]))
        for key in ("packed_bytes", "bytes"):
            self.assertEqual(of_target[key], sum(module[key] for module in out["modules"]))
        names = [module["module"] for module in out["modules"]]
        self.assertIn("unary_f32", names)
        self.assertEqual(len(set(names)), len(names))
        for module in out["modules"]:
            self.assertLess(module["packed_bytes"], module["bytes"])
            self.assertGreater(module["load_seconds"], 0)
            self.assertIn(module["module"], shown)

    def test_differences(self):
        # docs/numerics.md: every operation gives the CPU's bits but these, which keep to error bounds.
        bounded = {"conv", "cumsum", "matmul", "quantized"}
        shown, out = measure("--differences")
        self.assertGreater(len(out), 60)
        self.assertLessEqual(bounded | {"exp", "pow", "sum", "argmax", "softmax", "rope"}, {row["operation"] for row in out})
        for row in out:
            self.assertIn(row["operation"], shown)
            self.assertGreater(row["elements"], 0)
            if row["operation"] in bounded:
                self.assertLess(row["largest_difference"], 4e-3, row)  # a rounding of bf16
            else:
                self.assertEqual(row["unequal"], 0, row)

    def test_mistakes(self):
        for flag in ("--modules", "--differences"):
            done = subprocess.run([PROGRAM, "--device", "cpu", flag], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
