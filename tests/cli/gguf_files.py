# SPDX-License-Identifier: Apache-2.0
"""GGUF files for the tests of the command, written byte by byte as the format says."""
import math
import struct

NUMBERS = {"u8": (0, "B"), "i8": (1, "b"), "u16": (2, "H"), "i16": (3, "h"), "u32": (4, "I"), "i32": (5, "i"), "f32": (6, "f"),
           "bool": (7, "?"), "u64": (10, "Q"), "i64": (11, "q"), "f64": (12, "d")}
STRING, ARRAY = 8, 9
BLOCKS = {"f32": (0, 1, 4), "q4_0": (2, 32, 18), "iq2_xxs": (16, 256, 66)}  # number, elements, bytes


class Numbers:
    """Numbers of one byte order."""

    def __init__(self, order):
        self.order = order

    def number(self, code, *values):
        return struct.pack(self.order + code * len(values), *values)

    def text(self, value):
        raw = value.encode()
        return self.number("Q", len(raw)) + raw

    def value(self, kind, value):
        """A value after its type; of a list, a kind "[u8]" or "[string]"."""
        if kind == "string":
            return self.text(value)
        if kind.startswith("["):
            inner = kind[1:-1]
            return self.number("I", self.type_number(inner)) + self.number("Q", len(value)) + \
                b"".join(self.value(inner, one) for one in value)
        return self.number(NUMBERS[kind][1], value)

    @staticmethod
    def type_number(kind):
        return STRING if kind == "string" else ARRAY if kind.startswith("[") else NUMBERS[kind][0]


def write_gguf(path, tensors, metadata=None, big_endian=False):
    """Metadata {key: (kind, value)}; tensors {name: shape, outermost axis first, or (type, shape)}. Values of f32 tensors
    follow from their places; blocks of other types are zeros."""
    to = Numbers(">" if big_endian else "<")
    metadata = {"general.architecture": ("string", "llama")} | (metadata or {})
    head = b"GGUF" + to.number("I", 3) + to.number("Q", len(tensors), len(metadata))
    for key, (kind, value) in metadata.items():
        head += to.text(key) + to.number("I", to.type_number(kind)) + to.value(kind, value)
    data = b""
    for name, shape in tensors.items():
        kind, shape = shape if isinstance(shape, tuple) else ("f32", shape)
        number, elements, size = BLOCKS[kind]
        count = math.prod(shape)
        head += to.text(name) + to.number("I", len(shape)) + to.number("Q", *reversed(shape))
        head += to.number("I", number) + to.number("Q", len(data))
        data += to.number("f", *((i * 37 % 101 - 50) / 50 for i in range(count))) if kind == "f32" else \
            bytes(count // elements * size)
        data += bytes(-len(data) % 32)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data)
