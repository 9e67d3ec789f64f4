#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/text/unicode_tables.inc: the ranges of characters of each general category of Unicode, and the simple
lower-case mappings; and src/text/unicode_forms.inc: decompositions, compositions and combining classes, which the
normal forms are made of. From the database of the package unicodedata2, or of Python itself. And
src/text/unicode_graphemes.inc: which characters stay together in a grapheme cluster, from the package regex, which also
knows the lower case of letters that are newer than Python.

usage: make_unicode.py [--check]     --check: only say whether the files are what would be written
"""
import argparse
import os
import sys
import unicodedata as pythons

import regex

try:
    import unicodedata2 as unicodedata  # a newer database than Python's own
except ImportError:
    unicodedata = pythons

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "text")
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


def new_lower(character, lower_letters):
    """The lower case of a capital letter that Python does not have yet: the one that is the same but for case."""
    same = regex.findall("(?i)" + character, lower_letters)
    if len(same) != 1:
        sys.exit(f"make_unicode.py: U+{ord(character):X} has {len(same)} lower-case forms; a newer regex may know it")
    return same[0]


def lower_ranges():
    """[(first, last, step, difference)] of characters whose simple lower-case form is another one."""
    lower_letters = "".join(chr(code) for code in range(LAST + 1) if unicodedata.category(chr(code)) == "Ll")
    ranges = []
    for code in range(LAST + 1):
        lower = chr(code).lower()
        if unicodedata.category(chr(code)) in ("Lu", "Lt") and pythons.category(chr(code)) == "Cn":
            lower = new_lower(chr(code), lower_letters)
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


def is_hangul(code):
    return 0xAC00 <= code < 0xD7A4  # composed by arithmetic


def combining_ranges():
    """[(first, last, class)] of characters with a combining class other than 0."""
    ranges = []
    for code in range(LAST + 1):
        value = unicodedata.combining(chr(code))
        if value == 0:
            continue
        if ranges and ranges[-1][2] == value and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, value])
    return ranges


def forms_text():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             f"// Unicode {unicodedata.unidata_version}, written by tools/make_unicode.py.",
             "// BW_COMBINING(first, last, class); BW_DECOMPOSE(code, 1 for compatibility, count, parts...): one step, in",
             "// order of the code; BW_COMPOSE(first, second, code), in order of both.",
             "// clang-format off"]
    cells = [f"BW_COMBINING(0x{a:x},0x{b:x},{c})" for a, b, c in combining_ranges()]
    compositions = []
    for code in range(LAST + 1):
        mapping = unicodedata.decomposition(chr(code)).split()
        if not mapping or is_hangul(code):
            continue
        compatibility = mapping[0].startswith("<")
        codes = [int(part, 16) for part in mapping[compatibility:]]
        cells.append(f"BW_DECOMPOSE(0x{code:x},{int(compatibility)},{len(codes)},{','.join(f'0x{c:x}' for c in codes)})")
        # What the standard excludes from composition changes in NFC.
        if len(codes) == 2 and not compatibility and unicodedata.normalize("NFC", chr(code)) == chr(code):
            compositions.append((codes[0], codes[1], code))
    cells += [f"BW_COMPOSE(0x{a:x},0x{b:x},0x{c:x})" for a, b, c in sorted(compositions)]
    for i in range(0, len(cells), 16):
        lines.append(" ".join(cells[i:i + 16]))
    names = ["COMBINING", "DECOMPOSE", "COMPOSE"]
    lines += ["// clang-format on"] + [f"#undef BW_{name}" for name in names] + [""]
    return "\n".join(lines)


CLUSTER_CLASSES = {"CR": "CR", "LF": "LF", "Control": "Control", "Extend": "Extend", "ZWJ": "Joiner", "Regional_Indicator": "Regional",
                   "Prepend": "Prepend", "SpacingMark": "Spacing", "L": "L", "V": "V", "T": "T"}


def cluster_ranges():
    """[(first, last, class, conjunct)] of characters that clusters take for more than themselves; the two kinds of Hangul
    syllables follow from arithmetic."""
    characters = "".join(chr(code) for code in range(LAST + 1) if not 0xD800 <= code < 0xE000)
    classes, conjuncts = {}, {}
    for name, ours in CLUSTER_CLASSES.items():
        classes.update((ord(c), ours) for c in regex.findall(rf"\p{{GCB={name}}}", characters))
    classes.update((ord(c), "Pictograph") for c in regex.findall(r"\p{Extended_Pictographic}", characters) if ord(c) not in classes)
    for name in ("Linker", "Consonant", "Extend"):
        conjuncts.update((ord(c), name) for c in regex.findall(rf"\p{{InCB={name}}}", characters))
    ranges = []
    for code in sorted(classes.keys() | conjuncts.keys()):
        kinds = (classes.get(code, "Other"), conjuncts.get(code, "None"))
        if ranges and ranges[-1][2:] == kinds and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code, *kinds)
        else:
            ranges.append((code, code, *kinds))
    return ranges


def graphemes_text():
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Written by tools/make_unicode.py.",
             "// BW_CLUSTER(first, last, Grapheme_Cluster_Break or Extended_Pictographic, Indic_Conjunct_Break)",
             "// clang-format off"]
    cells = [f"BW_CLUSTER(0x{a:x},0x{b:x},{c},{d})" for a, b, c, d in cluster_ranges()]
    for i in range(0, len(cells), 8):
        lines.append(" ".join(cells[i:i + 8]))
    return "\n".join(lines + ["// clang-format on", "#undef BW_CLUSTER", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, text in (("unicode_tables.inc", table_text()), ("unicode_forms.inc", forms_text()),
                       ("unicode_graphemes.inc", graphemes_text())):
        path = os.path.join(FOLDER, name)
        if check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    return 1
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"{name}: {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
