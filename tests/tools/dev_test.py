# SPDX-License-Identifier: Apache-2.0
"""./dev: what every command answers to --help and to wrong usage, without building anything."""
import os
import re
import subprocess
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
COMMANDS = ["setup", "build", "demo", "test", "bench", "format", "lint"]


def dev(*arguments, **variables):
    """(exit status, stdout, stderr)"""
    environment = {**os.environ, "BEESWAX_NO_INSTALL": "1", **variables}
    done = subprocess.run([os.path.join(ROOT, "dev"), *arguments], capture_output=True, text=True, env=environment,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class Dev(unittest.TestCase):
    def test_help_names_every_command(self):
        for ask in ([], ["--help"], ["-h"], ["help"]):
            status, out, _ = dev(*ask)
            self.assertEqual(status, 0)
            for command in COMMANDS:
                self.assertRegex(out, rf"(?m)^  {command} +\w")

    def test_every_command_has_help_with_examples(self):
        for command in COMMANDS:
            for ask in ("--help", "-h"):
                status, out, error = dev(command, ask)
                self.assertEqual((status, error), (0, ""), command)
                self.assertTrue(out.startswith(f"usage: ./dev {command}"), out)
                self.assertRegex(out, rf"Examples:\n(  .*\n)*  (BEESWAX_\w+=\w+ )?\./dev {command}")

    def test_wrong_usage_is_2_and_says_what_is_known(self):
        for arguments, said in [(["rubbish"], "setup build demo test bench format lint"),
                                (["setup", "--rubbish"], "--rubbish"),
                                (["build", "--rubbish"], "./dev build --help"),
                                (["build", "--preset"], "release debug asan tsan"),
                                (["build", "--preset", "rubbish"], "release debug asan tsan"),
                                (["test", "--rubbish"], "./dev test --help"),
                                (["test", "--only"], "./dev test --list"),
                                (["test", "--only", "rubbish"], "./dev test --list"),
                                (["format", "--rubbish"], "./dev format --help"),
                                (["lint", "--rubbish"], "./dev lint --help"),
                                (["lint", "--only"], "format rings tree headers docs"),
                                (["lint", "--only", "rubbish"], "format rings tree headers docs")]:
            status, out, error = dev(*arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertRegex(error, r"\Adev: [^\n]+\n\Z")
            self.assertIn(said, error)

    def test_steps_are_listed_with_their_purpose(self):
        status, out, _ = dev("test", "--list")
        self.assertEqual(status, 0)
        steps = re.findall(r"(?m)^([a-z0-9-]+) +(\S.*)$", out)
        names = [name for name, _ in steps]
        for name in ("format", "rings", "release-test", "table", "asan-test", "tsan-test", "fuzz", "mutate"):
            self.assertIn(name, names)
        self.assertEqual(len(names), len(set(names)))

    # With programs that only say what they were asked for, and a sort that is too slow.
    def test_bench_runs_the_peers_that_are_there(self):
        gemm_ran, sort = "ran bench/peers/gemm_openblas.py", "ran bench/peers/sort_numpy.py"
        both = "needs build\nbuilt release bw_bench peer_gemm\n"

        def bench(gemm, numpy, *options, ours=0):
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.join(ROOT, "tools"), os.path.join(folder, "tools"))
                python = f'[ "$1" = -c ] && exit {numpy}\necho "ran $*"\n[ "$1" = {sort[4:]} ] || exit {gemm}\nexit 1'
                for path, text in [("build/bin/bw_bench", f"echo ours $*\nexit {ours}"), ("path/python3", python)]:
                    file = os.path.join(folder, path)
                    os.makedirs(os.path.dirname(file), exist_ok=True)
                    with open(file, "w", encoding="utf-8") as program:
                        program.write(f"#!/bin/sh\n{text}\n")
                    os.chmod(file, 0o755)
                script = ('set -euo pipefail; source tools/dev/bench.sh; pythons=(python3); '
                          'need_packages() { echo "needs $*"; [ "$1" = build ]; }; '
                          'build_preset() { echo "built $*"; }; run_bench "$@"')
                path = os.path.join(folder, "path") + os.pathsep + os.environ["PATH"]
                done = subprocess.run(["bash", "-c", script, "bench", *options], cwd=folder, capture_output=True, text=True,
                                      check=False, env={**os.environ, "PATH": path})
                return done.returncode, done.stdout
        status, out = bench(0, 0)
        self.assertEqual(status, 1)
        self.assertRegex(out, rf"\A{both}ours\n(.*\n)+{gemm_ran}\n(.*\n)+{sort}\n\Z")
        # A part alone runs none, unless it is asked for.
        for part in (["--quick"], ["--group", "sort"], ["--filter=f32"], ["--list"], ["--no-peers"], ["--peers", "--list"]):
            asked = " ".join(["ours", *(option for option in part if "peers" not in option)])
            self.assertEqual(bench(0, 0, *part), (0, f"needs build\nbuilt release bw_bench\n{asked}\n"))
        out = bench(0, 0, "--peers", "--quick", "--threads=1", "--json", "a/b.json")[1]
        self.assertIn("ours --quick --threads=1 --json a/b.json\n", out)
        self.assertIn(f"{gemm_ran} --rounds 3 --threads 1 --json a/b-openblas.json\n", out)
        self.assertIn(f"{sort} --rounds 3 --threads 1 --json a/b-sort-numpy.json\n", out)
        self.assertEqual(bench(0, 0, "--json", "-")[1], f"ours --json -\n{gemm_ran} --json -\n{sort} --json -\n")
        # No OpenBLAS, which the program says itself, and no NumPy.
        status, out = bench(3, 1)
        self.assertEqual(status, 0)
        self.assertIn("needs build\nneeds peers\nbuilt release", out)
        self.assertIn("NumPy is not installed", out)
        self.assertEqual(bench(2, 1)[0], 2)
        # A mistake on the command line ends it; an operation that failed does not.
        self.assertEqual(bench(0, 0, "--rubbish", ours=2), (2, both + "ours --rubbish\n"))
        self.assertEqual(bench(0, 1, ours=1)[0], 1)

    # On a machine where nothing is installed, as dpkg-query has it.
    def test_setup_names_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "dpkg-query")
            with open(fake, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nexit 1\n")
            os.chmod(fake, 0o755)
            path = folder + os.pathsep + os.environ["PATH"]
            for arguments, packages in [(["setup"], ["g++", "cmake", "libgtest-dev", "clang-format-19"]),
                                        (["setup", "--full"], ["g++", "clang-format-19", "clang-tidy-19", "hipcc",
                                                               "libclang-rt-19-dev", "qemu-user"])]:
                status, _, error = dev(*arguments, PATH=path)
                self.assertEqual(status, 3)
                self.assertRegex(error, r"\Adev: missing: ")
                self.assertEqual([name for name in packages if name not in error.split()], [])


if __name__ == "__main__":
    unittest.main()
