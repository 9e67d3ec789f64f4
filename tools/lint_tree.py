#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that a text search can check, over the files git knows:
  - every source file has the SPDX line among its first two lines;
  - no source file is longer than 800 lines (a warning above 600);
  - include/ and src/ do not use the type long, whose size differs between systems;
  - no file names an absolute path of somebody's machine;
  - every table of src/tables says in its leading comment what each macro's columns are.

usage: lint_tree.py [--root FOLDER]
"""
import argparse
import os
import re
import subprocess
import sys

SPDX = "SPDX-License-Identifier: Apache-2.0"
SOURCE = re.compile(r"\.(h|hh|cc|c|def|py|sh|cmake|inc)$|(^|/)(CMakeLists\.txt|dev|run)$")
# Data and generated text are not bound by the length rule.
GENERATED = re.compile(r"\.inc$|^docs/")
MAX_LINES, WARN_LINES = 800, 600
LONG = re.compile(r"\blong\b(?!\s+double)")
MACHINE_PATH = re.compile(r"""(^|[\s"'=(:,])/(home|work|root|Users|farm|mnt|srv|tmp)/[\w.]""")
CODE = re.compile(r"\.(h|cc)$")


def without_comments(line):
    """The line without strings and // comments: enough to look for a keyword."""
    return re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))


def files_of(root):
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return sorted({name for name in listed.split("\0") if name and os.path.isfile(os.path.join(root, name))})


def table_problems(path, lines):
    """A table documents itself: BW_NAME(...) must be shown, with its columns, in the comment on top."""
    comment = []
    for line in lines:
        if not line.startswith("//"):
            break
        comment.append(line)
    text = "\n".join(comment)
    for macro in sorted(set(re.findall(r"^#\s*undef\s+(BW_\w+)", "\n".join(lines), re.M))):
        if f"{macro}(" not in text:
            yield f"{path}:1: the leading comment does not explain the columns of {macro}(...)"
    if "#undef" not in "\n".join(lines):
        yield f"{path}:1: the table does not #undef its macro"


def check(root):
    """(number of files, problems, warnings)."""
    problems, warnings, count = [], [], 0
    for path in files_of(root):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except UnicodeDecodeError:
            continue
        count += 1
        for number, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line) and not line.startswith("#!"):
                problems.append(f"{path}:{number}: absolute path of a machine: {line.strip()[:80]}")
        if not SOURCE.search(path):
            continue
        if SPDX not in "\n".join(lines[:2]):
            problems.append(f"{path}:1: no line '{SPDX}'")
        length = len(lines) - 1
        if length > WARN_LINES and not GENERATED.search(path):
            text = f"{path}:{length}: {length} lines; files stay under {WARN_LINES} and never pass {MAX_LINES}"
            (problems if length > MAX_LINES else warnings).append(text)
        if CODE.search(path) and path.startswith(("include/", "src/", "cli/")):
            for number, line in enumerate(lines, 1):
                if LONG.search(without_comments(line)):
                    problems.append(f"{path}:{number}: type long; use int64_t, size_t or ptrdiff_t")
        if path.startswith("src/tables/") and path.endswith(".def"):
            problems += table_problems(path, lines)
    return count, problems, warnings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    count, problems, warnings = check(parser.parse_args().root)
    for warning in warnings:
        print(f"{warning} (warning)")
    for problem in problems:
        print(problem)
    print(f"tree: {count} files, {len(problems)} problems, {len(warnings)} warnings")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
