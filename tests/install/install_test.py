# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` copies is enough to build README's program with, by find_package and by README's command."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
BUILD = sys.argv.pop(1)
# softmax gives 1 / (1 + e) and e / (1 + e) in both rows: 1.7310586 is 1 + e / (1 + e).
EXPECTED = "[[1.7310586 3.7310586]\n [1.7310586 3.7310586]]\nTensor[2, 2] f32 cpu\n[2. 4.]\nTensor[2] f32 cpu\n"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "beeswax")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.program = textwrap.dedent(re.search(r"^    #include <iostream>\n.*?^    }\n", readme, re.M | re.S).group())
        cls.command = re.search(r"^    (g\+\+ .*my\.cc.*)$", readme, re.M).group(1)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write_program(self, folder, name):
        os.makedirs(folder)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(self.program)

    def test_find_package(self):
        source = os.path.join(self.folder.name, "package")
        self.write_program(source, "use.cc")
        shutil.copy(os.path.join(HERE, "CMakeLists.txt"), source)
        build = os.path.join(source, "build")
        run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(os.path.join(build, "use")), EXPECTED)

    def test_compiler_alone(self):
        home = os.path.join(self.folder.name, "home")
        self.write_program(home, "my.cc")
        os.symlink(self.prefix, os.path.join(home, "beeswax"))
        run("bash", "-c", self.command, cwd=home, env={**os.environ, "HOME": home})
        self.assertEqual(run(os.path.join(home, "a.out")), EXPECTED)

    def test_the_command_finds_its_library(self):
        self.assertRegex(run(os.path.join(self.prefix, "bin", "beeswax"), "--version"), r"^0\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
