#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operations.md from the tables of src/tables, so that a new row documents itself.

usage: docs_tables.py [--check] [--root FOLDER] [--print]
  --check   write nothing; fail if the committed file is not what the tables say
  --print   write to standard output
"""
import argparse
import os
import sys

import tables

HEAD = """# Operations

Made from `src/tables/*.def` by `tools/docs_tables.py`; do not edit. Bounds are in units in the last place
(ulp) of the result; "exact" results carry no rounding of their own, and 0.51 stands for one correct rounding.
Narrow floats (f16, bf16, f8e4m3) compute in f32 and round once more. Which dtypes all other operations take is in
[support.md](support.md).
"""


def bound(value):
    return "exact" if value == "0" else f"{value} ulp"


def code(text):
    """Text as inline code inside a table cell."""
    return "`" + text.replace("|", "\\|") + "`"


def cell(text):
    return text.replace("|", "\\|")


def dtypes_of(row, dtypes):
    floats = [r["name"] for r in dtypes if r.macro == "BW_DTYPE" and r["kind"] == "Float"]
    numbers = [r["name"] for r in dtypes if r.macro == "BW_DTYPE"]
    return f"all {len(numbers)}" if row["dtypes"] == "Number" else f"{len(floats)} floats"


def table(title, about, columns, rows):
    lines = [f"\n## {title}\n", about, "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def document(root):
    read = {name: tables.read_table(name, root)
            for name in ("unary", "binary", "reduce", "dtypes", "quants", "backends", "models", "errors")}
    dtypes = read["dtypes"]
    floats = ", ".join(r["name"] for r in dtypes if r.macro == "BW_DTYPE" and r["kind"] == "Float")
    integers = ", ".join(r["name"] for r in dtypes if r.macro == "BW_DTYPE" and r["kind"] == "Int")
    parts = [HEAD, f"\n\"Floats\" are {floats}; \"all\" adds the integers {integers}.\n"]
    parts.append(table(
        "Unary", "`x.method()`, elementwise.", ["method", "value", "dtypes", "f32", "f64", "derivative"],
        [[code(f"{r['method']}({r['param'] if r.has('param') else ''})"), cell(r.text("doc")), dtypes_of(r, dtypes),
          bound(r["ulp32"]), bound(r["ulp64"]), "none" if r["derivative"] == "NONE" else "yes"]
         for r in read["unary"]]))
    parts.append(table(
        "Binary", "`x.method(y)` with NumPy broadcasting; both sides have one dtype, or `y` is a number.",
        ["method", "value", "dtypes", "f32", "f64", "integer y = 0"],
        [[code(r["method"] + "(y)"), cell(r.text("doc")), dtypes_of(r, dtypes), bound(r["ulp32"]), bound(r["ulp64"]),
          "error" if r["guard"] == "NonZero" else "allowed"]
         for r in read["binary"] if r.macro == "BW_BINARY"]))
    parts.append(table(
        "Comparisons", "`x.method(y)` with NumPy broadcasting; the result is u8, 1 where it holds.",
        ["method", "holds where"],
        [[code(r["method"] + "(y)"), cell(r.text("doc"))] for r in read["binary"] if r.macro == "BW_COMPARE"]))
    parts.append(table(
        "Reductions", "`x.method(axes)` and `x.method_all()`. Bounds hold before the last rounding, over the elements"
        " `v`; `e` is the unit roundoff times (2 + 13 for each level of the order, docs/numerics.md).",
        ["method", "value", "dtypes", "over nothing", "error at most"],
        [[code(r["method"]), cell(r.text("doc")), dtypes_of(r, dtypes),
          "error" if r["empty"] == "ERROR" else r["empty"],
          "exact" if r["bound"] == "0" else code(r["bound"].replace("oracle::", "").replace("std::", ""))]
         for r in read["reduce"] if r.macro == "BW_REDUCE"]
        + [[code(r["method"]), cell(r.text("doc")) + "; the lowest of equal ones, NaN counts as the extreme",
            f"all {sum(d.macro == 'BW_DTYPE' for d in dtypes)}", "error", "exact"]
           for r in read["reduce"] if r.macro == "BW_ARG_REDUCE"]))
    parts.append(table(
        "Dtypes", "Storage dtypes are moved and decoded; they have no arithmetic.",
        ["dtype", "bits", "kind", "computes in"],
        [[code(r["name"]), r["bits"], r["kind"].lower() if r.has("kind") else "storage",
          code(r["compute"]) if r.has("compute") else "-"] for r in dtypes]))
    parts.append(table(
        "Quantized formats", "Blocks of weights as GGUF files hold them.",
        ["format", "id in GGUF", "elements", "bytes", "bits per element", "activations", "importance matrix"],
        [[code(r["name"]), r["ggml_id"], r["elements"], r["bytes"], f"{8 * int(r['bytes']) / int(r['elements']):g}",
          code(r["dot_partner"].lower()), r["imatrix"].lower()] for r in read["quants"]]))
    forms = {"None": "{0}", "Ordinal": "{0}:0", "Arch": "{0}:gfx1100"}
    parts.append(table(
        "Devices", "As `Device::parse` and the command read them.", ["device"],
        [[code(forms[r.values[2]].format(r.values[1]))] for r in read["backends"]]))
    if read["models"]:
        parts.append(table(
            "Models", "From GGUF files, and from Hugging Face folders with the architecture's name there.",
            ["architecture in GGUF", "models", "about"],
            [[code(r.values[1].strip('"')), *(cell(value.strip('"')) for value in r.values[2:4])] for r in read["models"]]))
    parts.append(table(
        "Errors", "The kind of an `Error`, the command's exit status and the worker's HTTP status.",
        ["kind", "exit", "HTTP", "what to do"],
        [[code(r["Name"]), r["exit_code"], r["http_status"], cell(r.values[3].strip('"'))] for r in read["errors"]]))
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", default=tables.ROOT)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--print", action="store_true")
    args = parser.parse_args()
    text = document(args.root)
    path = os.path.join(args.root, "docs", "operations.md")
    if args.print:
        print(text, end="")
        return 0
    if args.check:
        try:
            with open(path, encoding="utf-8") as file:
                current = file.read()
        except OSError:
            current = ""
        if current != text:
            print("docs/operations.md is not what the tables say: run ./dev format")
            return 1
        print("docs/operations.md is what the tables say")
        return 0
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
