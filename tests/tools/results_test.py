# SPDX-License-Identifier: Apache-2.0
"""What is said of measurements is what bench/results has: a vendor's library is chosen where it was faster in every case that
was timed, bench/README.md's table is that of the file, PyTorch times our convolutions, and what moves data takes less than
Candle's (../shared/spec/peers.md, where it is there)."""
import glob
import json
import os
import re
import sys
import unittest
from unittest import mock

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "bench", "gpu"), os.path.join(ROOT, "bench", "peers")]
import below_copy  # noqa: E402  pylint: disable=wrong-import-position

PEERS = os.path.join(ROOT, "..", "shared", "spec", "peers.md")
ARCH = {"NVIDIA H200": "sm_90", "NVIDIA H100 80GB HBM3": "sm_90"}
MOST = 0.95  # of our time, for a library to be chosen
PRODUCT = re.compile(r"matmul (\w+) (\d+)x(\d+)x(\d+)(?: plain| first transposed)?")  # no batches: auto asks no library
WIN = re.compile(r'BW_BLAS_WINS\("(\w+)", (\w+), \((\d+), (\d+)\), \((\d+), (\d+)\), \((\d+), (\d+)\)\)')
CONV = re.compile(r"conv (.+) (\w+) \[[^]]*\] to \d+")
CONV_WIN = re.compile(r'BW_VENDOR_CONV\("(\w+)", (\w+), (\w+)\)')
CLASSES = {"1x1": "Pointwise"}  # of the convolutions without padding: with it, auto asks no library


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def timed(what):
    """[(architecture, row)] of every file bench/results/*-vendor-WHAT.json."""
    files = [json.loads(read(path)) for path in glob.glob(os.path.join(ROOT, "bench", "results", f"*-vendor-{what}.json"))]
    return [(ARCH[file["device"]], row) for file in files for row in file["rows"]]


def entries(text, pattern):
    """The rows of a table, each as the groups of the pattern, which must fit all."""
    lines = [line for line in text.splitlines() if line.startswith("BW_")]
    return [pattern.fullmatch(line).groups() for line in lines]


def slow(cases):
    return [f"{case['operation']}: {case['vendor_over_own']} of our time" for case in cases if case["vendor_over_own"] > MOST]


def wrong_products(text):
    """What is wrong with the rows of a wins.def."""
    problems = []
    cases = [(arch, found.groups(), row) for arch, row in timed("blas") if (found := PRODUCT.fullmatch(row["operation"]))]
    for arch, dtype, *ends in entries(text, WIN):
        ranges = [tuple(map(int, ends[i:i + 2])) for i in (0, 2, 4)]
        inside = [(sizes, row) for on, (of, *sizes), row in cases if on == arch and of.upper() == dtype
                  and all(least <= int(size) <= most for size, (least, most) in zip(sizes, ranges))]
        problems += slow(row for _, row in inside)
        covered = [(min(map(int, axis)), max(map(int, axis))) for axis in zip(*(sizes for sizes, _ in inside))]
        if covered != ranges:
            problems.append(f"{arch} {dtype} {ranges}: timed were {covered}")
    return problems


def wrong_convolutions(text):
    """The same of a conv_choice.def."""
    problems = []
    cases = [(arch, *CONV.fullmatch(row["operation"]).groups(), row) for arch, row in timed("conv")]
    for arch, dtype, kind in entries(text, CONV_WIN):
        inside = [row for on, what, of, row in cases if on == arch and of.upper() == dtype and CLASSES.get(what) == kind]
        problems += slow(inside) if inside else [f"{arch} {dtype} {kind}: nothing was timed"]
    return problems


def candles_times():
    """{our name: Candle's microseconds} of the operations that move data."""
    sample = re.search(r"\n## Memory-bound operations.*?(?=\n## )", read(PEERS), re.S).group(0)
    others = {"gather f32 16384x2048 last dim": "gather f32 16384x2048 last",
              "scatter_add f32 last dim": "scatter_add f32 16384x2048 last"}
    out = {}
    for name, time in re.findall(r"^\| (\w[^|]*) \| (\d+) \|", sample, re.M):
        ours = re.sub(r"\[([\d,]+)\]", lambda shape: shape[1].replace(",", "x"), name).replace(" elements", "")
        ours = re.sub(r"^cast (\w+) to", r"cast \1", ours).replace(",", "").replace("u8/f32", "u8 f32")
        out[others.get(ours, re.sub(r"^(sum .*) last dim$", r"\1", ours))] = float(time)
    return out


