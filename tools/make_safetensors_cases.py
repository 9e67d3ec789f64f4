#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/io/: what the Python package safetensors writes, with the values as JSON; and reads back what
Beeswax wrote. Needs safetensors and numpy.

  types.safetensors, types.json    a tensor of every element type, metadata, names that need escapes
  sharded/                         an index and its two files

usage: make_safetensors_cases.py            writes the cases
       make_safetensors_cases.py FILE       prints what FILE holds: one line a tensor, name, type, shape, bytes as hex
"""
import json
import os
import sys

import numpy
import safetensors
from safetensors.numpy import save_file

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
OUT = os.path.join(ROOT, "tests", "io")


def bf16_bits(values):
    """Nearest bf16, ties to even."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def cases():
    """name: (type for serialize, type in the header, shape, bytes, values or None)"""
    floats = [0.0, -0.0, 1.5, -2.25, 1000.0, 0.0078125]
    out = {}
    for kind, name, dtype, values in [
            ("float64", "F64", "f8", floats), ("float32", "F32", "f4", floats), ("float16", "F16", "f2", floats),
            ("int64", "I64", "i8", [0, -1, 2**62, -2**62, 5, 6]), ("int32", "I32", "i4", [0, -1, 2**30, -2**31, 5, 6]),
            ("int16", "I16", "i2", [0, -1, 2**14, -2**15, 5, 6]), ("int8", "I8", "i1", [0, -1, 127, -128, 5, 6]),
            ("uint64", "U64", "u8", [0, 1, 2**63, 3, 5, 6]), ("uint32", "U32", "u4", [0, 1, 2**32 - 1, 3, 5, 6]),
            ("uint16", "U16", "u2", [0, 1, 2**16 - 1, 3, 5, 6]), ("uint8", "U8", "u1", [0, 1, 255, 3, 5, 6]),
            ("bool", "BOOL", "?", [True, False, True, True, False, False])]:
        out[name.lower()] = (kind, name, [2, 3], numpy.array(values, "<" + dtype).tobytes(), [float(v) for v in values])
    out["bf16"] = ("bfloat16", "BF16", [3, 2], bf16_bits(floats).tobytes(), floats)
    # 0, -0, 1, -1.5, 448 and 2^-9: the sign, four bits of exponent with bias 7, three of fraction.
    out["f8"] = ("float8_e4m3fn", "F8_E4M3", [6], bytes([0x00, 0x80, 0x38, 0xBC, 0x7E, 0x01]),
                 [0.0, -0.0, 1.0, -1.5, 448.0, 2.0**-9])
    out["scalar"] = ("float32", "F32", [], numpy.array([7.0], "<f4").tobytes(), [7.0])
    out["none"] = ("float32", "F32", [2, 0, 3], b"", [])
    out["quote \" backslash \\ tab \t \u00e9\U0001f600"] = ("int32", "I32", [1], numpy.array([3], "<i4").tobytes(), [3.0])
    return out


def write():
    os.makedirs(os.path.join(OUT, "sharded"), exist_ok=True)
    buffers = {name: numpy.frombuffer(data, "u1") for name, (_, _, _, data, _) in cases().items()}
    tensors = {name: safetensors.TensorSpec(dtype=kind, shape=shape, data_ptr=buffers[name].ctypes.data, data_len=len(data))
               for name, (kind, _, shape, data, _) in cases().items()}
    with open(os.path.join(OUT, "types.safetensors"), "wb") as file:
        file.write(safetensors.serialize(tensors, {"format": "np", "note": "line one\nline two \u00e9"}))
    with open(os.path.join(OUT, "types.json"), "w", encoding="utf-8") as file:
        json.dump({name: {"type": header, "shape": shape, "values": values} for name, (_, header, shape, _, values)
                   in cases().items()}, file, indent=1)
        file.write("\n")
    parts = [{"a": numpy.arange(6, dtype="f4").reshape(2, 3), "b": numpy.arange(4, dtype="i8")},
             {"c": numpy.arange(3, dtype="f2") / 2}]
    files = [f"model-{i + 1:05}-of-{len(parts):05}.safetensors" for i in range(len(parts))]
    for file, part in zip(files, parts):
        save_file(part, os.path.join(OUT, "sharded", file), {"format": "np"})
    index = {"metadata": {"total_size": sum(x.nbytes for part in parts for x in part.values())},
             "weight_map": {name: file for file, part in zip(files, parts) for name in part}}
    with open(os.path.join(OUT, "sharded", "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file, indent=1)
        file.write("\n")


def show(path):
    with open(path, "rb") as file:
        tensors = safetensors.deserialize(file.read())
    for name, tensor in sorted(tensors):
        print(json.dumps(name), tensor["dtype"], tensor["shape"], bytes(tensor["data"]).hex())
    with safetensors.safe_open(path, "np") as file:
        print(json.dumps(file.metadata(), sort_keys=True))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        show(sys.argv[1])
    else:
        write()
