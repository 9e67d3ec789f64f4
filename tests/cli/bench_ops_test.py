# SPDX-License-Identifier: Apache-2.0
"""beeswax bench ops: times on the CPU, counters on the software AMD GPU, and what it says to mistakes."""
import json
import subprocess
import sys
import unittest

BEESWAX = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([BEESWAX, "bench", "ops", *arguments], capture_output=True, text=True, check=False)


def emu_devices():
    done = subprocess.run([BEESWAX, "devices", "--json"], capture_output=True, text=True, check=True)
    return [d["device"] for d in json.loads(done.stdout) if d["usable"] and d["device"].startswith("emu:")]


class BenchOps(unittest.TestCase):
    def test_times(self):
        done = run("--size", "small", "--filter", "neg f32", "--repeat", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        heading, row = done.stdout.splitlines()
        self.assertEqual(heading.split(), ["operation", "us", "GB/s", "GFLOP/s"])
        self.assertEqual(row.split()[:3], ["neg", "f32", "256K"])
        out = json.loads(run("--size", "small", "--filter", "matmul f32 128x128x128", "--json").stdout)
        self.assertEqual(len(out), 1)
        self.assertEqual(out[0]["flops"], 2 * 128**3)
        self.assertEqual(out[0]["bytes"], 3 * 4 * 128**2)
        self.assertGreater(out[0]["seconds"], 0)

    def test_counters(self):
        devices = emu_devices()
        if "emu:gfx1100" not in devices:
            self.skipTest("no software AMD GPU")
        done = run("--device", "emu:gfx1100", "--counters", "--json", "--filter", "neg f32")
        self.assertEqual(done.returncode, 0, done.stderr)
        units, operation = json.loads(done.stdout)
        self.assertIn("bank conflicts", units["units"]["lds_conflict_cycles"])
        self.assertEqual(operation["operation"], "neg f32 256K")
        kernel, = operation["kernels"]
        # One launch that reads and writes each element once, in whole lines.
        self.assertEqual(kernel["chip"], "gfx1100")
        self.assertEqual(kernel["launches"], 1)
        self.assertEqual(kernel["global_read_bytes"], 4 * 2**18)
        self.assertEqual(kernel["global_write_bytes"], 4 * 2**18)
        self.assertEqual(kernel["cache_lines"], 2 * 4 * 2**18 // 128)
        self.assertAlmostEqual(kernel["lines_per_access"], kernel["cache_lines"] / kernel["accesses"], 2)
        self.assertEqual(kernel["instructions"], sum(kernel[k] for k in (
            "valu", "salu", "matrix", "vmem", "smem", "lds", "branch", "other")))
        self.assertLessEqual(kernel["waves_per_simd"], kernel["wave_slots"])
        # The next operation begins at nothing.
        twice = json.loads(run("--device", "emu:gfx1100", "--counters", "--json", "--filter", "f32 256K").stdout)
        again, = [o for o in twice[1:] if o["operation"] == "neg f32 256K"]
        self.assertEqual(again["kernels"], operation["kernels"])
        table = run("--device", "emu:gfx1100", "--counters", "--filter", "neg f32")
        self.assertEqual(table.returncode, 0, table.stderr)
        lines = table.stdout.splitlines()
        self.assertEqual(lines[1], "neg f32 256K")
        self.assertIn(kernel["kernel"], lines[2])
        self.assertIn(f"{kernel['waves_per_simd']}/{kernel['wave_slots']} {kernel['occupancy_limit']}", lines[2])

    def test_mistakes(self):
        done = run("--counters")
        self.assertEqual(done.returncode, 3)
        self.assertIn("give --device emu:gfx1100", done.stderr)
        done = run("--filter", "no such operation", "--size", "small")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exp f32 256K", done.stderr)
        self.assertEqual(run("--size", "huge").returncode, 2)

    def test_help(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Examples:\n  beeswax bench ops", done.stdout)


if __name__ == "__main__":
    unittest.main()
