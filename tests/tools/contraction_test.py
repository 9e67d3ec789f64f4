# SPDX-License-Identifier: Apache-2.0
"""Nobody fuses a product with a sum: a * b + c, compiled as the kernels are (tools/kernels/compile.py), is a multiplication
and an addition in the machine code of every AMD target and in PTX, where both say how they round, so that ptxas and
drivers leave them alone. And the test would see it: with contraction on, every target fuses.
"""
import concurrent.futures
import os
import re
import tempfile
import unittest

from kernel_compiler import CLANG, ROOT, kernels

TYPES = {"f64": "double", "f32": "float", "f16": "_Float16"}
EXPRESSIONS = {"plus": "a[i] * b[i] + c[i]", "minus": "a[i] * b[i] - c[i]", "from": "c[i] - a[i] * b[i]"}
# Two halves to an instruction, sums of several products, halves whose product is added in f32.
MORE = """
typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
KERNEL(pair_f16)(Half2* y, const Half2* a, const Half2* b, const Half2* c) { *y = *a * *b + *c; }
KERNEL(mixed_f16)(float* y, const _Float16* a, const _Float16* b, const float* c) { *y = float(*a) * float(*b) + *c; }
KERNEL(dot_f16)(_Float16* y, const _Float16* a, const _Float16* b, const float* c) {
  *y = _Float16(float(a[0]) * float(b[0]) + float(a[1]) * float(b[1]) + *c);
}
"""
AMD_FUSED = re.compile(r"\b[sv]_(?:pk_|dual_)?(?:fma|mad|mac|dot)\w*f(?:16|32|64)\w*|\bv_\w*mix\w*")
AMD_PRODUCT = re.compile(r"\b[sv]_(?:pk_|dual_)?mul_f(?:16|32|64)")
AMD_SUM = re.compile(r"\b[sv]_(?:pk_|dual_)?(?:add|sub|subrev)_f(?:16|32|64)")
# Without .rn a later compiler may fuse.
PTX_FUSED = re.compile(r"\b(?:fma|mad)\.[\w.]*f(?:16|32|64)\w*|\b(?:mul|add|sub)\.(?!rn\.)(?:ftz\.)?f(?:16|32|64)\w*")
PTX_PRODUCT = re.compile(r"\bmul\.rn\.f(?:16|32|64)")
PTX_SUM = re.compile(r"\b(?:add|sub)\.rn\.f(?:16|32|64)")


def source():
    text = '#define KERNEL(name) extern "C" __attribute__((global)) void name\n'
    for suffix, kind in TYPES.items():
        for name, expression in EXPRESSIONS.items():
            text += (f"KERNEL({name}_{suffix})({kind}* y, const {kind}* a, const {kind}* b, const {kind}* c, int i) "
                     f"{{ y[i] = {expression}; }}\n")
    return text + MORE


def targets():
    """Those of -DBW_GPU_TARGETS=all that the compiler knows, chips that share code by their first, and PTX."""
    with open(os.path.join(ROOT, "cmake", "kernels.cmake"), encoding="utf-8") as file:
        text = file.read()
    lists = {name: chips.split() for name, chips in re.findall(r"set\((BW_AMD_\w+) ([^)]*)\)", text)}
    chips = [chip for name in ("BW_AMD_ALL", "BW_AMD_NEWER") for word in lists[name]
             for chip in (lists[word[2:-1]] if word.startswith("$") else [word])]
    known = " ".join(kernels.run([CLANG, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus"])).split()
    return [chip for chip in chips if chip in known] + ["ptx_80", "ptx_90a"]


def machine_code(target, path, *flags):
    """{kernel: its instructions}."""
    if target.startswith("ptx"):
        text, _ = kernels.run([CLANG, *kernels.clang_flags(target), *flags, "-S", path, "-o", "-"])
        return dict(re.findall(r"\.entry (\w+)\((.*?)\n}", text, re.S))
    objdump = os.path.join(os.path.dirname(os.path.realpath(CLANG)), "llvm-objdump")
    if not os.access(objdump, os.X_OK):
        text, _ = kernels.run([CLANG, *kernels.clang_flags(target), *flags, "-S", path, "-o", "-"])
        return dict(re.findall(r"^(\w+):(.*?)s_endpgm", text, re.S | re.M))
    with tempfile.TemporaryDirectory() as folder:
        code = os.path.join(folder, "code")
        kernels.run([CLANG, *kernels.clang_flags(target), *flags, path, "-o", code])
        text, _ = kernels.run([objdump, "-d", code])
    return dict(re.findall(r"<(\w+)>:\n(.*?)s_endpgm", text, re.S))


@unittest.skipUnless(CLANG, "no clang++ that compiles kernels is installed")
class Contraction(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "products.cc")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            cls.code = dict(zip(targets(), pool.map(lambda target: machine_code(target, path), targets())))
            fused = pool.map(lambda target: machine_code(target, path, "-ffp-contract=fast"), targets())
            cls.fused = dict(zip(targets(), fused))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_products_and_sums_stay_apart(self):
        self.assertGreater(len(self.code), 10)
        for target, functions in self.code.items():
            ptx = target.startswith("ptx")
            self.assertEqual(len(functions), len(TYPES) * len(EXPRESSIONS) + 3, target)
            for name, text in functions.items():
                with self.subTest(target=target, kernel=name):
                    found = (PTX_FUSED if ptx else AMD_FUSED).search(text)
                    self.assertIsNone(found, text)
                    self.assertRegex(text, PTX_PRODUCT if ptx else AMD_PRODUCT)
                    self.assertRegex(text, PTX_SUM if ptx else AMD_SUM)

    def test_contraction_would_be_seen(self):
        for target, functions in self.fused.items():
            pattern = PTX_FUSED if target.startswith("ptx") else AMD_FUSED
            for kind in TYPES:
                for name in EXPRESSIONS:
                    with self.subTest(target=target, kernel=f"{name}_{kind}"):
                        self.assertRegex(functions[f"{name}_{kind}"], pattern)


if __name__ == "__main__":
    unittest.main()
