#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds examples/hip/*.hip as any HIP program is built, against the distribution's HIP headers and library, and runs
them on the software AMD GPU by LD_LIBRARY_PATH alone. Exits with 77 (skipped) where the packages are missing.

usage: hip_examples_test.py SOURCE_FOLDER BUILD_FOLDER CLANG
EMU_HIP_ROOT: where the packages were unpacked, when not in the system (default: /)
"""
import glob
import os
import subprocess
import sys
import tempfile

# One chip with waves of 64 and one with waves of 32, both known to the distribution's device library.
CHIPS = ["gfx90a", "gfx1030"]
SKIPPED = 77


def find(root, *patterns):
    for pattern in patterns:
        found = sorted(glob.glob(os.path.join(root, pattern)))
        if found:
            return found[0]
    return None


def skip(why):
    print(f"skipped: {why} (packages libamdhip64-dev and rocm-device-libs)")
    sys.exit(SKIPPED)


def environment(build, chip, **more):
    names = os.path.join(build, "lib-hip")
    return {**os.environ, "LD_LIBRARY_PATH": names, "BEESWAX_EMU_DEVICES": chip, "LD_BIND_NOW": "1", **more}


def run(program, build, chip, **more):
    return subprocess.run([program], env=environment(build, chip, **more), capture_output=True, text=True, timeout=300)


def main():
    source, build, clang = sys.argv[1:4]
    root = os.environ.get("EMU_HIP_ROOT", "/")
    headers = find(root, "usr/include/hip/hip_runtime.h")
    bitcode = find(root, "usr/lib/*/amdgcn/bitcode", "usr/share/amdgcn/bitcode")
    library = find(root, "usr/lib/*/libamdhip64.so.5")
    if headers is None or bitcode is None or library is None:
        skip("no HIP headers, device library or runtime")
    if not clang:
        skip("no clang++ 19 or newer")
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        programs = []
        for path in sorted(glob.glob(os.path.join(source, "examples/hip/*.hip"))):
            program = os.path.join(scratch, os.path.basename(path)[:-4])
            subprocess.run([clang, "-x", "hip", *[f"--offload-arch={chip}" for chip in CHIPS], "-O2", "-std=c++20",
                            f"--rocm-path={os.path.join(root, 'usr')}", f"--rocm-device-lib-path={bitcode}", "-c", path,
                            "-o", program + ".o"], check=True)
            subprocess.run([clang, program + ".o", "-o", program, library, "-Wl,--allow-shlib-undefined"], check=True)
            programs.append(program)
        assert len(programs) >= 4, programs
        for program in programs:
            name = os.path.basename(program)
            for chip in CHIPS:
                done = run(program, build, chip)
                print(f"{name} on {chip}: {done.stdout.strip()} {done.stderr.strip()}")
                # The loader complains where a symbol's version is missing.
                if done.returncode != 0 or done.stderr:
                    failed += 1
            wrong = run(program, build, "gfx1100")
            # A launch says the one, access to a variable the other.
            said = "invalid device function" in wrong.stderr or "no kernel image" in wrong.stderr
            if wrong.returncode == 0 or not said:
                print(f"{name}: a program without code for gfx1100 must fail there: {wrong.stderr}")
                failed += 1
        table = run(programs[0], build, "gfx1030", BEESWAX_EMU_COUNTERS="-").stderr
        if "work-groups" not in table:
            print(f"no table of counters:\n{table}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
