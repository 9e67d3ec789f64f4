# SPDX-License-Identifier: Apache-2.0
"""The compiler of kernels as the build uses it (tools/kernels/compile.py), for tests of what it makes."""
import os
import shutil
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools", "kernels"))
import compile as kernels  # pylint: disable=wrong-import-position

CLANG = next((found for name in ("clang++-22", "clang++-21", "clang++-20", "clang++-19") if (found := shutil.which(name))), None)


def assembly(target, source, *more):
    """The assembly text of src/kernels/SOURCE for a target."""
    text, _ = kernels.run([CLANG, *kernels.clang_flags(target), *more, f"-I{ROOT}/src", f"-I{ROOT}/include", "-S",
                           os.path.join(ROOT, "src", "kernels", source), "-o", "-"])
    return text
