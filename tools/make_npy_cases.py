#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/io/npy/: files that NumPy writes, and in cases.json what is in them. Needs numpy.

usage: make_npy_cases.py            writes the cases
       make_npy_cases.py FILE       prints what FILE holds: type, shape, values
"""
import json
import os
import sys

import numpy

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "io", "npy")
FLOATS = [0.0, -0.0, 1.5, -2.25, 1000.0, 0.0078125]
READ = {"f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i16", "u4": "u32", "u2": "u32",
        "u1": "u8", "b1": "u8"}


def arrays():
    """name: the array."""
    out = {}
    for code in READ:
        kind, size = code[0], 8 * int(code[1])
        values = FLOATS if kind == "f" else [1, 0, 1, 1, 0, 0] if kind == "b" else \
            [0, 1, 2**size - 1, 3, 5, 6] if kind == "u" else [0, -1, 2**(size - 1) - 1, -2**(size - 1), 5, 6]
        array = numpy.array(values, numpy.dtype(code)).reshape(2, 3)
        out[code] = array
        if size > 8:
            out[code + "_big_endian"] = array.astype(">" + code)
    out["fortran"] = numpy.asfortranarray(numpy.arange(24, dtype="f4").reshape(2, 3, 4))
    out["fortran_big_endian"] = numpy.asfortranarray(numpy.arange(6, dtype=">u2").reshape(3, 2))
    out["scalar"] = numpy.array(7.5)
    out["vector"] = numpy.arange(5, dtype="i8")
    out["row_as_both"] = numpy.arange(4, dtype="f4").reshape(1, 4)
    out["none"] = numpy.zeros((2, 0, 3), "f4")
    out["eight_axes"] = numpy.arange(4, dtype="u1").reshape(1, 2, 1, 1, 2, 1, 1, 1)
    out["refused_u8"] = numpy.array([2**63], "u8")
    out["refused_complex"] = numpy.array([1j])
    out["refused_text"] = numpy.array(["one", "two"])
    out["refused_records"] = numpy.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])
    out["refused_nested"] = numpy.array([(1, (2, 3))], [("a", "i4"), ("b", [("}", "i4"), ("d", "i4")])])
    out["refused_object"] = numpy.array([None, {}], object)
    return out


def write():
    os.makedirs(OUT, exist_ok=True)
    cases = {}
    for name, array in arrays().items():
        numpy.save(os.path.join(OUT, name + ".npy"), array)
        dtype = READ.get(array.dtype.kind + str(array.dtype.itemsize)) if array.dtype.names is None else None
        values = None if name.startswith("refused") else [str(int(v) if array.dtype == bool else v.item()) for v in array.flatten()]
        cases[name] = {"dtype": None if values is None else dtype, "shape": list(array.shape), "values": values}
    for version in ((2, 0), (3, 0)):
        name = f"version_{version[0]}"
        with open(os.path.join(OUT, name + ".npy"), "wb") as file:
            numpy.lib.format.write_array(file, numpy.arange(3, dtype="i4"), version)
        cases[name] = {"dtype": "i32", "shape": [3], "values": ["0", "1", "2"]}
    with open(os.path.join(OUT, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(cases, file, indent=1)
        file.write("\n")


def show(path):
    array = numpy.load(path)
    print(array.dtype.str, list(array.shape), [str(v) for v in array.flatten().tolist()])


if __name__ == "__main__":
    show(sys.argv[1]) if len(sys.argv) > 1 else write()
