# SPDX-License-Identifier: Apache-2.0
"""support/launched_kernels.py: passes where every kernel ran on both wave sizes, and names what did not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "launched_kernels.py")
TABLE = ("target   module          kernel    vgprs\n"
         "gfx1100  fill            fill_1        3\n"
         "gfx1100  a_long_module_nameadd_f32     3\n"
         "gfx90a   fill            fill_1        3\n"
         "gfx90a   a_long_module_nameadd_f32     3\n"
         "gfx90a   a_long          only_on_64    3\n"
         "ptx_80   other           only_there    3\n")


class LaunchedKernels(unittest.TestCase):
    def run_on(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for module in ("fill", "a_long_module_name", "a_long", "other"):
                (root / f"{module}.gfx1100.json").write_text("{}")
            (root / "registers.txt").write_text(TABLE)
            for name, text in files.items():
                (root / f"{name}.txt").write_text(text)
            return subprocess.run([sys.executable, SCRIPT, folder, str(root / "a.txt"), str(root / "b.txt")],
                                  capture_output=True, text=True, check=False)

    def test_every_kernel_on_both_wave_sizes(self):
        done = self.run_on(a="gfx1100 fill_1\ngfx1100 add_f32\n", b="gfx90a fill_1\ngfx942 add_f32\ngfx942 only_on_64\n")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("3 kernels in 3 modules, 5 of 5 ran", done.stdout)

    def test_what_never_ran_is_named(self):
        done = self.run_on(a="gfx1100 fill_1\ngfx1201 add_f32\n", b="gfx90a fill_1\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("waves of 64, a_long_module_name: 1 never ran: add_f32", done.stdout)
        self.assertIn("waves of 64, a_long: 1 never ran: only_on_64", done.stdout)
        self.assertNotIn("waves of 32", done.stdout)

    def test_a_test_that_did_not_run_is_named(self):
        done = self.run_on(a="gfx1100 fill_1\ngfx1100 add_f32\ngfx90a fill_1\ngfx942 add_f32\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("b has not run", done.stdout)


if __name__ == "__main__":
    unittest.main()
