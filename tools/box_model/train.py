#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the model in the box on one GPU (or, tiny, on a CPU) within a time, and writes it as a GGUF file in f16.

Processes write documents from seeds of their own while the GPU trains, so no text is seen twice. The learning rate
follows the time: a short rise, then a cosine to zero at the end of --seconds.

usage: train.py OUT.gguf --vocabulary FILE [--seconds 480] [--batch 256] [--layers 8] ...
"""
import argparse
import contextlib
import math
import multiprocessing
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import exam
from corpus import documents, stories
from model import Llama, Sizes, continue_greedily, save
from vocabulary import Vocabulary


def write_batches(seed, vocabulary_path, rows, context, queue):
    """Endless blocks [rows, context + 1] of packed documents."""
    vocabulary = Vocabulary(vocabulary_path)
    stream, kept = documents(seed), []
    while True:
        while len(kept) <= rows * context:
            kept += vocabulary.document(next(stream))
        ids = np.array(kept[:rows * context + 1], np.uint16)
        kept = kept[rows * context:]
        queue.put(np.stack([ids[i * context:(i + 1) * context + 1] for i in range(rows)]))


def start_writers(options, context):
    queue = multiprocessing.Queue(maxsize=64)
    for i in range(options.workers):
        seed = options.seed * 1000 + 1 + i
        multiprocessing.Process(target=write_batches, daemon=True,
                                args=(seed, options.vocabulary, options.batch, context, queue)).start()
    return queue


def batch_loss(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).float().flatten(0, 1), ids[:, 1:].flatten())


def story_loss(model, vocabulary, precision, device, held, count=256):
    """Nats for each token of new stories, of mixtures that are held out or not."""
    rows = [vocabulary.document(text) for text in stories(7, count, held)]
    total = tokens = 0
    with torch.no_grad(), precision():
        for row in rows:
            ids = torch.tensor([row], device=device)
            total += batch_loss(model, ids).item() * (len(row) - 1)
            tokens += len(row) - 1
    return total / tokens


def exam_report(model, vocabulary, precision, arithmetic):
    """{group: share right}, and some wrong answers."""
    out, wrong = {}, []
    for group, items in exam.groups(arithmetic=arithmetic).items():
        with precision():
            answers = continue_greedily(model, [[1] + vocabulary.encode(prompt) for prompt, _ in items], 48)
        texts = [vocabulary.decode(ids).strip() for ids in answers]
        out[group] = sum(text == right for text, (_, right) in zip(texts, items)) / len(items)
        wrong += [(prompt, text, right) for text, (prompt, right) in zip(texts, items) if text != right][:6]
    return out, wrong


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--seconds", type=float, default=480, help="of training, without compiling and examining")
    parser.add_argument("--save-every", type=float, default=60, help="seconds between files")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.1)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--feed", type=int, default=768)
    parser.add_argument("--workers", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--exam", type=int, default=500, help="sums, differences, ... to ask at the end; 0: no exam")
    return parser.parse_args()


def main():
    options = parse()
    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocabulary = Vocabulary(options.vocabulary)
    model = Llama(Sizes(vocabulary=len(vocabulary.pieces), width=options.width, layers=options.layers,
                        feed=options.feed)).to(device)
    queue = start_writers(options, model.sizes.context)
    if device == "cuda":
        precision = lambda: torch.autocast("cuda", torch.bfloat16)
    else:
        precision = contextlib.nullcontext
    matrices = [p for p in model.parameters() if p.ndim == 2]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": options.decay},
                                   {"params": vectors, "weight_decay": 0.0}],
                                  lr=options.rate, betas=(0.9, 0.95), fused=device == "cuda")
    loss_of = torch.compile(batch_loss) if options.compile else batch_loss
    print(f"{sum(p.numel() for p in model.parameters())} parameters on {device}", flush=True)

    def step(rate):
        ids = torch.from_numpy(queue.get().astype(np.int64)).to(device, non_blocking=True)
        with precision():
            loss = loss_of(model, ids)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    begun = time.time()
    for _ in range(3):
        step(0.0).item()
    start = saved = told = time.time()
    print(f"ready after {start - begun:.0f} s", flush=True)
    steps, share = 0, 0.0
    while share < 1:
        share = (time.time() - start) / options.seconds
        rate = options.rate * min(1, share / 0.02) * 0.5 * (1 + math.cos(math.pi * min(1, share)))
        loss = step(rate)
        steps += 1
        if steps % 20 == 0 and time.time() - told > 10:
            told = time.time()
            tokens = steps * options.batch * model.sizes.context
            print(f"{told - start:5.0f} s  step {steps}  loss {loss.item():.4f}  {tokens / 1e6:.0f} M tokens, "
                  f"{tokens / (told - start) / 1e6:.2f} M/s, {queue.qsize()} blocks wait", flush=True)
        if time.time() - saved > options.save_every:
            saved = time.time()
            save(options.out + ".part", model, vocabulary)
            os.replace(options.out + ".part", options.out)
    save(options.out, model, vocabulary)
    tokens = steps * options.batch * model.sizes.context
    print(f"{steps} steps, {tokens / 1e6:.0f} M tokens, last loss {loss.item():.4f}")
    for held in (False, True):
        loss = story_loss(model, vocabulary, precision, device, held)
        print(f"{'held-out' if held else 'new'} stories: {loss:.4f} nats a token", flush=True)
    if options.exam:
        shares, wrong = exam_report(model, vocabulary, precision, options.exam)
        for group, value in shares.items():
            print(f"{100 * value:6.2f}%  {group}")
        for prompt, text, right in wrong:
            print(f"{prompt!r}: {text!r}, not {right!r}")
    for prompt in ("Once upon a time", "Question: Tell me a story about a dragon who loses a hat.\nAnswer:"):
        ids = continue_greedily(model, [[1] + vocabulary.encode(prompt)], 300)[0]
        print(f"--- {prompt}\n{vocabulary.decode(ids)}")


if __name__ == "__main__":
    main()
