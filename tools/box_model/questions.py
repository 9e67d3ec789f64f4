# SPDX-License-Identifier: Apache-2.0
"""Questions and answers over the table of facts, and what of them is held out of training.

Two things are held out: the last form of every question ("form"), and one in eight of the other (fact, form)
pairs ("pair"), whose fact is trained in other forms and whose form is trained with other facts.
"""
import collections
import zlib

import facts_words
import facts_world
from facts_forms import MORE_FORMS
from grammar import expand, pick

Fact = collections.namedtuple("Fact", "relation x y answer trained held_form held_pairs wrong")

PREFIXES = ["Please tell me: ", "Here is a question. ", "I would like to know something. ", "Can you help me? ",
            "Quick question: ", "A question for you: ", "Do you know this? "]
MADE_UP = "bal dor fen gar hul jin kam lor mib nav pel quor rit sul tav vex wim yol zan".split()


def fixed_hash(*parts):
    """The same number everywhere for the same parts, unlike hash()."""
    return zlib.crc32("\x1f".join(str(part) for part in parts).encode())


def _facts_of(relation):
    values = sorted({y for _, y in relation.pairs})
    for x, y in relation.pairs:
        words = {"x": x, "y": y}
        forms = [expand(form, words, None) for form in MORE_FORMS[relation.name] + relation.questions]
        held = [form for form in forms[:-1] if fixed_hash(relation.name, form) % 8 == 0]
        trained = [form for form in forms[:-1] if form not in held]
        if len(trained) < 2:
            trained, held = forms[:-1], []
        wrong = [expand(relation.answer, {"x": x, "y": other}, None) for other in values if other != y]
        yield Fact(relation.name, x, y, expand(relation.answer, words, None), trained, forms[-1], held, wrong)


def all_facts():
    out = []
    for relation in facts_world.RELATIONS + facts_words.RELATIONS:
        out += _facts_of(relation)
    for forms, answer in facts_words.PLAIN:
        out.append(Fact("plain", forms[0], answer, answer, forms[:-1], forms[-1], [], []))
    for why, answer in facts_words.WHY:
        forms = [f"Why {why}?", f"Tell me why: {why}?", f"For what reason {why}?", f"Do you know why? Why {why}?"]
        out.append(Fact("why", why, answer, answer, forms[:-1], forms[-1], [], []))
    return out


FACTS = all_facts()
_BY_RELATION = collections.defaultdict(list)
for _fact in FACTS:
    _BY_RELATION[_fact.relation].append(_fact)
# A relation's share grows with the root of its size: small ones are seen often enough, large ones not too rarely.
_RELATIONS = [name for name, facts in _BY_RELATION.items() for _ in range(max(3, round(len(facts) ** 0.75)))]


def lower_start(sentence):
    """For the middle of a sentence: "The capital" becomes "the capital", names stay."""
    first = sentence.split()[0]
    return sentence[0].lower() + sentence[1:] if first in ("The", "A", "An", "People", "You", "There",
                                                           "If") else sentence


def truth_question(fact, rng):
    """"Is it true that ...?" with the right or a wrong statement."""
    right = not fact.wrong or rng.random() < 0.5
    statement = fact.answer if right else pick(rng, fact.wrong)
    if fixed_hash("truth", statement) % 8 == 0:
        return None
    question = f"{pick(rng, ['Is it true that', 'Is it right that'])} {lower_start(statement).rstrip('.')}?"
    return question, ("Yes. " if right else "No. ") + fact.answer


def unknown_question(rng):
    """A made-up name: the right answer is not to know."""
    name = "".join(pick(rng, MADE_UP) for _ in range(2 + int(rng.random() * 2))).capitalize()
    form = pick(rng, ["What is the capital of {x}?", "Where is {x}?", "Who is {x}?", "What is {x}?",
                      "Which language do people speak in {x}?", "On which continent is {x}?"])
    return expand(form, {"x": name}, rng), f"I do not know {name}."


def roughen(question, rng):
    """As people type: sometimes without a capital or the mark at the end, or with words in front."""
    chance = rng.random()
    if chance < 0.06:
        return question[0].lower() + question[1:]
    if chance < 0.12:
        return question.rstrip("?.")
    if chance < 0.15:
        return question.lower().rstrip("?.")
    return pick(rng, PREFIXES) + question if chance < 0.20 else question


def fact_question(rng):
    """(question, answer), never a held-out one."""
    if rng.random() < 0.02:
        return unknown_question(rng)
    fact = pick(rng, _BY_RELATION[pick(rng, _RELATIONS)])
    if fact.wrong and rng.random() < 0.12:
        asked = truth_question(fact, rng)
        if asked:
            return asked
    return roughen(pick(rng, fact.trained), rng), fact.answer


def held_out_questions():
    """[(kind, relation, question, answer)] of everything that training never sees."""
    out = []
    for fact in FACTS:
        out.append(("form", fact.relation, fact.held_form, fact.answer))
        out += [("pair", fact.relation, form, fact.answer) for form in fact.held_pairs]
    return out
