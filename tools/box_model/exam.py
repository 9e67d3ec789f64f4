# SPDX-License-Identifier: Apache-2.0
"""Questions that training never sees, with the right answers, by group."""
import random

from arithmetic import operation_question
from corpus import PROMPT
from questions import held_out_questions


def groups(seed=1, arithmetic=500):
    """{group: [(prompt, answer)]}."""
    rng = random.Random(seed)
    out = {"facts, new pair of fact and form": [], "facts, form never seen": []}
    for kind, _, question, answer in held_out_questions():
        name = "facts, new pair of fact and form" if kind == "pair" else "facts, form never seen"
        out[name].append((PROMPT.format(q=question), answer))
    for operation in ("sum", "difference", "product", "quotient"):
        asked = {operation_question(rng, operation, held=True) for _ in range(4 * arithmetic)}
        chosen = sorted(asked)
        rng.shuffle(chosen)
        out[f"arithmetic, {operation}"] = [(PROMPT.format(q=q), a) for q, a in chosen[:arithmetic]]
    return out
