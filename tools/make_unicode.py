#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/text/unicode_tables.inc: the ranges of characters of each general category of Unicode, and the simple
lower-case mappings, from the database of the package unicodedata2, or of Python itself.

usage: make_unicode.py [--check]     --check: only say whether the file is what would be written
"""
import argparse
import os
import sys

try:
    import unicodedata2 as unicodedata  # a newer database than Python's own
except ImportError:
    import unicodedata

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "text", "unicode_tables.inc")
LAST = 0x10FFFF


def category_ranges():
    """[(first, last, category)] of all assigned characters, neighbours of one category joined."""
    ranges = []
    for code in range(LAST + 1):
        category = unicodedata.category(chr(code))
        if category == "Cn":
            continue
        if ranges and ranges[-1][2] == category and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, category])
    return ranges


def lower_ranges():
    """[(first, last, step, difference)] of characters whose simple lower-case form is another one."""
    ranges = []
    for code in range(LAST + 1):
        lower = chr(code).lower()
        if len(lower) != 1 or ord(lower) == code:
            continue
        difference = ord(lower) - code
        if ranges and ranges[-1][3] == difference:
            step = code - ranges[-1][1]
            if ranges[-1][0] == ranges[-1][1] and step <= 2:
                ranges[-1][1], ranges[-1][2] = code, step
                continue
            if ranges[-1][2] == step:
                ranges[-1][1] = code
                continue
        ranges.append([code, code, 1, difference])
    return ranges


def table_text():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             f"// Unicode {unicodedata.unidata_version}, written by tools/make_unicode.py.",
             "// BW_CATEGORY(first, last, category), and BW_LOWER(first, last, step, difference): first, first + step, ...",
             "// have the lower-case form that lies `difference` on.",
             "// clang-format off"]
    cells = [f"BW_CATEGORY(0x{a:x}, 0x{b:x}, {c})" for a, b, c in category_ranges()]
    cells += [f"BW_LOWER(0x{a:x}, 0x{b:x}, {s}, {d})" for a, b, s, d in lower_ranges()]
    for i in range(0, len(cells), 8):
        lines.append(" ".join(cells[i:i + 8]))
    lines += ["// clang-format on", "#undef BW_CATEGORY", "#undef BW_LOWER", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    text = table_text()
    if parser.parse_args().check:
        with open(PATH, encoding="utf-8") as file:
            return 0 if file.read() == text else 1
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{PATH}: {text.count('BW_CATEGORY(0')} ranges of categories, {text.count('BW_LOWER(0')} of lower case")
    return 0


if __name__ == "__main__":
    sys.exit(main())
