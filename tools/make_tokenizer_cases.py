#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/text/*.json: what the Python packages tokenizers and sentencepiece make of varied text. Needs both.

  words.json   for every pre-tokenizer of src/tables/pretokenizers.def, the words of each text
  bpe.json     small byte-level BPE vocabularies, trained on the texts, with the ids of each text
  spm.json     a small SentencePiece model with byte fallback, with the ids of each text and of bytes that are not UTF-8

usage: make_tokenizer_cases.py
"""
import io
import json
import os
import random
import re

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = os.path.join(ROOT, "src", "tables", "pretokenizers.def")
SHARED = os.path.join(ROOT, "src", "text", "known_patterns.h")
OUT = os.path.join(ROOT, "tests", "text")

TEXTS = [
    "Hello, world! It's a test: we're sure they'll say they'd've won.",
    "HELLO WORLD, IT'S LOUD; WE'RE HERE, I'M NOT. İstanbul'S ſ's K's",
    "  leading, trailing  and   inner    spaces   \n\n\ttabs\t\tand\r\nlines\r\n\r\n   end  ",
    "1234567890 3.14159 1,000,000 0xff 1e-9 ٣٤٥ १२३ Ⅷ ½ x2 2x 007",
    "int main(int argc, char** argv) {\n  for (int i = 0; i < 10; ++i)\n    std::cout << \"i=\" << i << '\\n';\n  return 0; // done\n}\n",
    "def f(x):\n\treturn {k: v**2 for k, v in x.items() if v != 0}  # squares\n\n\n@dataclass\nclass A:\n    b: int = 3",
    "日本語のテキストとカタカナ、中文字符混合在一起。한국어 문장도 있습니다!「引用」",
    "Смешанный русский текст, українська мова й ещё Ελληνικά γράμματα; עברית ושלום, مرحبا بالعالم",
    "हिन्दी में लिखा हुआ पाठ और ไทยไม่มีช่องว่าง",
    "emoji 😀😃 👩‍👩‍👧‍👦 🇩🇪🏳️‍🌈 ❤️ 👍🏽 ok",
    "e\u0301a\u0308o\u0327 combining, café naïve coöperate Ångström ﬁ ﬂ",
    "a" * 130 + " " + "ab" * 60 + " " + "9" * 25 + " " + "!" * 20 + " " * 17 + "z",
    "mixed: $100 £5 €3 ¥7 + = < > ^ ~ | ` @#%&*()[]{}\\/ \u2018q\u2019 \u201cqq\u201d \u2013 \u2014 \u2026 \u00a0nbsp\u3000wide\u2028sep",
    "the quick brown fox jumps over the lazy dog. The Quick Brown Fox; THE QUICK. camelCaseWord snake_case_word",
    "HTMLParser iPhone McDonald's O'NEIL'S ǅep ʰaʰ ABCdef中文GHI e\u0301E\u0301 ЯбЛ a/b//\n/ !?/\r\n",
    "\n", " ", "\t \n", "a", "é", "'", "''s", "s'", " 's 'T 'll", "", "\u0000\u0001\u001f\u007f", "end\n\n", "x\n \n y",
]


def long_words():
    """Words of several thousand characters: letters that pieces are made of, one letter, and letters of three bytes."""
    rng = random.Random(6)
    return ["".join(rng.choice("thequickbrownfxjmpsvlazyd") for _ in range(5000)), "a" * 4000,
            "".join(rng.choice("日本語中文字한국어") for _ in range(2000))]


# What is not UTF-8: lone, missing and surplus bytes, encodings that are too long, surrogates, beyond the last character.
NOT_UTF8 = [b"\xff", b"a\x80b", b"\xc3", b"caf\xc3 ok", b"\xe2\x96", b"x\xe2\x96\x81y\xe2", b"\xf0\x9f\x98 z", b"\xc0\xaf", b"\xe0\x80\xaf",
            b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xfe\xfe\xff", b"the \xbfquick\xbf brown", bytes(range(1, 256))]


def random_texts(count):
    rng = random.Random(5)
    pieces = list(" \n\r\t'.,!?-_0123456789abcxyzABCXYZéßñжЖ中あ한ש😀\u0301\u200d\u00a0")
    return ["".join(rng.choice(pieces) for _ in range(rng.randint(1, 40))) for _ in range(count)]


def read_pretokenizers():
    """{name: [pattern]} from the table."""
    with open(SHARED, encoding="utf-8") as file:
        macros = dict(re.findall(r'^#define (BW_\w+_PATTERN) R"\((.*)\)"$', file.read(), re.M))
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    rows = {}
    for name, rest in re.findall(r'^BW_PRETOKENIZER\("([^"]+)", (.*)\)$', text, re.M):
        rows[name] = [macros[macro] if macro else raw for macro, raw in re.findall(r'(BW_\w+_PATTERN)|R"\((.*?)\)"', rest)]
    return rows


def splitter(patterns):
    # Oniguruma writes code points as \x{..}.
    fixed = [re.sub(r"\\u([0-9a-f]{4})", r"\\x{\1}", pattern) for pattern in patterns]
    return [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in fixed]


def words_of(patterns, text):
    return [word for word, _ in pre_tokenizers.Sequence(splitter(patterns)).pre_tokenize_str(text)]


def bpe_case(name, patterns, texts, whole_words, size):
    tokenizer = Tokenizer(models.BPE(ignore_merges=whole_words))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splitter(patterns) + [byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    vocabulary = [piece for piece, _ in sorted(model["vocab"].items(), key=lambda item: item[1])]
    if whole_words:  # words that merges do not lead to
        for word in ["Ġjumps", "quick", "ĠLoudly"]:
            if word not in vocabulary:
                vocabulary.append(word)
        full = Tokenizer(models.BPE({p: i for i, p in enumerate(vocabulary)}, [tuple(m) for m in model["merges"]],
                                    ignore_merges=True))
        full.pre_tokenizer = tokenizer.pre_tokenizer
        tokenizer = full
    return {"pre": name, "whole_words": whole_words, "pieces": vocabulary,
            "merges": [" ".join(merge) for merge in model["merges"]],
            "ids": [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]}


def spm_case(texts):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in TEXTS * 4 for line in text.split("\n") if line and "\0" not in line]),
        model_writer=model, model_type="bpe", vocab_size=700, byte_fallback=True, character_coverage=0.98,
        normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=True,
        split_digits=True, allow_whitespace_only_pieces=True, minloglevel=2)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    kinds, pieces, scores = [], [], []
    for i in range(processor.get_piece_size()):
        pieces.append(processor.id_to_piece(i))
        scores.append(processor.get_score(i))
        kinds.append(2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i)
                     else 5 if processor.is_unused(i) else 1)
    kept = [text for text in texts if "\0" not in text]
    return {"pieces": pieces, "scores": scores, "kinds": kinds, "texts": kept,
            "ids": [processor.encode(text) for text in kept], "decoded": [processor.decode(processor.encode(text)) for text in kept],
            "bytes": [raw.hex() for raw in NOT_UTF8], "ids_of_bytes": [processor.encode(raw) for raw in NOT_UTF8]}


def main():
    os.makedirs(OUT, exist_ok=True)
    texts = TEXTS + random_texts(60)
    rows = read_pretokenizers()
    files = {
        "words.json": {"texts": texts, "words": {name: [words_of(patterns, text) for text in texts]
                                                 for name, patterns in rows.items()
                                                 if name == next(n for n in rows if rows[n] == patterns)}},
        "bpe.json": {"texts": texts + long_words(),
                     # Long words for some: what a case has no ids of, it leaves out at the end.
                     "cases": [bpe_case(name, rows[name], texts + long_words(), whole_words, 700)
                               for name, whole_words in [("llama-bpe", True), ("qwen2", False), ("gpt-2", False)]] +
                              [bpe_case(name, rows[name], texts, name == "tekken", 400)
                               for name in ("falcon", "deepseek-llm", "deepseek-coder", "smollm", "gpt-4o", "tekken", "default")]},
        "spm.json": spm_case(texts + long_words()),
    }
    for name, value in files.items():
        with open(os.path.join(OUT, name), "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=True, separators=(",", ":"))
            file.write("\n")
        print(name, os.path.getsize(os.path.join(OUT, name)), "bytes")


if __name__ == "__main__":
    main()
