# SPDX-License-Identifier: Apache-2.0
"""beeswax: wrong command lines end with status 2 and say what would do."""
import re
import subprocess
import sys
import unittest

BEESWAX = sys.argv.pop(1)


def beeswax(*arguments):
    done = subprocess.run([BEESWAX, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Usage(unittest.TestCase):
    def test_an_unknown_command_is_named_beside_the_known_ones(self):
        _, listed, _ = beeswax("--help")
        known = re.findall(r"(?m)^  (\w+) +\S", listed.split("Subcommands:")[1].split("Examples:")[0])
        self.assertIn("quantize", known)
        for arguments in (["rubbish"], ["rubbish", "--help-me"], ["rub\x1bbish"]):
            status, out, error = beeswax(*arguments)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(f"no command '{arguments[0]}'".replace("\x1b", "?"), error)
            for command in known:
                self.assertIn(command, error)

    def test_other_wrong_lines(self):
        for arguments, said in [([], "--help"), (["--rubbish"], "--help"), (["devices", "rubbish"], "rubbish"),
                                (["quantize"], "required")]:
            status, _, error = beeswax(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertIn(said, error)

    def test_every_command_has_help(self):
        for command in ("demo", "run", "inspect", "quantize", "bench", "devices"):
            status, out, error = beeswax(command, "--help")
            self.assertEqual((status, error), (0, ""), command)
            self.assertIn(f"Usage: beeswax {command}", out)


if __name__ == "__main__":
    unittest.main()
