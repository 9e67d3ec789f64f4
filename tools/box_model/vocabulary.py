#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of the model in the box: byte pair merges over our own text, in SentencePiece's form.

Ids: <unk>, <s>, </s>, 256 bytes, the printable characters of ASCII and the newline, then merges, the likeliest first.
Pieces never reach over a space, a digit or a mark, so a text is cut into words first and each word is encoded once.

usage: vocabulary.py OUT.json [--pieces 2048] [--documents 60000]
"""
import argparse
import collections
import functools
import itertools
import json
import re

from corpus import documents

SPACE = "\u2581"
WORD = re.compile(rf"{SPACE}?[A-Za-z]+|[0-9]|\n|{SPACE}?[^A-Za-z0-9{SPACE}\n]|{SPACE}")
UNKNOWN, BEGIN, END = 0, 1, 2
FIRST_BYTE = 3
# Kinds as GGUF counts them.
NORMAL, UNKNOWN_KIND, CONTROL, BYTE = 1, 2, 3, 6


def words_of(text):
    return WORD.findall(SPACE + text.replace(" ", SPACE))


def base_pieces():
    characters = [SPACE, "\n"] + [chr(c) for c in range(33, 127)]
    return ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + characters


def train(texts, pieces):
    """The list of pieces."""
    counts = collections.Counter(word for text in texts for word in words_of(text))
    splits = {word: list(word) for word in counts if len(word) > 1 and word.isascii() or word[0] == SPACE}
    out = base_pieces()
    while len(out) < pieces:
        pairs = collections.Counter()
        for word, split in splits.items():
            for pair in itertools.pairwise(split):
                pairs[pair] += counts[word]
        best = max(pairs.items(), key=lambda item: (item[1], item[0]))[0]
        out.append("".join(best))
        for split in splits.values():
            at = 0
            while at + 1 < len(split):
                if split[at] == best[0] and split[at + 1] == best[1]:
                    split[at:at + 2] = ["".join(best)]
                at += 1
    return out


class Vocabulary:
    """Of a file that this program wrote, or of the pieces themselves."""

    def __init__(self, path=None, pieces=None):
        if pieces is None:
            with open(path, encoding="utf-8") as file:
                pieces = json.load(file)
        self.pieces = pieces
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        self.first_merge = len(base_pieces())
        self.encode_word = functools.lru_cache(maxsize=1 << 17)(self._encode_word)

    def scores(self):
        """The earlier a merge, the higher its score."""
        return [-float(max(0, i - self.first_merge + 1)) for i in range(len(self.pieces))]

    def kinds(self):
        return [UNKNOWN_KIND, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * (len(self.pieces) - 259)

    def _encode_word(self, word):
        split = list(word)
        while len(split) > 1:
            ranks = [self.ids.get(a + b, len(self.pieces)) for a, b in itertools.pairwise(split)]
            at = min(range(len(ranks)), key=ranks.__getitem__)
            if ranks[at] == len(self.pieces):
                break
            split[at:at + 2] = [split[at] + split[at + 1]]
        ids = []
        for piece in split:
            ids += [self.ids[piece]] if piece in self.ids else [FIRST_BYTE + byte for byte in piece.encode()]
        return tuple(ids)

    def encode(self, text):
        """Without <s>."""
        return [i for word in words_of(text) for i in self.encode_word(word)]

    def document(self, text):
        return [BEGIN] + self.encode(text) + [END]

    def decode(self, ids):
        out = b""
        for i in ids:
            if FIRST_BYTE <= i < FIRST_BYTE + 256:
                out += bytes([i - FIRST_BYTE])
            elif i > END:
                out += self.pieces[i].replace(SPACE, " ").encode()
        return out.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--pieces", type=int, default=2048)
    parser.add_argument("--documents", type=int, default=60000)
    options = parser.parse_args()
    pieces = train(itertools.islice(documents(0), options.documents), options.pieces)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(pieces, file, ensure_ascii=False, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
