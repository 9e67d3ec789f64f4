# SPDX-License-Identifier: Apache-2.0
"""Which chips have which matrix units stands in three places that must agree: for the host in
src/backends/gpu/matrix_units.cc, for builds in BW_ONLY_* of cmake/kernels.cmake, for kernels in src/kernels/mma."""
import concurrent.futures
import os
import re
import subprocess
import unittest

from kernel_compiler import CLANG, ROOT, kernels

# Unit: the modules that need it, and what src/kernels/mma multiplies on it.
UNITS = {"kHalfUnit": (("gemm_mma", "conv_mma", "gemm_mma_bytes"), ("f16", "bf16")),
         "kByteUnit": (("gemm_mma_bytes",), ("uint8_t",)),
         "kF64Unit": (("gemm_mma_f64",), ("double",)),
         "kTf32Unit": (("gemm_mma_tf32",), ("Tf32",))}
NVIDIA = ("ptx_80", "ptx_90a", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
# Chips that a compiler may know and no list names.
OTHERS = ("gfx803", "gfx904", "gfx909", "gfx90b", "gfx1010", "gfx1012", "gfx1104", "gfx1153", "gfx1202", "gfx1250", "gfx1251")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def hosts_units():
    """{AMD's chip: the units of the host's table}, with names of several units resolved."""
    text = read("src", "backends", "gpu", "matrix_units.cc")
    narrow = set(re.search(r"kNarrow = ([^;]*);", text).group(1).split(" | "))
    return {chip: narrow | (set(units.split(" | ")) - {"kNarrow"})
            for chip, units in re.findall(r'\{"(gfx\w+)", ([^}]*)\}', text)}


def builds_modules():
    """{module: the pattern of the targets that have it}."""
    text = read("cmake", "kernels.cmake")
    found = dict(re.findall(r"^set\(BW_ONLY_(\w+) (.*)\)$", text, re.MULTILINE))
    resolved = {}
    for module, value in found.items():
        other = re.fullmatch(r"\$\{BW_ONLY_(\w+)\}", value)
        resolved[module] = resolved[other.group(1)] if other else value.strip('"')
    return resolved


def chips():
    """All chips of AMD's that any list names, and some that none does."""
    named = re.findall(r"gfx\w+", "".join(re.findall(r"set\(BW_AMD_\w+ [^)]*\)", read("cmake", "kernels.cmake"))))
    in_kernels = re.findall(r"__(gfx\w+?)__", read("src", "kernels", "mma", "lanes.h") + read("src", "kernels", "mma", "mfma.h"))
    return sorted({*named, *in_kernels, *hosts_units(), *OTHERS})


def compiles(task):
    chip, types = task
    source = '#include "kernels/mma/mma.h"\nnamespace beeswax::gpu {\n'
    source += "".join(f"using U{i} = Mma<{of}>::Sum;\n" for i, of in enumerate(types)) + "}\n"
    command = [CLANG, *kernels.clang_flags(chip), f"-I{ROOT}/src", f"-I{ROOT}/include", "-fsyntax-only", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).returncode == 0


class MatrixUnits(unittest.TestCase):
    def test_the_lists_are_read(self):
        host, modules = hosts_units(), builds_modules()
        self.assertEqual(host["gfx942"], set(UNITS))
        self.assertEqual(host["gfx1100"], {"kHalfUnit", "kByteUnit"})
        self.assertEqual(set(modules), {module for needing, _ in UNITS.values() for module in needing})
        self.assertIn("gfx1036", chips())
        self.assertIn("gfx940", chips())

    def test_builds_have_what_the_host_asks_for(self):
        host, modules = hosts_units(), builds_modules()
        for chip in (*chips(), *NVIDIA):
            units = host.get(chip, set(UNITS) if chip in NVIDIA else set())
            for unit, (needing, _) in UNITS.items():
                for module in needing:
                    self.assertEqual(re.search(modules[module], chip) is not None, unit in units, f"{module} for {chip}")

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_kernels_have_what_the_host_asks_for(self):
        host, tasks = hosts_units(), []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            known = [chip for chip, knows in zip(chips(), pool.map(compiles, [(chip, ()) for chip in chips()])) if knows]
            self.assertIn("gfx942", known)
            for chip in known:
                units = host.get(chip, set())
                has = [of for unit in UNITS if unit in units for of in UNITS[unit][1]]
                tasks += [((chip, has), True)] if has else []
                tasks += [((chip, (of,)), False) for unit in UNITS if unit not in units for of in UNITS[unit][1]]
            for (task, expected), found in zip(tasks, pool.map(compiles, [task for task, _ in tasks])):
                self.assertEqual(found, expected, f"Mma of {task[1]} for {task[0]}")


if __name__ == "__main__":
    unittest.main()
