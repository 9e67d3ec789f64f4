# SPDX-License-Identifier: Apache-2.0
"""lint_tidy.py: what is clean is remembered until a file changes that it reads, or a .clang-tidy above one."""
import os
import shutil
import unittest
import unittest.mock

from scratch_folder import ScratchFolder
import lint_tidy  # in tools/, which scratch_folder adds to the path
from remembered import Remembered


class LintTidy(ScratchFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, lint_tidy, "ROOT", lint_tidy.ROOT)
        lint_tidy.ROOT = self.root
        environment = unittest.mock.patch.dict(os.environ, XDG_CACHE_HOME=os.path.join(self.root, "cache"))
        environment.start()
        self.addCleanup(environment.stop)
        self.clean = Remembered("tidy")
        self.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr,modernize-use-override'\nWarningsAsErrors: '*'\n")
        self.write("src/a.h", "#pragma once\nint* found();\n")
        self.write("src/a.cc", '#include "a.h"\nint* found() { return 0; }\n')
        self.write("tests/.clang-tidy", "InheritParentConfig: true\nChecks: '-modernize-use-nullptr'\n")
        self.write("tests/deep/t.cc", '#include "../../src/a.h"\nint* none() { return 0; }\n')

    def command(self, source):
        return ["g++", "-std=c++20", "-o", "x.o", "-c", os.path.join(self.root, source)]

    def look(self, source, wanted=None):
        """The complaint; a source that needs no look gets none, whatever is in it."""
        return lint_tidy.look(source, self.root, self.command(source), b"", self.clean, wanted)[1]

    def test_a_source_reads_the_settings_above_what_it_includes(self):
        self.assertEqual(lint_tidy.reads("src/a.cc", self.root, self.command("src/a.cc")),
                         [".clang-tidy", "src/a.cc", "src/a.h"])
        self.assertEqual(lint_tidy.reads("tests/deep/t.cc", self.root, self.command("tests/deep/t.cc")),
                         [".clang-tidy", "src/a.h", "tests/.clang-tidy", "tests/deep/t.cc"])

    @unittest.skipUnless(shutil.which(lint_tidy.TIDY), lint_tidy.TIDY + " is not installed")
    def test_a_folder_may_switch_a_check_off(self):
        self.assertIn("modernize-use-nullptr", self.look("src/a.cc"))
        self.assertEqual(self.look("tests/deep/t.cc"), "")

    @unittest.skipUnless(shutil.which(lint_tidy.TIDY), lint_tidy.TIDY + " is not installed")
    def test_clean_sources_are_looked_at_again_when_a_setting_above_them_changes(self):
        source = "tests/deep/t.cc"
        self.assertEqual(self.look(source), "")
        self.write("emu/.clang-tidy", "InheritParentConfig: true\n")  # above none of its files
        with unittest.mock.patch.object(lint_tidy, "TIDY", "false"):  # what is remembered runs no program
            self.assertEqual(self.look(source), "")
            self.write("src/a.h", "#pragma once\nint* found();\nint* lost();\n")
            self.assertEqual(self.look(source, {"emu/.clang-tidy"}), "")
        self.write("tests/.clang-tidy", "InheritParentConfig: true\n")
        self.assertIn("modernize-use-nullptr", self.look(source))
        self.assertIn("modernize-use-nullptr", self.look(source, {"tests/.clang-tidy"}))  # complaints are not kept
        self.assertEqual(self.look(source, {"emu/.clang-tidy"}), "")


if __name__ == "__main__":
    unittest.main()
