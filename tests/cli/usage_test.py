# SPDX-License-Identifier: Apache-2.0
"""beeswax: wrong command lines end with status 2 and say what would do."""
import os
import re
import subprocess
import sys
import unittest

BEESWAX = sys.argv.pop(1)
ERRORS = os.path.join(os.path.dirname(__file__), "..", "..", "src", "tables", "errors.def")


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

    def test_the_help_lists_every_exit_status(self):
        with open(ERRORS, encoding="utf-8") as file:
            statuses = set(re.findall(r"(?m)^BW_ERROR\(\w+, (\d+),", file.read()))
        listed = re.search(r"(?s)Exit status: (.*?)\.\n", beeswax("--help")[1]).group(1)
        self.assertEqual({item.split()[0] for item in listed.split(";")}, statuses | {"0", "130"})
        self.assertIn("4 too large, or out of memory", listed)

    def test_numbers_that_are_none(self):
        """Of every option that takes a number, by the help of its command."""
        whole = ("", "x", "1x", " 1", "1.5", "99999999999999999999", "-99999999999999999999")
        real = ("", "x", "1x", "1e999", "-1e999", "nan", "inf", "1,5")
        seen = set()
        for command in (["demo"], ["run"], ["quantize"], ["bench", "model"], ["bench", "ops"]):
            for option, kind in re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+) (INT|FLOAT)\b", beeswax(*command, "--help")[1]):
                seen.add(option)
                for value in whole if kind == "INT" else real:
                    status, out, error = beeswax(*command, option, value)
                    self.assertEqual((status, out), (2, ""), (command, option, value))
                    self.assertIn(f"{option}: '{value}' is not a", error)
        self.assertTrue({"--tokens", "--top-k", "--temp", "--seed", "--ctx", "--keep", "--threads", "--prompt", "--batch",
                         "--repeat", "--repeat-last-n", "--presence-penalty"} <= seen, seen)
        for option, value in (("--tokens", 2**63), ("--tokens", -2), ("--top-k", 2**63), ("--top-k", -1), ("--keep", -1)):
            self.assertEqual(beeswax("run", "-p", "x", option, str(value))[0], 2, (option, value))

    def test_lists_of_numbers(self):
        for value in (",", "8,", ",8", "8,,16", "8,x", "8 16", "-1", "8,1048577"):
            status, _, error = beeswax("bench", "model", "-n", "0", "-p", value)
            self.assertEqual(status, 2, value)
            self.assertIn("' is not a whole number from 0 to 1048576", error)
        status, _, error = beeswax("bench", "model", "-p", "8", "absent.gguf")  # a model, no length
        self.assertEqual(status, 6)
        self.assertIn("absent.gguf: No such file", error)

    def test_every_command_has_help(self):
        for command in ("demo", "run", "inspect", "quantize", "bench", "devices"):
            status, out, error = beeswax(command, "--help")
            self.assertEqual((status, error), (0, ""), command)
            self.assertIn(f"Usage: beeswax {command}", out)


if __name__ == "__main__":
    unittest.main()
