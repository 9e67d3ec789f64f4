# SPDX-License-Identifier: Apache-2.0
"""Documents to train on, endless and from a seed; and documents that are never trained on.

A document is a story, a story with questions, or one question with its answer:

    Question: What is the capital of France?
    Answer: The capital of France is Paris.

One question in six stands without the two words in front, its answer behind it on the same line.
"""
import random

from arithmetic import arithmetic_question
from questions import fact_question
from stories import compose, questions_about, request_for

PROMPT = "Question: {q}\nAnswer:"


def dialogue(question, answer, rng):
    return f"{question} {answer}" if rng.random() < 1 / 6 else f"{PROMPT.format(q=question)} {answer}"


def story_document(rng, held=False):
    plot, words, text = compose(rng, held)
    chance = rng.random()
    if chance < 0.5:
        return text
    if chance < 0.8:
        return dialogue(request_for(plot, words, rng), text, rng)
    return "\n".join([text] + [f"{PROMPT.format(q=q)} {a}" for q, a in questions_about(plot, words, rng)])


def document(rng):
    chance = rng.random()
    if chance < 0.14:
        return story_document(rng)
    question, answer = fact_question(rng) if chance < 0.54 else arithmetic_question(rng)
    return dialogue(question, answer, rng)


def documents(seed):
    rng = random.Random(seed)
    while True:
        yield document(rng)


def stories(seed, count, held):
    """Stories whose hero's kind, object and place are never together in training, or are."""
    rng = random.Random(seed)
    return [story_document(rng, held) for _ in range(count)]
