# SPDX-License-Identifier: Apache-2.0
"""Templates: "[a|b [c|d]]" chooses one of its parts, "{name}" is replaced from a dictionary.

"{a:name}" puts the indefinite article in front, "{^name}" capitalizes the first letter. Choices nest.
"""
import functools


def article(words):
    """"a fox", "an owl"."""
    first = words.split()[0].lower()
    vowel = first[0] in "aeiou" and not first.startswith(("uni", "use", "one"))
    return ("an " if vowel or first in ("hour", "honest") else "a ") + words


def capital(text):
    return text[:1].upper() + text[1:]


def _parse(text, at, inside):
    """The parts of one sequence from `at`: strings, ("slot", name), ("choice", sequences); and where it ends."""
    parts, plain = [], ""
    while at < len(text):
        c = text[at]
        if inside and c in "|]":
            break
        if c == "[":
            parts.append(plain)
            plain, options = "", []
            while c != "]":
                option, at = _parse(text, at + 1, True)
                options.append(option)
                c = text[at]
            parts.append(("choice", options))
        elif c == "{":
            parts.append(plain)
            end = text.index("}", at)
            parts.append(("slot", text[at + 1:end]))
            plain, at = "", end
        else:
            plain += c
        at += 1
    parts.append(plain)
    return [part for part in parts if part], at


@functools.lru_cache(maxsize=None)
def _compiled(text):
    parts, at = _parse(text, 0, False)
    if at != len(text):
        raise ValueError(f"unbalanced template: {text}")
    return parts


def _slot(name, words):
    if name[0] == "^":
        return capital(_slot(name[1:], words))
    if name.startswith("a:"):
        return article(words[name[2:]])
    return words[name]


def _render(parts, words, rng, out):
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif part[0] == "slot":
            out.append(_slot(part[1], words))
        else:
            options = part[1]
            _render(options[int(rng.random() * len(options))], words, rng, out)


def expand(template, words, rng):
    """The template with its choices made by `rng` and its slots filled from `words`."""
    out = []
    _render(_compiled(template), words, rng, out)
    return "".join(out)


def pick(rng, items):
    return items[int(rng.random() * len(items))]
