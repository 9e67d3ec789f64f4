# SPDX-License-Identifier: Apache-2.0
"""Prints what a run of steps came to: a table of times, ctest's counts, the failed tests, and last the line
"N passed, N failed". A step with a ctest record counts its tests, any other step counts as one.

usage: summary.py RESULTS   (steps.tsv: name, seconds, status; NAME.xml: ctest's JUnit record of step NAME)
Exit status 1 if anything failed.
"""
import os
import sys
import xml.etree.ElementTree as ElementTree


def clock(seconds):
    return f"{seconds // 60}:{seconds % 60:02d}"


def read_tests(path):
    """(passed, skipped, names of the failed, [(seconds, name)]) of one JUnit record."""
    passed, skipped, failed, times = 0, 0, [], []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        if status == "run":
            passed += 1
        elif status == "disabled" or (status == "notrun" and "SKIP" in case.find("skipped").get("message", "")):
            skipped += 1
        else:
            failed.append(case.get("name"))
        times.append((float(case.get("time") or 0), case.get("name")))
    return passed, skipped, failed, times


def main():
    results = sys.argv[1]
    with open(os.path.join(results, "steps.tsv"), encoding="utf-8") as file:
        steps = [line.rstrip("\n").split("\t") for line in file]
    passed, failures, slowest = 0, [], []
    print(f"\n{'step':<16}{'time':>8}  result")
    for name, seconds, status in steps:
        record = os.path.join(results, name + ".xml")
        note = status
        if os.path.exists(record):
            run_passed, skipped, failed, times = read_tests(record)
            passed += run_passed
            failures += [f"{name}: {test}" for test in failed]
            slowest += [(seconds, f"{name}: {test}") for seconds, test in times]
            note = f"{status}  {run_passed} of {run_passed + len(failed)} tests passed"
            note += f", {skipped} skipped" if skipped else ""
            if status != "ok" and not failed:
                failures.append(name)
        elif status == "ok":
            passed += 1
        else:
            failures.append(name)
        print(f"{name:<16}{clock(int(seconds)):>8}  {note}")
    print(f"{'all':<16}{clock(sum(int(seconds) for _, seconds, _ in steps)):>8}")
    for seconds, test in sorted(slowest, reverse=True)[:5]:
        print(f"slow: {seconds:8.1f} s  {test}")
    for failure in failures:
        print(f"failed: {failure}")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
