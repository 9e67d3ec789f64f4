# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of src/tables/*.def for the other tools, by the same rule as the preprocessor: columns are
separated by commas outside parentheses and quotes. The names of the columns are read from the table's own
leading comment, so that a new column needs no change here."""
import os
import re
from dataclasses import dataclass

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
_ROW = re.compile(r"^(BW_\w+)\((.*)\)\s*$")


@dataclass
class Row:
    """One row: its macro, its columns in order, its line number (from 1), and the columns' names."""
    macro: str
    values: list
    line: int
    names: list

    def __getitem__(self, name):
        return self.values[self.names.index(name)]

    def has(self, name):
        return name in self.names

    def text(self, name):
        """The column as plain text, without the quotes of a string."""
        value = self[name]
        return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def split_columns(text):
    """The columns of a row's argument list."""
    columns, depth, quoted, current, escaped = [], 0, False, "", False
    for char in text:
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            columns.append(current.strip())
            current = ""
            continue
        current += char
    columns.append(current.strip())
    return columns


def column_names(lines):
    """{macro: column names}, from the shown forms `BW_UNARY(Name, method, ...)` of the leading comment."""
    names = {}
    for line in lines:
        if not line.startswith("//"):
            break
        for macro, columns in re.findall(r"(BW_\w+)\(([^)]*)\)", line):
            names.setdefault(macro, [name.strip() for name in columns.split(",")])
    # "... the same from dtypes on" stands for the first macro's columns from that one on.
    for macro, columns in names.items():
        same = re.match(r"\.\.\. the same from (\w+) on", columns[-1])
        if same:
            first = next(iter(names.values()))
            names[macro] = columns[:-1] + first[first.index(same.group(1)):]
    return names


def read_table(name, root=ROOT):
    """The rows of src/tables/NAME.def."""
    with open(os.path.join(root, "src", "tables", name + ".def"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    names, rows = column_names(lines), []
    for number, line in enumerate(lines, 1):
        match = _ROW.match(line)
        if not match:
            continue
        macro, values = match.group(1), split_columns(match.group(2))
        if len(values) != len(names.get(macro, [])):
            raise ValueError(f"src/tables/{name}.def:{number}: {len(values)} columns, but the comment on top shows "
                             f"{macro} with {len(names.get(macro, []))}")
        rows.append(Row(macro, values, number, names[macro]))
    return rows
