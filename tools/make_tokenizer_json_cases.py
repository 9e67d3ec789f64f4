#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small `tokenizer.json` files of many kinds into tests/text/json, trained here on the texts of
make_tokenizer_cases.py, and tests/text/json_cases.json: what the Python package tokenizers makes of texts with them.

  ids      of each text, special tokens found and added
  plain    the same with special tokens neither found nor added
  decoded  the text of `ids`, null where the package loses something of it

usage: make_tokenizer_json_cases.py
"""
import json
import os

from make_tokenizer_cases import OUT, TEXTS, random_texts, read_pretokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = os.path.join(OUT, "json")
LINES = [line for text in TEXTS * 2 for line in text.split("\n") if line]
SPECIAL_TEXTS = [
    "<s>hello</s> world <s> <unk>", "a <mask> b<mask>c  <mask>  d", "[CLS] a [MASK] b[SEP]", "<|end|>one<|end|> two <|end|>",
    "  <mask>", "xTAGx TAG, TAG", "İTAG tag Tag", "new\n\nlines\n\n\nand\u2581\u2581bars \u2581x", "<0x41> <0xZZ>",
    "dog's don't I'm we've , . ! ?", "\u1e9b\u0323 \u212b \ufb01 \u3392 \uac00\u1100\u1161\u11a8 \u0344 a\u0315\u0300\u05ae\u0062",
    "Ünïcödé ÀÉÎ ǅ ΑΣ Σ \u0130\u0307", "\u4e2da\uf900b\U00020000 \ufffd \u200b\u00ad|\u2028|\u0085|\u3000",
    "Ⓐ🄰 a\u200db \u0660\u00bd\u2167 __x__ a-b_c", "x" * 120 + " y",
]
GPT4O = ("[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+")
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
BARS = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(pattern, behavior, invert)


def around(first, last, tokens):
    parts = ([first] if first else []) + ["$A"] + ([last] if last else [])
    return processors.TemplateProcessing(single=" ".join(parts), pair=None, special_tokens=[(t, i) for t, i in tokens])


def byte_level(words, size=330, **options):
    """Byte-level BPE behind the steps `words`."""
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = words
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(
        vocab_size=size, special_tokens=["<|end|>"], show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def bars(setup, extra=(), **options):
    """BPE over characters with U+2581 for spaces and byte tokens; setup(tokenizer) sets the steps."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    setup(trained)
    trained.train_from_iterator([line[:60] for line in LINES], trainers.BpeTrainer(
        vocab_size=220, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False, limit_alphabet=90))
    model = json.loads(trained.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    pieces = pieces[:3] + BYTES + list(extra) + pieces[3:]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, [tuple(m) for m in model["merges"]],
                                     unk_token="<unk>", byte_fallback=True, **options))
    setup(tokenizer)
    tokenizer.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = around("<s>", None, [("<s>", 1)])
    return tokenizer


def llama3():
    words = pre_tokenizers.Sequence([split(Regex(read_pretokenizers()["llama-bpe"][0])),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer = byte_level(words, ignore_merges=True)
    model = json.loads(tokenizer.to_str())["model"]
    pieces = {**model["vocab"], "\u0120jumps": 330, "quick": 331, "<|eot_id|>": 332}
    full = Tokenizer(models.BPE(pieces, [tuple(m) for m in model["merges"]], ignore_merges=True))
    full.pre_tokenizer, full.decoder = words, tokenizer.decoder
    full.add_special_tokens(["<|end|>", "<|eot_id|>", "<s>"])
    full.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), around("<s>", None, [("<s>", 333)])])
    return full


def qwen2():
    tokenizer = byte_level(pre_tokenizers.Sequence([split(Regex(read_pretokenizers()["qwen2"][0])),
                                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))


def roberta():
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.add_special_tokens(["<s>", "</s>"])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>")))
    return tokenizer


def gpt4o():
    tokenizer = byte_level(pre_tokenizers.Sequence([split(Regex(GPT4O), "removed", True),
                                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    tokenizer.post_processor = around(None, "<|end|>", [("<|end|>", 0)])
    return tokenizer


def digits():
    return byte_level(pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=False), pre_tokenizers.Punctuation("contiguous"), split("the", "merged_with_next"),
        split(Regex("[0-9][0-9][0-9]"), "merged_with_previous"), split(Regex("(?<=a)b+|\\bq"), "contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]))


def added():
    """Added tokens of every kind, found before and behind a normalizer."""
    tokenizer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), size=300)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False), "</s>"])
    tokenizer.add_tokens([AddedToken("TAG", single_word=True, normalized=False), AddedToken("Tag", normalized=True),
                          AddedToken("\n\n", normalized=False), AddedToken("quick b", normalized=True), AddedToken("日本語", normalized=False)])
    return tokenizer


