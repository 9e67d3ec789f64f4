# SPDX-License-Identifier: Apache-2.0
"""lint_tree.py: the tree is clean, and each kind of planted violation is found."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import lint_tree  # noqa: E402

SPDX = "// " + lint_tree.SPDX + "\n"


class LintTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def found(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
        _, problems, warnings = lint_tree.check(self.root)
        return problems, warnings

    def test_the_tree_is_clean(self):
        if not os.path.exists(os.path.join(ROOT, ".git")):
            self.skipTest("not a git checkout")
        count, problems, _ = lint_tree.check(ROOT)
        self.assertGreater(count, 40)
        self.assertEqual(problems, [])

    def test_good_file(self):
        self.assertEqual(self.found("src/core/a.cc", SPDX + "long double x;  // not long\n"), ([], []))

    def test_missing_licence_line(self):
        problems, _ = self.found("src/core/a.cc", "int a;\n")
        self.assertEqual(len(problems), 1)
        self.assertIn("SPDX", problems[0])

    def test_long_files(self):
        problems, warnings = self.found("src/core/a.cc", SPDX + "\n" * 650)
        self.assertEqual((len(problems), len(warnings)), (0, 1))
        problems, warnings = self.found("src/core/a.cc", SPDX + "\n" * 850)
        self.assertEqual((len(problems), len(warnings)), (1, 0))

    def test_type_long(self):
        problems, _ = self.found("src/core/a.cc", SPDX + "// long\nunsigned long a;\n")
        self.assertEqual(len(problems), 1)
        self.assertTrue(problems[0].startswith("src/core/a.cc:3: type long"), problems)

    def test_machine_path(self):
        problems, _ = self.found("docs/a.md", "see /" + "home/somebody/x\n")
        self.assertEqual(len(problems), 1)
        self.assertIn("docs/a.md:1: absolute path", problems[0])

    def test_undocumented_table(self):
        text = SPDX + "// Rows.\n#ifndef BW_ROW\n#endif\nBW_ROW(a)\n#undef BW_ROW\n"
        problems, _ = self.found("src/tables/a.def", text)
        self.assertEqual(len(problems), 1)
        self.assertIn("columns of BW_ROW", problems[0])
        problems, _ = self.found("src/tables/a.def", text.replace("// Rows.", "// BW_ROW(name)"))
        self.assertEqual(problems, [])


if __name__ == "__main__":
    unittest.main()
