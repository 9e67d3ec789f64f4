# SPDX-License-Identifier: Apache-2.0
"""The progress bar of beeswax quantize: on a terminal one line that is overwritten and removed, else plain lines."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

from gguf_files import write_gguf
from terminal import on_terminal

BEESWAX = sys.argv.pop(1)
SHOWN = re.compile(r"\r\x1b\[K\[([#.]{24})\] ([ \d]{3})%(?:, \d+ s left)?  (\S+)")


class Progress(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        source = os.path.join(self.folder.name, "in.gguf")
        write_gguf(source, {"token_embd.weight": [8, 256], "blk.0.attn_v.weight": [24, 256]})
        self.command = [BEESWAX, "quantize", source, os.path.join(self.folder.name, "out.gguf"), "--type", "q8_0"]

    def tearDown(self):
        self.folder.cleanup()

    def on_terminal(self):
        """What standard error shows on a terminal, and standard output in a pipe."""
        status, shown, out = on_terminal(self.command, "stderr")
        self.assertEqual(status, 0, shown)
        return shown.decode(), out.decode()

    def test_on_a_terminal(self):
        shown, out = self.on_terminal()
        bars = SHOWN.findall(shown)
        self.assertGreaterEqual(len(bars), 2)
        for bar, percent, _ in bars:  # the bar shows what the number says
            self.assertEqual(bar, bar.count("#") * "#" + bar.count(".") * ".")
            self.assertAlmostEqual(bar.count("#") / 24, int(percent) / 100, delta=1 / 24 + 0.005)
        self.assertEqual([int(percent) for _, percent, _ in bars], sorted(int(percent) for _, percent, _ in bars))
        self.assertEqual({name for _, _, name in bars}, {"token_embd.weight", "blk.0.attn_v.weight"})
        self.assertIn((" 25", "token_embd.weight"), {(percent, name) for _, percent, name in bars})
        self.assertEqual(bars[-1][:2], ("#" * 24, "100"))
        self.assertTrue(shown.endswith("\r\x1b[K"), "the bar is gone at the end")
        self.assertNotIn("\n", shown)
        self.assertIn("bits per weight", out)

    def test_in_a_pipe(self):
        done = subprocess.run(self.command, capture_output=True, text=True, check=True)
        self.assertNotIn("\x1b", done.stderr)
        self.assertNotIn("\r", done.stderr)
        self.assertEqual(len([line for line in done.stderr.splitlines() if "/2  " in line]), 2)


if __name__ == "__main__":
    unittest.main()