def llama2():
    def setup(tokenizer):
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        tokenizer.decoder = decoders.Sequence(BARS + [decoders.Strip(" ", 1, 0)])
    return bars(setup, fuse_unk=True)


def mistral():
    def setup(tokenizer):
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence(BARS + [decoders.Strip(" ", 1, 0)])
    return bars(setup)


def gemma():
    def setup(tokenizer):
        tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
        tokenizer.pre_tokenizer = split(" ", "merged_with_previous")
        tokenizer.decoder = decoders.Sequence(BARS)
    tokenizer = bars(setup, ["\u2581\u2581", "\n\n"], fuse_unk=True)
    tokenizer.add_tokens([AddedToken("\u2581\u2581", normalized=False), AddedToken("\n\n", normalized=False)])
    return tokenizer


def unknowns(fuse):
    """No byte tokens: characters outside the alphabet are unknown."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=160, special_tokens=["<unk>"], show_progress=False, limit_alphabet=60))
    return tokenizer


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(LINES, trainers.WordPieceTrainer(
        vocab_size=320, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False, limit_alphabet=110))
    tokens = [(t, tokenizer.token_to_id(t)) for t in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = around("[CLS]", "[SEP]", tokens) if lowercase else processors.BertProcessing(tokens[1], tokens[0])
    return tokenizer


def unigram(byte_fallback):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator([line for line in LINES if line.isascii()], trainers.UnigramTrainer(
        vocab_size=150, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False))
    if byte_fallback:
        model = json.loads(tokenizer.to_str())["model"]
        tokenizer.model = models.Unigram([(t, s) for t, s in model["vocab"]] + [(byte, -20.0) for byte in BYTES], 0, True)
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
        tokenizer.decoder = decoders.Sequence(BARS + [decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = around(None, "</s>", [("</s>", 1)])
    return tokenizer


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit("_"), pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)])
    tokenizer.train_from_iterator(LINES, trainers.WordLevelTrainer(vocab_size=120, special_tokens=["<unk>"], show_progress=False))
    return tokenizer


def older(text):
    """The same file as older versions of the package wrote it: merges as text, no type of the model."""
    file = json.loads(text)
    file["model"]["merges"] = [" ".join(pair) for pair in file["model"]["merges"]]
    del file["model"]["type"], file["model"]["ignore_merges"], file["model"]["byte_fallback"]
    return json.dumps(file)


CASES = {"llama3": llama3, "qwen2": qwen2, "gpt2": gpt2, "roberta": roberta, "gpt4o": gpt4o, "digits": digits, "added": added,
         "llama2": llama2, "mistral": mistral, "gemma": gemma, "unknown": lambda: unknowns(False), "unknown_fused": lambda: unknowns(True),
         "bert": lambda: bert(True), "bert_cased": lambda: bert(False), "unigram": lambda: unigram(False),
         "unigram_bytes": lambda: unigram(True), "word_level": word_level}


def loses(file, text):
    """Where decoding by the package drops what it encoded: all U+2581 of a first token, and the case of an added token
    that is looked for in lower-case text."""
    decoder = file["decoder"]
    if decoder is not None and decoder["type"] == "Metaspace" and text[:1] in (" ", "\u2581", ""):
        return True
    return any(token["normalized"] and token["content"] == "Tag" for token in file["added_tokens"]) and "tag" in text.lower()


def main():
    os.makedirs(FOLDER, exist_ok=True)
    texts = TEXTS + SPECIAL_TEXTS + random_texts(30)
    cases = {}
    for name, make in CASES.items():
        text = make().to_str()
        text = older(text) if name == "gpt2" else text
        with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as out:
            out.write(json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n")
        tokenizer = Tokenizer.from_file(os.path.join(FOLDER, name + ".json"))
        case = {"ids": [tokenizer.encode(t).ids for t in texts]}
        case["decoded"] = [None if loses(json.loads(text), t) else tokenizer.decode(ids) for t, ids in zip(texts, case["ids"])]
        tokenizer.encode_special_tokens = True
        case["plain"] = [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]
        cases[name] = case
    with open(os.path.join(OUT, "json_cases.json"), "w", encoding="utf-8") as out:
        json.dump({"texts": texts, "cases": cases}, out, ensure_ascii=True, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
