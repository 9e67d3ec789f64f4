#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every libFuzzer target of a folder for a bounded time, starting from its committed corpus
(tests/fuzz/corpus/NAME). What a run finds stays in FOLDER/work/NAME and, where it is a fault, in
FOLDER/faults. Fails if a target reports a fault or runs no input.

usage: run_fuzz.py [--seconds N] [--jobs N] FOLDER
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def run_target(folder, name, seconds):
    """(name, inputs run, exit status, last lines of output)."""
    work = os.path.join(folder, "work", name)
    faults = os.path.join(folder, "faults", "")
    corpus = os.path.join(ROOT, "tests", "fuzz", "corpus", name)
    os.makedirs(work, exist_ok=True)
    os.makedirs(faults, exist_ok=True)
    run = subprocess.run(
        [os.path.join(folder, name), f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={faults}{name}-", work] + ([corpus] if os.path.isdir(corpus) else []),
        capture_output=True, text=True, errors="replace")
    inputs = re.search(r"number_of_executed_units:\s*(\d+)", run.stderr)
    return name, int(inputs.group(1)) if inputs else 0, run.returncode, run.stderr.splitlines()[-60:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("folder")
    args = parser.parse_args()
    names = sorted(name for name in os.listdir(args.folder)
                   if name.endswith("_fuzz") and os.access(os.path.join(args.folder, name), os.X_OK))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, inputs, status, tail in pool.map(lambda n: run_target(args.folder, n, args.seconds), names):
            good = status == 0 and inputs > 0
            print(f"{name}: {inputs} inputs in {args.seconds} s, {'no fault' if good else 'FAULT'}", flush=True)
            if not good:
                failed += 1
                print("\n".join(tail))
    print(f"fuzz: {len(names)} targets, {failed} with faults")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
