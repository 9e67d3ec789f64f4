#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an AMD code object says of its kernels: reads the NT_AMDGPU_METADATA note (msgpack) of an ELF file, after
LLVM's "User Guide for AMDGPU Backend"."""
import struct

NT_AMDGPU_METADATA = 32
SHT_NOTE = 7


class _Msgpack:
    """The part of msgpack that the metadata uses: maps, arrays, strings, integers, booleans, nil."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        if self.at > len(self.data):
            raise ValueError("metadata ends early")
        return self.data[self.at - size:self.at]

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "big", signed=signed)

    def text(self, size):
        return self.take(size).decode()

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}

    def array(self, count):
        return [self.value() for _ in range(count)]

    def value(self):
        tag = self.number(1)
        if tag < 0x80:
            return tag
        if tag < 0x90:
            return self.map(tag & 15)
        if tag < 0xa0:
            return self.array(tag & 15)
        if tag < 0xc0:
            return self.text(tag & 31)
        if tag >= 0xe0:
            return tag - 256
        if tag == 0xc0:
            return None
        if tag in (0xc2, 0xc3):
            return tag == 0xc3
        if 0xcc <= tag <= 0xcf:
            return self.number(1 << (tag - 0xcc))
        if 0xd0 <= tag <= 0xd3:
            return self.number(1 << (tag - 0xd0), signed=True)
        if 0xd9 <= tag <= 0xdb:
            return self.text(self.number(1 << (tag - 0xd9)))
        if tag in (0xdc, 0xdd):
            return self.array(self.number(2 << (tag - 0xdc)))
        if tag in (0xde, 0xdf):
            return self.map(self.number(2 << (tag - 0xde)))
        raise ValueError(f"msgpack tag {tag:#x}")


def _metadata(data):
    if data[:4] != b"\x7fELF":
        raise ValueError("not an ELF file")
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        _, kind, _, _, at, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind != SHT_NOTE:
            continue
        end = at + length
        while at + 12 <= end:
            name_size, desc_size, note = struct.unpack_from("<III", data, at)
            desc = at + 12 + (name_size + 3) // 4 * 4
            if note == NT_AMDGPU_METADATA:
                return _Msgpack(data[desc:desc + desc_size]).value()
            at = desc + (desc_size + 3) // 4 * 4
    raise ValueError("no AMDGPU metadata")


def kernels(data):
    """{name: {arguments, vgprs, agprs, sgprs, shared, scratch, spills}} of a code object's bytes."""
    out = {}
    for kernel in _metadata(data).get("amdhsa.kernels", []):
        explicit = [a for a in kernel.get(".args", []) if not a[".value_kind"].startswith("hidden_")]
        out[kernel[".name"]] = {
            "arguments": max((a[".offset"] + a[".size"] for a in explicit), default=0),
            "vgprs": kernel[".vgpr_count"],
            "agprs": kernel.get(".agpr_count", 0),
            "sgprs": kernel[".sgpr_count"],
            "shared": kernel[".group_segment_fixed_size"],
            "scratch": kernel[".private_segment_fixed_size"],
            "spills": kernel.get(".vgpr_spill_count", 0) + kernel.get(".sgpr_spill_count", 0),
        }
    return out
