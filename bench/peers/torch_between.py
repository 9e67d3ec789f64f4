#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies between two GPUs in PyTorch, timed as bw_gpu_bench --between does: many submitted, one wait.

usage: torch_between.py [OUT.json]
"""
import json
import statistics
import sys
import time

import torch

SAMPLE = 0.02
MOST_CALLS = 500


def seconds_of(here, there, both, times):
    """Seconds of one copy, of `times` submitted together."""
    start = time.perf_counter()
    for _ in range(times):
        here.to(there.device, non_blocking=True)
        if both:
            there.to(here.device, non_blocking=True)
    torch.cuda.synchronize(here.device)
    torch.cuda.synchronize(there.device)
    return (time.perf_counter() - start) / times


def measure(here, there, both):
    once = min(seconds_of(here, there, both, 1) for _ in range(3))
    times = max(1, min(int(SAMPLE / once), MOST_CALLS))
    return statistics.median(seconds_of(here, there, both, times) for _ in range(7))


def main():
    out = []
    for way, source, target in (("there", 0, 1), ("back", 1, 0), ("both", 0, 1)):
        for size in (4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30):
            here = torch.arange(size // 4, dtype=torch.int32, device=f"cuda:{source}")
            there = here.to(f"cuda:{target}")
            seconds = measure(here, there, way == "both")
            rate = size * (2 if way == "both" else 1) / seconds
            print(f"{way:8} {size:12} {seconds * 1e6:10.1f} us {rate * 1e-9:9.1f} GB/s", flush=True)
            out.append({"way": way, "bytes": size, "seconds": seconds, "bytes_per_second": rate})
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            json.dump(out, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
