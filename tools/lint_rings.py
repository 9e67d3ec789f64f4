#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom. Each ring of src/ may include itself and the rings named beside it in RINGS; the
order is drawn in src/README.md. Prints file:line and the broken ring for each include that does not fit.

usage: lint_rings.py [--root FOLDER]
"""
import argparse
import os
import re
import sys

# Ring: the rings it may include besides itself. The public headers are part of core.
_CORE = {"tables"}
_QUANT = _CORE | {"core"}
_BACKENDS = _QUANT | {"quant"}
_OPS = _BACKENDS | {"backends"}
_ABOVE_OPS = _OPS | {"ops"}
_MODELS = _ABOVE_OPS | {"autograd", "nn", "io", "text"}
_GENERATE = _MODELS | {"models"}
_SERVE = _GENERATE | {"generate"}
_EDGE = _SERVE | {"serve"}
RINGS = {
    "tables": set(),
    "core": _CORE,
    "io": _CORE | {"core"},
    "text": _CORE | {"core"},
    "quant": _QUANT,
    "backends": _BACKENDS,
    "kernels": {"tables", "math", "quant"},
    "ops": _OPS,
    "autograd": _ABOVE_OPS,
    "nn": _ABOVE_OPS,
    "models": _MODELS,
    "generate": _GENERATE,
    "serve": _SERVE,
    "capi": _EDGE | {"c-header"},
    "bench": _EDGE,
    "cli": _EDGE | {"bench"},  # `beeswax bench` measures beside the same ceilings
    "python": _EDGE,
    "c-header": set(),
    "emu": set(),
    "examples": set(),
}
# Code shared with GPU compilers: src/core/math and the two public headers it stands on.
SHARED_HEADERS = {"beeswax/portable.h", "beeswax/half.h"}
SHARED_SYSTEM = {"cstdint", "cstddef", "type_traits"}
# Arguments of kernels are one struct for the host that fills it and the kernel that reads it.
ARGUMENT_HEADERS = re.compile(r"src/kernels/(\w+_)?args\.h$")
# Only src/core/os talks to the operating system.
OS_HEADERS = re.compile(r"(dlfcn|pthread|sched|unistd|fcntl|windows|termios)\.h$|sys/\w+\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def ring_of(path):
    """The ring of a file of ours, by its path from the root; None where the rings do not rule (tests)."""
    parts = path.split("/")
    if path == "include/beeswax.h":
        return "c-header"
    if path in ("include/beeswax/portable.h", "include/beeswax/half.h", "src/core/philox.h",
                "src/core/random_numbers.h") or path.startswith("src/core/math/"):
        return "math"
    if parts[0] == "include":
        return "core"
    if parts[0] == "src":
        return parts[1]
    return parts[0] if parts[0] in RINGS else None


def target_of(root, path, name):
    """The file of ours that `#include "name"` in `path` means, from the root; None for anything else."""
    for folder in ("src", "include", os.path.dirname(path), "."):
        candidate = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def judge(root, path, kind, name):
    """What is wrong with this include, or None."""
    ring = ring_of(path)
    if kind == "<" and OS_HEADERS.search(name) and not path.startswith(("src/core/os/", "emu/")):
        return f"<{name}> is for src/core/os only"
    if ring == "math" and kind == "<" and name not in SHARED_SYSTEM:
        return f"<{name}> in code shared with GPU compilers (allowed: {', '.join(sorted(SHARED_SYSTEM))})"
    target = target_of(root, path, name)
    if target is None:
        return None if kind == "<" else f'"{name}" is not a file of the tree (paths are relative to src/ or include/)'
    if kind == "<":
        return f"<{name}> is ours: include it with quotes"
    if ".." in name.split("/"):
        return f'"{name}": paths are relative to src/ or include/'
    other = ring_of(target)
    if path.startswith("include/") and not target.startswith(("include/", "src/tables/")):
        return f'"{name}" is not installed: public headers include public headers and tables only'
    if ring == "math":
        return None if other == "math" else f'"{name}": shared math includes only itself, portable.h and half.h'
    if ring == "backends" and ARGUMENT_HEADERS.search(target):
        return None
    if ring in ("kernels", "examples"):
        if ring == other or other in RINGS[ring] or (ring == "examples" and target.startswith("include/")):
            return None
    elif other == ring or other in RINGS[ring] or (other == "math" and (ring == "core" or "core" in RINGS[ring])):
        return None
    allowed = ", ".join(sorted(RINGS[ring])) or "nothing of ours"
    return f'ring {ring} includes "{name}" of ring {other or "tests"}; {ring} may include: {allowed}'


def sources(root):
    for top in ("include", "src", "cli", "python", "emu", "examples"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".h", ".cc", ".def", ".c", ".inc")):
                    yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def check(root):
    """(number of files, list of "file:line: message")."""
    problems, count = [], 0
    for path in sources(root):
        count += 1
        ring = ring_of(path)
        if ring != "math" and ring not in RINGS:
            problems.append(f"{path}:1: folder '{ring}' is in no ring; name it in tools/lint_rings.py")
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = INCLUDE.match(line)
                message = judge(root, path, *match.groups()) if match else None
                if message:
                    problems.append(f"{path}:{number}: {message}")
    return count, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    count, problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    print(f"rings: {count} files, {len(problems)} includes that do not fit")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