class Vendors(unittest.TestCase):
    PRODUCTS, CONVOLUTIONS = (os.path.join("src", "backends", "gpu", *path)
                              for path in (("blas", "wins.def"), ("dnn", "conv_choice.def")))

    def test_products(self):
        self.assertGreater(len(entries(read(self.PRODUCTS), WIN)), 3)
        self.assertEqual(wrong_products(read(self.PRODUCTS)), [])

    def test_wrong_rows_of_products_would_be_found(self):
        for row, problem in (('"sm_90", F32, (8, 8), (14336, 14336), (4096, 4096)', "matmul f32 8x14336x4096: "),
                             ('"sm_90", BF16, (256, 1024), (1024, 1024), (4096, 4096)', "timed were [(256, 512), "),
                             ('"gfx942", F32, (4096, 4096), (4096, 4096), (4096, 4096)', "timed were []")):
            self.assertIn(problem, "\n".join(wrong_products(f"BW_BLAS_WINS({row})\n")))

    def test_convolutions(self):
        self.assertGreater(len(entries(read(self.CONVOLUTIONS), CONV_WIN)), 0)
        self.assertEqual(wrong_convolutions(read(self.CONVOLUTIONS)), [])

    def test_wrong_rows_of_convolutions_would_be_found(self):
        for row, problem in (('"sm_90", F16, Pointwise', "conv 1x1 f16 "), ('"sm_90", F32, Line', "nothing was timed")):
            self.assertIn(problem, "\n".join(wrong_convolutions(f"BW_VENDOR_CONV({row})\n")))

    def test_convolutions_without_padding(self):
        rows = re.findall(r'^    \{"([^"]+)", [\d, ]+ (\{[^}]*\})', read("bench", "gpu", "products.cc"), re.M)
        self.assertGreater(len(rows), 10)
        self.assertEqual({what for what, options in rows if ".padding" not in options}, set(CLASSES))


class Operations(unittest.TestCase):
    def setUp(self):
        self.rows = json.loads(read("bench", "results", "nvidia-h200-operations.json"))["rows"]

    def test_readme_has_what_stays_below_copying(self):
        made = below_copy.table(self.rows)
        self.assertGreater(len(made), 5)
        self.assertIn("\n".join(["", *made, ""]), read("bench", "README.md"), "bench/gpu/below_copy.py --write makes it")

    def test_a_row_that_changes_would_be_seen(self):
        made = below_copy.table(self.rows)
        row = next(row for row in self.rows if row["operation"] == "exp f32 64M")
        row["share_of_copy"] = 0.5
        self.assertNotEqual(below_copy.table(self.rows), made)

    def test_pytorch_times_our_convolutions(self):
        with mock.patch.dict(sys.modules, {"torch": mock.MagicMock()}):  # only the names are asked for
            import torch_gpu  # pylint: disable=import-outside-toplevel
            cases = list(torch_gpu.cases())
        names = {name for name, *_ in cases}
        self.assertEqual(len(names), len(cases))
        self.assertEqual([row["operation"] for row in self.rows  # PyTorch has none of f8e4m3
                          if row["operation"].startswith("conv ") and " f8e4m3 " not in row["operation"]
                          and row["operation"] not in names], [])
        kinds = re.search(r"ConvRow kConvs\[\] = \{\n(.*?)\n\};", read("bench", "gpu", "products.cc"), re.S).group(1)
        shapes = re.findall(r'^    \{"([^"]+)", (\d+), (\d+), (\d+), .*?(?:, false, (\d+))?\},$', kinds, re.M)
        self.assertEqual(len(shapes), len(kinds.splitlines()))
        for what, channels, to, size, images in shapes:
            plane = size if int(size) >= 3000 else f"{size}, {size}"
            for dtype in ("f32", "f16", "bf16", "tf32"):
                self.assertIn(f"conv {what} {dtype} [{images or 32}, {channels}, {plane}] to {to}", names)

    @unittest.skipUnless(os.path.exists(PEERS), "no ../shared/spec/peers.md beside this tree")
    def test_moving_data_takes_less_than_candles(self):
        ours = {row["operation"]: row["microseconds"] for row in self.rows}
        peers = candles_times()
        self.assertGreater(len(peers), 20)
        self.assertLessEqual(set(peers), set(ours))
        for name, time in peers.items():
            self.assertLess(ours[name], time, name)


if __name__ == "__main__":
    unittest.main()
