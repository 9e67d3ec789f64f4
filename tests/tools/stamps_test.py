# SPDX-License-Identifier: Apache-2.0
"""The chips that run another chip's code (BW_AMD_STAMPS_* of cmake/kernels.cmake): the compiler makes the same code for
them, or LLVM's guide to the AMDGPU backend lists both under one generic target, whose code runs on every chip of it. The
objects that the build stamps for them are those that the assembler makes.
"""
import concurrent.futures
import os
import re
import tempfile
import unittest

from kernel_compiler import CLANG, ROOT, assembly, kernels

SOURCES = ("fill.cc", "gemm_mma.cc")  # one plain, one with what families do differently, where they have it
# "Generic processor" tables of the guide, code object version 6.
GENERIC = [{"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"},
           {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"},
           {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152"},
           {"gfx1200", "gfx1201"}]


def stamps():
    """{chip whose code it is: the other chips}."""
    with open(os.path.join(ROOT, "cmake", "kernels.cmake"), encoding="utf-8") as file:
        return {base: chips.split() for base, chips in re.findall(r"set\(BW_AMD_STAMPS_(gfx\w+) ([^)]*)\)", file.read())}


def has(base, source):
    """Whether a target has a module: BW_ONLY_* of cmake/kernels.cmake tells of those that not all have."""
    with open(os.path.join(ROOT, "cmake", "kernels.cmake"), encoding="utf-8") as file:
        only = dict(re.findall(r'set\(BW_ONLY_(\w+) "([^"]*)"\)', file.read()))
    return re.search(only.get(source.removesuffix(".cc"), ""), base) is not None


def code_for(chip, source):
    """The assembly text without the chip's name and without the hash that clang makes of the command."""
    return [line.replace(chip, "CHIP") for line in assembly(chip, source).splitlines() if "__hip_cuid" not in line]


def assembled(text, base, chip):
    """The object of assembly text that was written for `base`, with the name of `chip` in place of its."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = os.path.join(folder, "module.s"), os.path.join(folder, "module.co")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace(f"amdgcn-amd-amdhsa--{base}", f"amdgcn-amd-amdhsa--{chip}"))
        kernels.run([CLANG, "-x", "assembler", "--target=amdgcn-amd-amdhsa", f"-mcpu={chip}", "-nogpulib", source, "-o", made])
        with open(made, "rb") as file:
            return file.read()


class Stamps(unittest.TestCase):
    def test_there_are_some(self):
        self.assertIn("gfx1032", stamps()["gfx1030"])

    def test_modules_that_not_all_targets_have(self):
        self.assertTrue(has("gfx1200", "gemm_mma.cc"))
        self.assertFalse(has("gfx1030", "gemm_mma.cc"))
        self.assertTrue(has("gfx1030", "fill.cc"))

    def test_chips_are_of_one_generic_target(self):
        for base, chips in stamps().items():
            group = next(group for group in GENERIC if base in group)
            self.assertLessEqual(set(chips), group, base)

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_the_compiler_makes_the_same_code(self):
        # Chips of gfx11 differ in what needs a workaround; gfx1102 needs them all, as the generic target does.
        tasks = [(base, source, chips) for base, chips in stamps().items()
                 if base != "gfx1102" for source in SOURCES if has(base, source)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (base, source, _), others in zip(tasks, pool.map(self.differing, tasks)):
                self.assertEqual(others, [], f"{source}: not the code of {base}")

    @unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
    def test_stamped_objects_are_those_of_the_assembler(self):
        tasks = [(base, source, chips) for base, chips in stamps().items()
                 for source in SOURCES if has(base, source)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (base, source, _), others in zip(tasks, pool.map(self.other_bytes, tasks)):
                self.assertEqual(others, [], f"{source}: not what is stamped on {base}")

    @staticmethod
    def other_bytes(task):
        base, source, chips = task
        text = assembly(base, source)
        others, data = [], assembled(text, base, base)
        for chip in chips:
            stamped = bytearray(data)
            for at, byte in kernels.stamp(data, base, chip):
                stamped[at] = byte
            if stamped != assembled(text, base, chip):
                others.append(chip)
        return others

    def test_a_name_that_does_not_fit(self):
        with self.assertRaisesRegex(SystemExit, "gfx90c: its name does not fit in gfx1030's objects"):
            kernels.stamp(b"amdgcn-amd-amdhsa--gfx1030", "gfx1030", "gfx90c")

    @staticmethod
    def differing(task):
        base, source, chips = task
        code = code_for(base, source)
        return [chip for chip in chips if code_for(chip, source) != code]


if __name__ == "__main__":
    unittest.main()
