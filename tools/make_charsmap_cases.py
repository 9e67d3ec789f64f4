#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/text/json/precompiled.json, a Unigram tokenizer with a table of SentencePiece for a normalizer (trained here,
on the texts of make_tokenizer_cases.py, by rules of our own), and tests/text/charsmap.json: what Python packages make of texts.

  texts       to tokenize
  normalized  each by the normalizer of tokenizers alone
  ids         and by the whole tokenizer
  clusters    of each text, by regex

usage: make_charsmap_cases.py
"""
import io
import json
import os
import random
import tempfile
import unicodedata

import regex
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from make_tokenizer_cases import OUT, TEXTS, random_texts
from make_tokenizer_json_cases import FOLDER, LINES, SPECIAL_TEXTS, around
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

# A text that begins another one, one that vanishes, one that gets longer, one of several characters.
RULES = {"\u2460": "1", "\ufb01": "fi", "\u3392": "MHz", "\u00ad": "", "\u200b": " ", "\t": " ", "\n": " ", "\r": " ", "\u3000": " ",
         "\u212b": "\u00c5", "\u1d62": "i", "qu": "QU", "qui": "*", "\u00bd": "1\u20442", "\u304b\u3099": "\u304c", "\uff76\uff9e": "\u30ac",
         "\U0001f1e9\U0001f1ea": "DE", "\U0001f600": ":-)", "\u0600": "#", "\u1100\u1161": "\uac00", "\u0915\u093c": "\u0958"}


def rules():
    out = dict(RULES)
    for code in list(range(0xc0, 0x180)) + list(range(0x1e00, 0x1e20)) + [0x3ac, 0x9cb]:
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) == 2:
            out[parts] = chr(code)
    for code in range(0xff01, 0xff5f):
        out[chr(code)] = chr(code - 0xfee0)
    return out


def train():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rules.tsv")
        with open(path, "w", encoding="utf-8") as file:
            for before, after in rules().items():
                file.write("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in (before, after)) + "\n")
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LINES), model_writer=model, vocab_size=260, hard_vocab_limit=False, character_coverage=0.98,
            normalization_rule_tsv=path, minloglevel=2, num_threads=1)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto


def tokenizer_of(proto):
    tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in proto.pieces], unk_id=0))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.post_processor = around("<s>", "</s>", [("<s>", 1), ("</s>", 2)])
    return tokenizer


def marked_texts(count):
    """Texts full of what clusters and rules are made of. (A virama behind something else joins for regex, not in UAX #29.)"""
    draw = random.Random(7)
    parts = list("aei \r\n\t\u0301\u0308\u0327\u200d\u200b\u00ad\u0600\u06dd\u2460\ufb01\u3392\u1d62\u0306\u00bd\u304b\u3099\uff76\uff9e"
                 "\u1100\u1161\u11a8\uac00\uac01\u0915\u093c\u0937\u0903\u09c7\u09be\u0e33\u0b47\U0001f1e9\U0001f1ea\U0001f600"
                 "\U0001f468\U0001f469\U0001f3fd\ufe0f\u2764\u00e9\uff21\u0000\U000110bd\u1f02q\u0958") + ["qu", "qui", "\u0915\u094d"]
    return ["".join(draw.choice(parts) for _ in range(draw.randint(1, 12))) for _ in range(count)]


def main():
    proto = train()
    text = json.dumps(json.loads(tokenizer_of(proto).to_str()), ensure_ascii=False, separators=(",", ":"))
    path = os.path.join(FOLDER, "precompiled.json")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text + "\n")
    tokenizer = Tokenizer.from_file(path)
    alone = normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap)
    texts = TEXTS + SPECIAL_TEXTS + random_texts(20) + marked_texts(300)
    cases = {"texts": texts, "normalized": [alone.normalize_str(t) for t in texts], "ids": [tokenizer.encode(t).ids for t in texts],
             "clusters": [regex.findall(r"\X", t) for t in texts]}
    with open(os.path.join(OUT, "charsmap.json"), "w", encoding="utf-8") as out:
        json.dump(cases, out, ensure_ascii=True, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
