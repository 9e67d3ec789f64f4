# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which a tool may change rows and build, without touching the original. The copy stays
between runs, and files keep their times while their text stays the same, so the next build is incremental. The
build has no optimization and the plain loops only: it is for asking what the code does, not how fast."""
import os
import shutil
import subprocess

import tables

FOLDERS = ("cmake", "include", "src", "cli", "models", "tests", "bench", "tools", "examples")
FILES = ("CMakeLists.txt", "CMakePresets.json")
SKIP = {"__pycache__", "results", "corpus"}


def _paths(root):
    for name in FILES:
        yield name
    for top in FOLDERS:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders[:] = [name for name in folders if name not in SKIP]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), root)


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


class ScratchTree:
    """The copy under `folder`/tree, built in `folder`/build."""

    def __init__(self, folder, root=tables.ROOT):
        self.root, self.tree, self.build = root, os.path.join(folder, "tree"), os.path.join(folder, "build")

    def write(self, changed):
        """Makes the copy equal to the tree, except for `changed`: {path: text}."""
        wanted = set()
        for path in _paths(self.root):
            wanted.add(path)
            text = changed[path].encode() if path in changed else _read(os.path.join(self.root, path))
            target = os.path.join(self.tree, path)
            if _read(target) != text:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text)
                shutil.copymode(os.path.join(self.root, path), target)
        for path in list(_paths(self.tree)):
            if path not in wanted and os.path.exists(os.path.join(self.tree, path)):
                os.remove(os.path.join(self.tree, path))

    def changed_lines(self):
        """{path: (lines added, lines removed)} of the copy against the tree, as git counts them."""
        counts = {}
        for top in FOLDERS + FILES:
            ours, copy = os.path.join(self.root, top), os.path.join(self.tree, top)
            if not (os.path.exists(ours) and os.path.exists(copy)):
                continue
            run = subprocess.run(["git", "diff", "--no-index", "--numstat", "-z", "--no-renames", ours, copy],
                                 capture_output=True, text=True)
            fields = run.stdout.split("\0")
            # With -z and two names a record is "added TAB removed TAB", old name, new name.
            for counted, old, new in zip(fields[0::3], fields[1::3], fields[2::3]):
                added, removed = counted.split("\t")[:2]
                # A file that only one side has is compared with the null device.
                path = os.path.relpath(old, self.root) if new == os.devnull else os.path.relpath(new, self.tree)
                if not SKIP.intersection(path.split(os.sep)):
                    counts[path] = (added, removed)
        return counts

    def make(self, targets, jobs, flags="", kernels="gfx1100"):
        """Builds, with more compiler flags and GPU kernels for these targets; returns the build's output if it
        failed, else None."""
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            shutil.rmtree(self.build, ignore_errors=True)
            run = subprocess.run(
                ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_FLAGS=" + flags, "-DBW_ONE_ISA=ON", "-DBW_EMU=OFF",
                 "-DBW_GPU_TARGETS=" + kernels], capture_output=True, text=True)
            if run.returncode != 0:
                return run.stdout + run.stderr
        run = subprocess.run(["cmake", "--build", self.build, "-j", str(jobs), "--target", *targets],
                             capture_output=True, text=True)
        return run.stdout + run.stderr if run.returncode != 0 else None

    def run(self, program, *arguments, environment=None):
        """(exit status, output) of a program of the build, with these variables besides."""
        run = subprocess.run([os.path.join(self.build, program), *arguments], capture_output=True, text=True,
                             errors="replace", env=dict(os.environ, **(environment or {})))
        return run.returncode, run.stdout + run.stderr
