# SPDX-License-Identifier: Apache-2.0
"""GGUF version 3 in NumPy: writes f32 and f16 tensors, reads f32, f16, Q8_0 and Q6_K as f32."""
import struct

import numpy as np

ALIGNMENT = 32
F32, F16, Q8_0, Q6_K = 0, 1, 8, 14
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
U32, I32, FLOAT, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


def _string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(kind, value):
    if kind == STRING:
        return _string(value)
    if kind == ARRAY:
        element, items = value
        return struct.pack("<IQ", element, len(items)) + b"".join(_value(element, item) for item in items)
    return struct.pack("<" + _SCALARS[kind], value)


def write(path, metadata, tensors):
    """metadata {key: (kind, value)}; tensors {name: array}, in f16 where the array is float16, else in f32."""
    arrays = {name: np.ascontiguousarray(x, x.dtype if x.dtype == np.float16 else np.float32)
              for name, x in tensors.items()}
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(arrays), len(metadata))
    for key, (kind, value) in metadata.items():
        head += _string(key) + struct.pack("<I", kind) + _value(kind, value)
    offset = 0
    for name, x in arrays.items():
        head += _string(name) + struct.pack(f"<I{x.ndim}Q", x.ndim, *reversed(x.shape))
        head += struct.pack("<IQ", F16 if x.dtype == np.float16 else F32, offset)
        offset += -(-x.nbytes // ALIGNMENT) * ALIGNMENT
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for x in arrays.values():
            file.write(x.tobytes() + b"\0" * (-x.nbytes % ALIGNMENT))


def dequantize_q8_0(data):
    """Blocks of 34 bytes: a half scale, 32 signed levels."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 34)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return scale * blocks[:, 2:].view(np.int8).astype(np.float32)


def dequantize_q6_k(data):
    """Blocks of 210 bytes: 128 of low nibbles, 64 of high bit pairs, 16 signed scales, a half scale."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 210)
    low = blocks[:, :128].reshape(-1, 2, 1, 64) >> np.array([0, 4], np.uint8).reshape(1, 1, 2, 1) & 15
    high = blocks[:, 128:192].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8).reshape(1, 1, 4, 1) & 3
    levels = (low.reshape(-1, 256) | high.reshape(-1, 256) << 4).astype(np.float32) - 32
    scale = blocks[:, 208:].copy().view(np.float16).astype(np.float32)
    scales = scale * blocks[:, 192:208].view(np.int8).astype(np.float32)
    return (levels.reshape(-1, 16, 16) * scales[:, :, None]).reshape(-1, 256)


_READ = {F32: (4, 1, lambda data: np.frombuffer(data, np.float32)),
         F16: (2, 1, lambda data: np.frombuffer(data, np.float16).astype(np.float32)),
         Q8_0: (34, 32, dequantize_q8_0), Q6_K: (210, 256, dequantize_q6_k)}


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def string(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.take("I"), self.take("Q")
            return [self.value(element) for _ in range(count)]
        return self.take(_SCALARS[kind])


def read(path):
    """(metadata {key: value}, tensors {name: f32 array})."""
    with open(path, "rb") as file:
        reader = _Reader(file.read())
    magic, version, tensor_count, key_count = reader.take("4sIQQ")
    if magic != b"GGUF" or version != 3:
        raise ValueError(f"{path} is no GGUF file of version 3")
    metadata = {}
    for _ in range(key_count):
        key = reader.string()
        metadata[key] = reader.value(reader.take("I"))
    heads = []
    for _ in range(tensor_count):
        name, rank = reader.string(), reader.take("I")
        shape = [reader.take("Q") for _ in range(rank)][::-1]
        heads.append((name, shape, *reader.take("IQ")))
    base = -(-reader.at // ALIGNMENT) * ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in heads:
        block_bytes, block_elements, convert = _READ[kind]
        size = int(np.prod(shape)) // block_elements * block_bytes
        tensors[name] = convert(reader.data[base + offset:base + offset + size]).reshape(shape)
    return metadata, tensors
