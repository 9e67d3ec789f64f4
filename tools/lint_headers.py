#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every header of include/ and src/ compiles alone, with the project's warnings as errors. One that its own
source (the same name, .cc) includes before anything else does so in every build, and is not compiled here.

A header that compiled is remembered in CACHE under a hash of itself, of all our headers it reads, of the
compiler and of the flags, so that a second run compiles only what changed.

usage: lint_headers.py [--root FOLDER] [--cache FILE] [--compiler g++] [--jobs N]
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
         "-ffp-contract=off", "-fwrapv", "-DBW_ISA=isa_base", "-DBW_ISA_base=1", "-Isrc", "-Iinclude"]


# Headers that only GPU kernels include are read by the compiler of kernels, for a chip of each vendor; what they
# share with the host is not.
KERNEL_FLAGS = ["--cuda-device-only", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                "-Wno-bitwise-conditional-parentheses", "-Wno-bitwise-instead-of-logical", "-Wno-unknown-cuda-version", "-fdeclspec",
                "-ffp-contract=off", "-Isrc", "-Iinclude"]
KERNEL_COMPILERS = [
    ["clang++-19", "-x", "hip", "--offload-arch=gfx1100", "-nogpuinc", "-nogpulib", *KERNEL_FLAGS],
    ["clang++-19", "-x", "cuda", "--cuda-gpu-arch=sm_90a", "--cuda-feature=+ptx80", "-nocudainc", "-nocudalib",
     *KERNEL_FLAGS],
]


def is_for_kernels(header):
    return header.startswith("src/kernels/") and not header.endswith("args.h")


def headers(root):
    for top in ("include", "src"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(".h"):
                    yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def opens_its_source(root, header):
    """Whether the first thing that the header's own source says to the compiler is to include it."""
    try:
        with open(os.path.join(root, header[:-2] + ".cc"), encoding="utf-8") as file:
            code = (line for line in file if line.strip() and not line.startswith("//"))
            return next(code, "").strip() == f'#include "{header.partition("/")[2]}"'
    except OSError:
        return False


def state_of(root, base, paths):
    """A hash of the files' names and contents; None when one of them is gone."""
    digest = hashlib.sha256(base.encode())
    for path in paths:
        try:
            with open(os.path.join(root, path), "rb") as file:
                digest.update(path.encode() + b"\0" + file.read())
        except OSError:
            return None
    return digest.hexdigest()


def compile_alone(root, compiler, header):
    """(the files of ours it read, the compiler's complaint or "")."""
    ours = set()
    for command in KERNEL_COMPILERS if is_for_kernels(header) else [[compiler, *FLAGS, "-x", "c++"]]:
        with tempfile.TemporaryDirectory() as scratch:
            depends = os.path.join(scratch, "depends")
            # Through a one-line source: a header given as the main file warns about #pragma once.
            run = subprocess.run([*command, "-MD", "-MF", depends, "-MT", "x", "-"], cwd=root,
                                 input=f'#include "{header}"\n', capture_output=True, text=True)
            if run.returncode != 0:
                return [], run.stderr
            with open(depends, encoding="utf-8") as file:
                read = file.read().replace("\\\n", " ").split()[1:]
        ours |= {os.path.normpath(path).replace(os.sep, "/") for path in read if not os.path.isabs(path) and path != "-"}
    return sorted(ours), ""


def check(root, compiler, cache_file, jobs):
    """(number of headers, number compiled now, {header: complaint})."""
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    base = version.split("\n")[0] + " ".join(FLAGS + KERNEL_FLAGS)
    try:
        with open(cache_file, encoding="utf-8") as file:
            cache = json.load(file)
    except (OSError, ValueError):
        cache = {}
    everything = [header for header in headers(root) if is_for_kernels(header) or not opens_its_source(root, header)]
    stale = [header for header in everything
             if header not in cache or state_of(root, base, cache[header]["reads"]) != cache[header]["state"]]
    failed = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for header, (reads, complaint) in zip(stale, pool.map(lambda h: compile_alone(root, compiler, h), stale)):
            cache.pop(header, None)
            if complaint:
                failed[header] = complaint
            else:
                cache[header] = {"reads": reads, "state": state_of(root, base, reads)}
    os.makedirs(os.path.dirname(cache_file), exist_ok=True)
    with open(cache_file, "w", encoding="utf-8") as file:
        json.dump({header: cache[header] for header in everything if header in cache}, file)
    return len(everything), len(stale), failed


def main():
    root = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=root)
    parser.add_argument("--cache", help="default: build/lint/headers.json under the root")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cache = args.cache or os.path.join(args.root, "build", "lint", "headers.json")
    count, compiled, failed = check(args.root, args.compiler, cache, args.jobs)
    for header, complaint in failed.items():
        print(f"{header}:1: does not compile alone\n{complaint}")
    print(f"headers: {count}, {compiled} compiled now, {len(failed)} do not compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
