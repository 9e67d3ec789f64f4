#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of bw_gpu_bench in PyTorch, timed the same way: many calls submitted, one wait.

usage: torch_gpu.py OUT.json [OURS.json]     with OURS.json, prints our time over PyTorch's for each case
"""
import json
import statistics
import sys
import time

import torch

N = 64 << 20
DEVICE = "cuda:0"
torch.backends.cuda.matmul.allow_tf32 = False


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


def ids(bound, *shape):
    return torch.randint(0, bound, shape, device=DEVICE)


def cases():
    """Name and a function that makes the inputs and gives the body."""
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    nn = torch.nn.functional

    def unary(dtype, f):
        def make():
            x = normal(N, dtype=dtype)
            return lambda: f(x)
        return make

    def rows(dtype, m, n, f):
        def make():
            x = normal(m, n, dtype=dtype)
            return lambda: f(x)
        return make

    def two(dtype, f):
        def make():
            x, y = normal(N, dtype=dtype), normal(N, dtype=dtype)
            return lambda: f(x, y)
        return make

    def made(f):
        return lambda: f()

    yield "exp f32 64M", unary(f32, torch.exp)
    yield "exp f16 64M", unary(f16, torch.exp)
    yield "silu f16 64M", unary(f16, nn.silu)
    yield "gelu bf16 64M", unary(bf16, lambda x: nn.gelu(x, approximate="tanh"))
    yield "neg f32 64M", unary(f32, torch.neg)
    yield "sin f32 64M", unary(f32, torch.sin)
    yield "copy f32 8192x8192 transposed", rows(f32, 8192, 8192, lambda x: x.t().contiguous())
    yield "copy f16 8192x8192 transposed", rows(f16, 8192, 8192, lambda x: x.t().contiguous())
    yield "affine f32 64M", unary(f32, lambda x: torch.add(x.mul(2.0), 1.0))
    yield "add f32 64M", two(f32, torch.add)
    yield "mul bf16 64M", two(bf16, torch.mul)

    def row():
        x, r = normal(8192, 8192), normal(8192)
        return lambda: x + r
    yield "add f32 8192x8192 + row", row
    yield "cast f32 f16 64M", unary(f32, lambda x: x.to(f16))
    yield "cast bf16 f32 64M", unary(bf16, lambda x: x.to(f32))

    def where():
        x, y = normal(N), normal(N)
        c = x > 0
        return lambda: torch.where(c, x, y)
    yield "where u8 f32 64M", where

    def select():
        x, i = normal(65536, 1024), ids(65536, 65536)
        return lambda: x.index_select(0, i)
    yield "index_select f32 64K rows of 1024", select

    def gather():
        x, i = normal(16384, 2048), ids(2048, 16384, 2048)
        return lambda: x.gather(1, i)
    yield "gather f32 16384x2048 last", gather

    def index_add():
        x, y, i = normal(16384, 1024), normal(16384, 1024), ids(16384, 16384)
        return lambda: x.index_add(0, i, y)
    yield "index_add f32 dim 0", index_add
    yield "sum f32 16384x4096", rows(f32, 16384, 4096, lambda x: x.sum(-1))
    yield "sum f16 16384x4096", rows(f16, 16384, 4096, lambda x: x.sum(-1))
    yield "sum f32 16384x4096 dim 0", rows(f32, 16384, 4096, lambda x: x.sum(0))
    yield "sum f32 one row of 16M", rows(f32, 1, 16 << 20, lambda x: x.sum(-1))
    yield "argmax f32 16384x4096", rows(f32, 16384, 4096, lambda x: x.argmax(-1))
    yield "softmax f32 16384x4096", rows(f32, 16384, 4096, lambda x: x.softmax(-1))
    yield "softmax f16 2048x32768", rows(f16, 2048, 32768, lambda x: x.softmax(-1))

    def rms():
        x, w = normal(16384, 4096, dtype=f16), normal(4096, dtype=f16)
        return lambda: nn.rms_norm(x, (4096,), w, 1e-5)
    yield "rmsnorm f16 16384x4096", rms

    def layer():
        x, w, b = normal(16384, 4096), normal(4096), normal(4096)
        return lambda: nn.layer_norm(x, (4096,), w, b, 1e-5)
    yield "layernorm f32 16384x4096", layer
    yield "argsort f32 16384x1024", rows(f32, 16384, 1024, lambda x: x.argsort(dim=-1, stable=True))
    yield "cumsum f32 16384x4096", rows(f32, 16384, 4096, lambda x: x.cumsum(1))

    def pool():
        x = normal(64, 64, 112, 112)
        return lambda: nn.max_pool2d(x, 2)
    yield "max_pool2d f32 2x2 64x64x112x112", pool

    def product(dtype, m, n, k):
        def make():
            a, b = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype)
            return lambda: a @ b.t()
        return make
    for name, dtype in (("f16", f16), ("bf16", bf16), ("f32", f32)):
        for n in (4096, 8192):
            yield f"matmul {name} {n}x{n}x{n}", product(dtype, n, n, n)
        for m in (1, 8, 64, 512):
            yield f"matmul {name} {m}x14336x4096", product(dtype, m, 14336, 4096)
    shapes = [(m, n, k) for n, k in ((4096, 4096), (4096, 14336), (1024, 4096)) for m in (1, 8, 16, 64, 512, 4096)]
    for m, n, k in shapes + [(4096, 14336, 4096), (512, 4097, 4096), (512, 4096, 4100)]:
        yield f"matmul bf16 {m}x{n}x{k}", product(bf16, m, n, k)


def time_calls(body, times):
    start = time.perf_counter()
    for _ in range(times):
        body()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


def main():
    out = []
    for name, make in cases():
        body = make()
        once = min(time_calls(body, 1) for _ in range(3))
        times = max(1, int(0.02 / max(once, 1e-6)))
        out.append({"operation": name, "seconds": statistics.median(time_calls(body, times) for _ in range(7))})
        del body
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
    ours = {}
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            ours = {row["operation"]: row for row in json.load(file)}
    for row in out:
        mine = ours.get(row["operation"])
        ratio = f"{mine['seconds'] / row['seconds']:8.2f}" if mine else "       -"
        print(f"{row['operation']:40} torch {row['seconds'] * 1e6:9.1f} us   ours/torch {ratio}")


if __name__ == "__main__":
    main()
