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
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


def ids(bound, *shape):
    return torch.randint(0, bound, shape, device=DEVICE)


def cases():
    """Name and a function that makes the inputs and gives the body; of some, another for the order channels_last."""
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

    def rope():
        x, c, s = normal(4, 32, 4096, 128, dtype=f16), normal(4096, 128, dtype=f16), normal(4096, 128, dtype=f16)
        return lambda: x * c + torch.cat((-x[..., 64:], x[..., :64]), -1) * s
    yield "rope f16 4x32x4096x128", rope
    yield "argsort f32 16384x1024", rows(f32, 16384, 1024, lambda x: x.argsort(dim=-1, stable=True))
    yield "cumsum f32 16384x4096", rows(f32, 16384, 4096, lambda x: x.cumsum(1))

    def pool():
        x = normal(64, 64, 112, 112)
        return lambda: nn.max_pool2d(x, 2)
    yield "max_pool2d f32 2x2 64x64x112x112", pool

    yield from neighbours()
    yield from lengths()
    yield from products()
    yield from convolutions()


def neighbours():
    """neighbours.cc."""
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    nn = torch.nn.functional

    def one(f, *shape, dtype=f32):
        def make():
            x = normal(*shape, dtype=dtype)
            return lambda: f(x)
        return make

    def two(f, *shape, dtype=f32):
        def make():
            x, y = normal(*shape, dtype=dtype), normal(*shape, dtype=dtype)
            return lambda: f(x, y)
        return make

    yield "relu bf16 64M", one(torch.relu, N, dtype=bf16)
    yield "tanh f32 64M", one(torch.tanh, N)
    yield "sqrt f16 64M", one(torch.sqrt, N, dtype=f16)
    yield "neg f64 64M", one(torch.neg, N, dtype=torch.float64)
    yield "add f16 and number 64M", one(lambda x: x + 1.5, N, dtype=f16)
    yield "add f16 64M", two(torch.add, N, dtype=f16)
    yield "lt f32 64M", two(torch.lt, N)
    yield "add f32 8192x8192 + transposed", two(lambda x, y: x + y.t(), 8192, 8192)
    yield "mul bf16 8192x8192 by column", two(lambda x, y: x * y[:, :1], 8192, 8192, dtype=bf16)
    yield "cast f16 bf16 64M", one(lambda x: x.to(bf16), N, dtype=f16)
    yield "cast u8 f32 64M", one(lambda x: x.to(f32), N, dtype=torch.uint8)

    def where():
        x, y = normal(N, dtype=f16), normal(N, dtype=f16)
        c = x > 0
        return lambda: torch.where(c, x, y)
    yield "where f16 64M", where
    yield "copy f32 half of 8192x8192", one(lambda x: x[:, :4096].contiguous(), 8192, 8192)
    yield "copy u8 8192x8192 transposed", one(lambda x: x.t().contiguous(), 8192, 8192, dtype=torch.uint8)
    yield "copy f16 heads of 16384x32x128", one(lambda x: x.transpose(1, 2).contiguous(), 4, 4096, 32, 128, dtype=f16)
    yield "cat f32 4 of 16M", two(lambda x, y: torch.cat([x, y, x, y]), N // 4)
    yield "cat bf16 2 of 8192x8192 dim 1", two(lambda x, y: torch.cat([x, y], 1), 8192, 8192, dtype=bf16)
    yield "im2col f16 3x3 8x64x112x112", one(lambda x: nn.unfold(x, 3), 8, 64, 114, 114, dtype=f16)

    def indexed(name, f, shape, dtype, bound, id_shape):
        def make():
            x, i = normal(*shape, dtype=dtype), ids(bound, *id_shape)
            return lambda: f(x, i)
        return name, make
    yield indexed("index_select f16 512K rows of 128", lambda x, i: x.index_select(0, i), (1 << 19, 128), f16, 1 << 19,
                  (1 << 19,))
    yield indexed("index_select f32 8192x8192 dim 1", lambda x, i: x.index_select(1, i), (8192, 8192), f32, 8192, (8192,))
    yield indexed("gather f16 16384x2048 dim 0", lambda x, i: x.gather(0, i), (16384, 2048), f16, 16384, (16384, 2048))

    def scatter():
        x, y, i = normal(16384, 2048), normal(16384, 2048), ids(2048, 16384, 2048)
        return lambda: x.scatter_add(1, i, y)
    yield "scatter_add f32 16384x2048 last", scatter
    yield "sum bf16 16384x4096", one(lambda x: x.sum(-1), 16384, 4096, dtype=bf16)
    yield "sum f16 16384x4096 dim 0", one(lambda x: x.sum(0), 16384, 4096, dtype=f16)
    yield "sum f32 64x4096x256 dim 1", one(lambda x: x.sum(1), 64, 4096, 256)
    yield "sum f32 1024Kx64", one(lambda x: x.sum(-1), 1 << 20, 64)
    yield "sum f16 1024Kx64", one(lambda x: x.sum(-1), 1 << 20, 64, dtype=f16)
    yield "sum f32 256Kx256", one(lambda x: x.sum(-1), 1 << 18, 256)
    yield "sum f32 16384x4097 dim 0", one(lambda x: x.sum(0), 16384, 4097)
    yield "sum f32 64x64x64x256 dims 0 2", one(lambda x: x.sum((0, 2)), 64, 64, 64, 256)
    yield "min bf16 16384x4096", one(lambda x: x.amin(-1), 16384, 4096, dtype=bf16)
    yield "mean f32 all 64M", one(torch.mean, N)
    yield "max f32 16384x4096", one(lambda x: x.amax(-1), 16384, 4096)
    yield "log_sum_exp f32 16384x4096", one(lambda x: x.logsumexp(-1), 16384, 4096)
    yield "var f16 16384x4096", one(lambda x: x.var(-1), 16384, 4096, dtype=f16)
    yield "argmax f16 16384x4096", one(lambda x: x.argmax(-1), 16384, 4096, dtype=f16)
    yield "argmax f32 16384x4096 dim 0", one(lambda x: x.argmax(0), 16384, 4096)
    yield "argmax f16 16384x4096 dim 0", one(lambda x: x.argmax(0), 16384, 4096, dtype=f16)
    yield "softmax f16 16384x4095", one(lambda x: x.softmax(-1), 16384, 4095, dtype=f16)
    yield "softmax f32 16384x4095", one(lambda x: x.softmax(-1), 16384, 4095)

    def odd_rms():
        x, w = normal(16384, 4095, dtype=f16), normal(4095, dtype=f16)
        return lambda: nn.rms_norm(x, (4095,), w, 1e-5)
    yield "rmsnorm f16 16384x4095", odd_rms
    yield "softmax bf16 16384x4096", one(lambda x: x.softmax(-1), 16384, 4096, dtype=bf16)
    yield "softmax f32 1024Kx64", one(lambda x: x.softmax(-1), 1 << 20, 64)
    yield "log_softmax f32 2048x32000", one(lambda x: x.log_softmax(-1), 2048, 32000)

    def rms():
        x, w = normal(65536, 1024, dtype=bf16), normal(1024, dtype=bf16)
        return lambda: nn.rms_norm(x, (1024,), w, 1e-5)
    yield "rmsnorm bf16 65536x1024", rms

    def layer():
        x, w, b = normal(16384, 4096, dtype=f16), normal(4096, dtype=f16), normal(4096, dtype=f16)
        return lambda: nn.layer_norm(x, (4096,), w, b, 1e-5)
    yield "layernorm f16 16384x4096", layer
    yield "cumsum f16 16384x4096", one(lambda x: x.cumsum(1), 16384, 4096, dtype=f16)
    yield "cumsum f32 16384x4096 dim 0", one(lambda x: x.cumsum(0), 16384, 4096)
    yield "argsort f32 one row of 16M", one(lambda x: x.argsort(stable=True), N // 4)
    yield "argsort bf16 16384x1024", one(lambda x: x.argsort(dim=-1, stable=True), 16384, 1024, dtype=bf16)
    yield "avg_pool2d f16 2x2 64x64x112x112", one(lambda x: nn.avg_pool2d(x, 2), 64, 64, 112, 112, dtype=f16)
    yield ("upsample_nearest2d f32 64x64x56x56 by 2",
           one(lambda x: nn.interpolate(x, scale_factor=2, mode="nearest"), 64, 64, 56, 56))
    yield "zeros f32 64M", lambda: lambda: torch.zeros(N, device=DEVICE)
    yield "randn f32 64M", lambda: lambda: torch.randn(N, device=DEVICE)


def lengths():
    """lengths.cc."""
    nn = torch.nn.functional

    def one(f, rows, n, dtype):
        def make():
            x = normal(rows, n, dtype=dtype)
            return lambda: f(x)
        return make

    for n in (2560, 4095, 5120, 8200, 13824, 50257, 128256, 400000):
        for name, dtype in (("f16", torch.float16), ("f32", torch.float32)):
            shape = f"{name} {N // n}x{n}"
            yield f"sum {shape}", one(lambda x: x.sum(-1), N // n, n, dtype)
            yield f"argmax {shape}", one(lambda x: x.argmax(-1), N // n, n, dtype)
            yield f"softmax {shape}", one(lambda x: x.softmax(-1), N // n, n, dtype)
            yield f"cumsum {shape}", one(lambda x: x.cumsum(-1), N // n, n, dtype)
            if n < 10000:
                yield f"rmsnorm {shape}", one(lambda x: nn.rms_norm(x, x.shape[-1:], None, 1e-5), N // n, n, dtype)


def products():
    """products.cc: weights as layers have them, [n, k]."""
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16

    def product(dtype, m, n, k, first=False, plain=False, batch=()):
        def make():
            a = normal(*batch, k, m, dtype=dtype).mT if first else normal(*batch, m, k, dtype=dtype)
            b = normal(*batch, k, n, dtype=dtype) if first or plain else normal(*batch, n, k, dtype=dtype).mT
            return lambda: a @ b
        return make
    for name, dtype in (("f16", f16), ("bf16", bf16), ("f32", f32)):
        for n in (4096, 8192):
            yield f"matmul {name} {n}x{n}x{n}", product(dtype, n, n, n)
        for m in (1, 8, 64, 512):
            yield f"matmul {name} {m}x14336x4096", product(dtype, m, 14336, 4096)
    layers = ((4096, 4096), (4096, 14336), (1024, 4096), (14336, 4096), (128256, 4096), (12288, 4096), (4096, 12288),
              (151936, 4096), (2048, 1024), (1024, 2048), (1024, 1024), (3072, 1024), (1024, 3072))
    had = {(4096, 4096, 4096), (1, 14336, 4096), (8, 14336, 4096), (64, 14336, 4096), (512, 14336, 4096)}
    shapes = [(m, n, k) for n, k in layers for m in (1, 8, 16, 64, 128, 256, 512, 4096) if (m, n, k) not in had]
    for m, n, k in shapes + [(512, 4097, 4096), (512, 4096, 4100)]:
        yield f"matmul bf16 {m}x{n}x{k}", product(bf16, m, n, k)
    for m, n, k, plain in ((1, 4096, 128, False), (512, 512, 128, False), (512, 128, 512, True), (4096, 4096, 128, False),
                           (4096, 128, 4096, True)):
        yield f"matmul bf16 32 of {m}x{n}x{k}{' plain' if plain else ''}", product(bf16, m, n, k, plain=plain, batch=(32,))
    for m in (64, 512, 4096):
        yield f"matmul bf16 {m}x4096x4096 plain", product(bf16, m, 4096, 4096, plain=True)
        yield f"matmul bf16 {m}x4096x4096 first transposed", product(bf16, m, 4096, 4096, first=True)


def convolutions():
    """products.cc, kConvs."""
    nn = torch.nn.functional
    # what, channels in and out, size, taps, options, images, whether transposed
    rows = (("3x3", 64, 64, 56, 3, {"padding": 1}, 32, False),
            ("3x3", 256, 256, 14, 3, {"padding": 1}, 32, False),
            ("3x3", 64, 64, 224, 3, {"padding": 1}, 16, False),
            ("3x3", 256, 256, 28, 3, {"padding": 1}, 32, False),
            ("3x3", 128, 128, 56, 3, {"padding": 1}, 32, False),
            ("1x1", 256, 512, 28, 1, {}, 32, False),
            ("7x7 stride 2", 3, 64, 224, 7, {"padding": 3, "stride": 2}, 32, False),
            ("3x3 stride 2", 128, 256, 56, 3, {"padding": 1, "stride": 2}, 32, False),
            ("3x3 dilated", 64, 64, 56, 3, {"padding": 2, "dilation": 2}, 32, False),
            ("3x3 groups 4", 128, 128, 28, 3, {"padding": 1, "groups": 4}, 32, False),
            ("3x3 depthwise", 128, 128, 112, 3, {"padding": 1, "groups": 128}, 32, False),
            ("3 in 1-d", 80, 384, 3000, 3, {"padding": 1}, 32, False),
            ("4x4 transposed", 128, 64, 28, 4, {"padding": 1, "stride": 2}, 32, True))

    def convolution(dtype, row, memory_format=torch.contiguous_format):
        _, c_in, c_out, size, taps, options, images, transposed = row
        axes = 1 if size >= 3000 else 2
        call = nn.conv1d if axes == 1 else nn.conv_transpose2d if transposed else nn.conv2d
        first, second = (c_in, c_out) if transposed else (c_out, c_in)

        def make():
            x = normal(images, c_in, *[size] * axes, dtype=dtype).contiguous(memory_format=memory_format)
            w = normal(first, second // options.get("groups", 1), *[taps] * axes, dtype=dtype)
            w = w.contiguous(memory_format=memory_format)
            return lambda: call(x, w, **options)
        return make

    def with_tf32(make):
        """As products.cc does: the setting is there for the call alone."""
        def reduced():
            body = make()

            def call():
                torch.backends.cudnn.allow_tf32 = True
                body()
                torch.backends.cudnn.allow_tf32 = False
            return call
        return reduced

    for name, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16), ("tf32", torch.float32)):
        for row in rows:
            what, c_in, c_out, size, _, _, images, _ = row
            shape = ", ".join(map(str, (images, c_in, size) if size >= 3000 else (images, c_in, size, size)))
            last = dtype != torch.float32 and size < 3000
            one = convolution(dtype, row)
            yield (f"conv {what} {name} [{shape}] to {c_out}", with_tf32(one) if name == "tf32" else one,
                   *([convolution(dtype, row, torch.channels_last)] if last else []))


def time_calls(body, times):
    start = time.perf_counter()
    for _ in range(times):
        body()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


def seconds_of(make):
    body = make()
    once = min(time_calls(body, 1) for _ in range(3))
    times = max(1, int(0.02 / max(once, 1e-6)))
    return statistics.median(time_calls(body, times) for _ in range(7))


def main():
    out = []
    for name, make, *others in cases():
        out.append({"operation": name, "seconds": seconds_of(make)})
        for other in others:
            out[-1]["channels_last_seconds"] = seconds_of(other)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
    ours = {}
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            ours = {row["operation"]: row for row in json.load(file)}
    for row in out:
        mine = ours.get(row["operation"])
        ratio = f"{mine['seconds'] / row['seconds']:8.2f}" if mine else "       -"
        last = f"   channels_last {row['channels_last_seconds'] * 1e6:9.1f} us" if "channels_last_seconds" in row else ""
        print(f"{row['operation']:40} torch {row['seconds'] * 1e6:9.1f} us   ours/torch {ratio}{last}")


if __name__ == "__main__":
    main()
