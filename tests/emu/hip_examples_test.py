#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds examples/hip as anybody builds a HIP program, by the distribution's hipcc with its headers and library, and
runs it on the software AMD GPU by LD_LIBRARY_PATH alone; the programs of examples/hip/faults must be found out. Exits
with 77 (skipped) where the packages are missing.

usage: hip_examples_test.py SOURCE_FOLDER BUILD_FOLDER
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

# One chip with waves of 64 and one with waves of 32, both known to the distribution's device library.
CHIPS = ["gfx90a", "gfx1030"]
SKIPPED = 77
# What a fault's report says: the level of checking that finds it (none: every one), and parts of the report.
REPORTS = {
    "assert": ("none", [r"assert\.hip:\d+: void halve\(int \*, int\): Device-side assertion `values\[i\] % 2 == 0' failed\.",
                        r"trap in kernel halve\(int\*, int\)", r"work-group   \(1, 0, 0\)", r"s_trap.* at __assert_fail"]),
    "bounds": ("bounds", [r"access outside an allocation in kernel scale\(float\*, float, int\)", "read of 4 bytes: right past",
                          r"work-group   \(3, 0, 0\)", "load_dword"]),
    "race": ("race", [r"data race in kernel add_tiles\(int const\*, int\*\)", "nothing that orders them",
                      r"work-group   \(0, 0, 0\)", r"ds_(read|write)_b32"]),
    "heap": ("bounds", [r"access outside an allocation in kernel fill\(Row\*, int\)", "write of 4 bytes: right past the end of an allocation",
                        r"store_dword"]),
    "leaves": ("none", [r"barrier that not every wave reaches in kernel total\(int const\*, int\*, int\*, int\)",
                      r"group \([567], 0, 0\) has ended without it", "ds_gws_barrier"]),
    "wait": ("strict", [r"result used before its wait in kernel twice\(int const\*, int\*\)", r"work-group   \(0, 0, 0\)",
                        "v_lshlrev_b32"]),
}
ALWAYS = ["address      0x", r"wave, lane   \d+", r"instruction  \w+ .*at \w+\+0x[0-9a-f]+", "until hipDeviceReset"]


def build(hipcc, path, folder):
    program = os.path.join(folder, os.path.basename(path)[:-4])
    subprocess.run([hipcc, "-O2", *[f"--offload-arch={chip}" for chip in CHIPS], path, "-o", program], check=True)
    return program


def run(program, build_folder, chip, **more):
    # With LD_BIND_NOW the loader looks for every symbol, and complains on standard error where a version is missing.
    names = os.path.join(build_folder, "lib-hip")
    environment = {**os.environ, "LD_LIBRARY_PATH": names, "BEESWAX_EMU_DEVICES": chip, "LD_BIND_NOW": "1", **more}
    return subprocess.run([program], env=environment, capture_output=True, text=True, timeout=300, check=False)


class Checks:
    def __init__(self):
        self.failed = 0

    def expect(self, good, text):
        if not good:
            print(f"FAILED: {text}")
            self.failed += 1


def check_example(checks, program, build_folder):
    name = os.path.basename(program)
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    checks.expect(re.search(r"NEEDED.*libamdhip64\.so\.\d", needed), f"{name} is linked against AMD's library: {needed}")
    for chip in CHIPS:
        done = run(program, build_folder, chip)
        print(f"{name} on {chip}: {done.stdout.strip()}")
        checks.expect(done.returncode == 0 and done.stderr == "", f"{name} on {chip}: {done.returncode} {done.stderr}")
    wrong = run(program, build_folder, "gfx1100")
    # A launch says the one, access to a variable the other.
    said = "invalid device function" in wrong.stderr or "no kernel image" in wrong.stderr
    checks.expect(wrong.returncode != 0 and said, f"{name}: no code for gfx1100, and it says {wrong.stderr}")


def check_fault(checks, program, build_folder):
    name = os.path.basename(program)
    level, parts = REPORTS[name]
    below = {"none": None, "bounds": "none", "race": "bounds", "strict": "race"}[level]
    for chip in CHIPS:
        found = run(program, build_folder, chip, BEESWAX_EMU_CHECK=level)
        print(f"{name} on {chip}:\n{found.stderr}")
        checks.expect(found.returncode != 0, f"{name} on {chip} ran to its end")
        # Registers, assertions and barriers have no address.
        for part in parts + (ALWAYS if name not in ("wait", "assert", "leaves") else ALWAYS[1:]):
            checks.expect(re.search(part, found.stderr), f"{name} on {chip}: no /{part}/ in the report")
        if below is None:
            continue
        unseen = run(program, build_folder, chip, BEESWAX_EMU_CHECK=below)
        checks.expect("beeswax_emu" not in unseen.stderr, f"{name}: `{below}` does not look for this: {unseen.stderr}")


def main():
    source, build_folder = sys.argv[1:3]
    hipcc = shutil.which("hipcc")
    if hipcc is None or not glob.glob("/usr/include/hip/hip_runtime.h"):
        print("skipped: no HIP compiler or headers here; install the packages hipcc and libamdhip64-dev")
        return SKIPPED
    checks = Checks()
    examples = sorted(glob.glob(os.path.join(source, "examples/hip/*.hip")))
    faults = sorted(glob.glob(os.path.join(source, "examples/hip/faults/*.hip")))
    checks.expect(len(examples) >= 8 and len(faults) == len(REPORTS), f"{examples} {faults}")
    with tempfile.TemporaryDirectory() as folder:
        for path in examples:
            check_example(checks, build(hipcc, path, folder), build_folder)
        for path in faults:
            check_fault(checks, build(hipcc, path, folder), build_folder)
        table = run(os.path.join(folder, "vector_add"), build_folder, "gfx1030", BEESWAX_EMU_COUNTERS="-").stderr
        checks.expect("work-groups" in table, f"no table of counters:\n{table}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
