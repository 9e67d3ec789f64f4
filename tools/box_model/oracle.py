#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the model in the box must say, by PyTorch in f64 from the dequantized weights, for tests/model/box.json.

The command rounds activations to 8 bits, so a test may only ask where the likeliest token is ahead of the next one
by more than that rounding moves logits: a continuation is kept up to the first place where it leads by less than
--lead.

usage: oracle.py MODEL.gguf OUT.json [--lead 1.0]
"""
import argparse
import json

import torch

import gguf
from corpus import PROMPT
from model import load
from vocabulary import BEGIN, END, Vocabulary

PROMPTS = [PROMPT.format(q="Which language is spoken in Mexico?"), PROMPT.format(q="What is 59 + 64?"),
           PROMPT.format(q="Count from 27 to 36."), "How many days does April have?",
           "Ruby was a small owl. Ruby had a golden drum that she loved more than anything. One day, the drum was gone."
           "\nQuestion: What colour was the drum?\nAnswer:"]


@torch.no_grad()
def continuation(model, ids, lead, most=300):
    """(ids behind the prompt, the smallest lead among them, whether the model ended)."""
    out, smallest = [], float("inf")
    while len(out) < most:
        two = model(torch.tensor([ids + out]))[0, -1].topk(2)
        ahead = (two.values[0] - two.values[1]).item()
        if ahead < lead:
            return out, smallest, False
        smallest = min(smallest, ahead)
        if two.indices[0] == END:
            return out, smallest, True
        out.append(two.indices[0].item())
    return out, smallest, False


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("out")
    parser.add_argument("--lead", type=float, default=1.0)
    options = parser.parse_args()
    model = load(options.model).double()
    vocabulary = Vocabulary(pieces=gguf.read(options.model)[0]["tokenizer.ggml.tokens"])
    cases = []
    for prompt in PROMPTS:
        ids = [BEGIN] + vocabulary.encode(prompt)
        answer, smallest, ended = continuation(model, ids, options.lead)
        cases.append({"prompt": prompt, "prompt_ids": ids, "ids": answer, "text": vocabulary.decode(answer),
                      "ends": ended, "lead": round(smallest, 3)})
        print(f"{len(answer)} tokens, ended: {ended}, lead {smallest:.3f}: {cases[-1]['text'][:70]!r}")
    with open(options.out, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
