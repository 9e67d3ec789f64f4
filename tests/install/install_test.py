# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` copies is enough to build a program with, by find_package and by README's command line."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = sys.argv.pop(1)
EXPECTED = "[[ 5. 11.]\n [11. 25.]]\nTensor[2, 2] f32 cpu\n[2. 4.]\nTensor[2] f32 cpu\n"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = os.path.join(cls.folder.name, "prefix")
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_find_package(self):
        build = os.path.join(self.folder.name, "build")
        run("cmake", "-S", HERE, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(os.path.join(build, "use")), EXPECTED)

    def test_compiler_alone(self):
        program = os.path.join(self.folder.name, "use")
        lib = os.path.join(self.prefix, "lib")
        run("g++", "-std=c++20", os.path.join(HERE, "use.cc"), "-I", os.path.join(self.prefix, "include"), "-L", lib,
            "-lbeeswax", f"-Wl,-rpath,{lib}", "-o", program)
        self.assertEqual(run(program), EXPECTED)

    def test_the_command_finds_its_library(self):
        self.assertRegex(run(os.path.join(self.prefix, "bin", "beeswax"), "--version"), r"^0\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
