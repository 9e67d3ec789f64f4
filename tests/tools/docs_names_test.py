# SPDX-License-Identifier: Apache-2.0
"""docs/candle-differences.md: every row names a test, and every test that is named exists."""
import glob
import os
import re
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NAME = re.compile(r"`([A-Z]\w+)\.(\w+)`")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def known_tests(sources, dtypes):
    """The tests of the sources as "Suite.Case"; a case called Name in a macro stands for one of each dtype."""
    found = set()
    for suite, case in re.findall(r"\bTEST(?:_P|_F)?\((\w+), (\w+)\)", sources):
        found.update(f"{suite}.{name}" for name in (dtypes if case == "Name" else [case]))
    return found


def rows(document):
    """The last column of each table row."""
    lines = [line for line in document.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [line.rstrip(" |").split(" | ")[-1] for line in lines if not line.startswith("| Candle |")]


class DocsNames(unittest.TestCase):
    def setUp(self):
        files = glob.glob(os.path.join(ROOT, "tests", "*", "*_test.cc"))
        dtypes = re.findall(r"^BW_DTYPE\((\w+)", read(os.path.join(ROOT, "src", "tables", "dtypes.def")), re.M)
        self.known = known_tests("\n".join(read(file) for file in files), dtypes)
        self.rows = rows(read(os.path.join(ROOT, "docs", "candle-differences.md")))

    def test_named_tests_exist(self):
        named = {".".join(name) for row in self.rows for name in NAME.findall(row)}
        self.assertGreater(len(named), 25)
        self.assertEqual(sorted(named - self.known), [])

    def test_every_row_names_one(self):
        self.assertGreater(len(self.rows), 25)
        self.assertEqual([row for row in self.rows if not NAME.search(row)], [])

    def test_a_wrong_name_would_be_found(self):
        self.assertNotIn("Sort.NoSuchCase", self.known)
        self.assertIn("Sort.F32", self.known)


if __name__ == "__main__":
    unittest.main()
