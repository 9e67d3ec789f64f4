#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the sources that the release build compiles, several at a time.

Without --all only files that differ from the main branch are read (and those whose headers differ). A source
that was clean is remembered, for every clone, under a hash of all our files it reads and of the .clang-tidy files above
them. Each CPU loop is read once, as its AVX2 level.

usage: lint_tidy.py [--all] [--build build] [--jobs N] [FILE...]
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys

from remembered import Remembered

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TIDY = "clang-tidy-19"
# The compile commands are g++'s: what clang does not know, and what cmake/flags.cmake gives clang.
GCC_ONLY = ("-fvect-cost-model=", "--param=")
CLANG_ONLY = ("-Wno-unknown-warning-option", "-Wno-bitwise-instead-of-logical", "-Wno-bitwise-conditional-parentheses",
              "-Wno-deprecated-declarations",
              # clang itself knows reserved names in a quarter of the time that clang-tidy's own check takes. As an
              # error of the compiler it would not ask a folder's .clang-tidy.
              "-Wreserved-identifier", "-Wno-error=reserved-identifier")


def commands(build):
    """{source from the root: (folder, compile command)}; for the CPU loops the AVX2 one."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        if source.startswith("..") or source.startswith("build"):
            continue
        if "-DBW_ISA=isa_v4" in entry["command"] or (source in found and "isa_v3" not in entry["command"]):
            continue
        found[source.replace(os.sep, "/")] = (entry["directory"], shlex.split(entry["command"]))
    return found


def without_output(command):
    """The command's preprocessor and language flags: no -c, -o OUTPUT, no source file, no headers compiled before."""
    kept, skip = [command[0]], False
    for argument in command[1:-1]:
        if skip or argument in ("-c", "-Winvalid-pch", "-fpch-preprocess"):
            skip = False
        elif argument in ("-o", "-include"):
            skip = True
        else:
            kept.append(argument)
    return kept


def reads(source, folder, command):
    """Our files that the source reads and the .clang-tidy files above them, from the root."""
    run = subprocess.run(without_output(command) + ["-MM", os.path.join(ROOT, source)], cwd=folder,
                         capture_output=True, text=True)
    if run.returncode != 0:
        return None
    paths = run.stdout.replace("\\\n", " ").split()[1:]
    ours = (os.path.relpath(os.path.join(folder, path), ROOT).replace(os.sep, "/") for path in paths)
    ours = {path for path in ours if not path.startswith("..")}
    return sorted(ours | configs_above(ours))


def configs_above(paths):
    """The .clang-tidy files of all folders that hold the paths: names in a header follow the header's."""
    folders = {""}
    for path in paths:
        while path := os.path.dirname(path):
            folders.add(path + "/")
    return {folder + ".clang-tidy" for folder in folders if os.path.exists(os.path.join(ROOT, folder, ".clang-tidy"))}


def state_of(base, paths):
    digest = hashlib.sha256(base)
    for path in paths:
        with open(os.path.join(ROOT, path), "rb") as file:
            digest.update(path.encode() + b"\0" + file.read())
    return digest.hexdigest()


def changed_files():
    """Files that differ from where this branch left main (or the last commit), new ones included."""
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    base = next((run.stdout.strip() for run in (git("merge-base", "HEAD", name) for name in
                                                ("origin/main", "main", "origin/master", "master"))
                 if run.returncode == 0), "HEAD")
    names = git("diff", "--name-only", base).stdout.split("\n")
    names += git("ls-files", "--others", "--exclude-standard").stdout.split("\n")
    return {name for name in names if name}


def look(source, folder, command, base, clean, wanted):
    """(source, complaint); clean, a Remembered, keeps what needs no second look."""
    paths = reads(source, folder, command)
    if paths is None:
        return source, "its includes could not be read"
    if wanted is not None and not wanted.intersection(paths):
        return source, ""
    state = state_of(base + " ".join(command).replace(ROOT, ".").encode(), paths)
    if clean.get(state) is not None:
        return source, ""
    flags = [flag for flag in without_output(command)[1:] if not flag.startswith(GCC_ONLY)]
    run = subprocess.run([TIDY, "--quiet", source, "--", *flags, *CLANG_ONLY], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        return source, run.stdout + run.stderr
    clean.put(state)
    return source, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    found = commands(args.build)
    base = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout + " ".join(CLANG_ONLY).encode()
    clean = Remembered("tidy")
    clean.forget_old()
    wanted = None if args.all else set(args.files) or changed_files()
    failed = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tasks = [pool.submit(look, source, *where, base, clean, wanted) for source, where in sorted(found.items())]
        for number, task in enumerate(concurrent.futures.as_completed(tasks), 1):
            source, complaint = task.result()
            if complaint:
                failed.append(source)
                print(complaint, flush=True)
            if number % 20 == 0:
                print(f"tidy: {number} of {len(tasks)} sources", flush=True)
    for source in sorted(failed):
        print(f"tidy: not clean: {source}")
    print(f"tidy: {len(found)} sources, {len(failed)} not clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
