#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers that tests/backend/random_test.cc pins: Philox 4x32-10 and the way from words to numbers of
docs/numerics.md, written a second time in Python integers and doubles. Fails if the generator does not give the
published vector of its authors.

usage: random_vectors.py
"""
import math
import struct

MASK = 0xFFFFFFFF
SEED = 299792458


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        left, right = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(right >> 32) ^ c[1] ^ k[0], right & MASK, (left >> 32) ^ c[3] ^ k[1], left & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def block(n):
    return philox((n & MASK, n >> 32, 0, 0), (SEED & MASK, SEED >> 32))


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def normal_pair(v, turn):
    radius = math.sqrt(-2 * math.log(v))
    return [radius * math.cos(2 * math.pi * turn), radius * math.sin(2 * math.pi * turn)]


def normals_f32(count):
    out = []
    for n in range((count + 3) // 4):
        w = block(n)
        for p, q in ((w[0], w[1]), (w[2], w[3])):
            out += normal_pair(f32(f32(f32(p) * 2.0**-32) + 2.0**-33), (q >> 8) * 2.0**-24)
    return out[:count]


def normals_f64(count):
    out = []
    for n in range((count + 1) // 2):
        w = block(n)
        v = (w[1] << 32 | w[0]) >> 11
        t = (w[3] << 32 | w[2]) >> 11
        out += normal_pair(v * 2.0**-53 + 2.0**-53, t * 2.0**-53)
    return out[:count]


def main():
    published = [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
    if philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)) != published:
        raise SystemExit("the generator does not give its published vector")
    print("uniform f32:", ", ".join(float.hex((w >> 8) * 2.0**-24) for n in range(2) for w in block(n)))
    print("normal f32: ", ", ".join(f"{x:.9f}" for x in normals_f32(8)))
    print("normal f64: ", ", ".join(f"{x:.17g}" for x in normals_f64(8)))


if __name__ == "__main__":
    main()
