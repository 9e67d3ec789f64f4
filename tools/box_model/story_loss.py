#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loss of the model in the box on new stories, of mixtures that were trained and of those that were held out.

usage: story_loss.py MODEL.gguf [--stories 256]
"""
import argparse
import contextlib

import gguf
from model import load
from train import story_loss
from vocabulary import Vocabulary


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument("--stories", type=int, default=256)
    options = parser.parse_args()
    model = load(options.model)
    vocabulary = Vocabulary(pieces=gguf.read(options.model)[0]["tokenizer.ggml.tokens"])
    for held in (False, True):
        loss = story_loss(model, vocabulary, contextlib.nullcontext, "cpu", held, options.stories)
        print(f"{'held-out' if held else 'trained'} mixtures: {loss:.4f} nats a token")


if __name__ == "__main__":
    main()
