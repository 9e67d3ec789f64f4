# SPDX-License-Identifier: Apache-2.0
"""bw_check_bundle, which the build runs: the packed kernels pass, and one with a kernel of another name does not.

usage: check_bundle_test.py PROGRAM BUNDLE
"""
import os
import subprocess
import sys
import tempfile
import unittest

BUNDLE = sys.argv.pop()
PROGRAM = sys.argv.pop()


def check(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


class CheckBundle(unittest.TestCase):
    def test_what_was_built_passes(self):
        for arguments in ([], [BUNDLE]):
            done = check(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_lost_kernel_is_named(self):
        with open(BUNDLE, "rb") as file:
            data = file.read()
        changed = data.replace(b"\0unary_exp_f32\0", b"\0unary_exp_f33\0")
        self.assertNotEqual(changed, data)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.bwk")
            with open(path, "wb") as file:
                file.write(changed)
            done = check(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(": the kernel unary_exp_f32 is missing, and a table names it", done.stderr)
        self.assertIn(": the kernel unary_exp_f33 is there, and no table names it", done.stderr)

    def test_what_is_no_bundle(self):
        done = check(__file__)
        self.assertEqual(done.returncode, 1)
        self.assertIn("not a kernel bundle", done.stderr)


if __name__ == "__main__":
    unittest.main()
