# SPDX-License-Identifier: Apache-2.0
"""Small arithmetic as questions and answers.

Of sums and differences one in ten pairs of numbers is held out, in every form. Products and quotients are a table
to be learned like any fact: of them one in ten is held out of each form, and trained in the others.
"""
from grammar import capital, expand, pick
from questions import fixed_hash

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
NAMES = "Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Klara Leo Mia Noah Olga Paul Rosa Sam Tina Victor".split()
THINGS = "apples,pears,marbles,books,stamps,coins,cookies,shells,pencils,balloons,cards,nuts,stones,eggs".split(",")


def in_words(n):
    """0 to 100 in words."""
    if n == 100:
        return "one hundred"
    if n < 20:
        return ONES[n]
    return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")


def held_out(operation, a, b, form):
    """The form counts for products and quotients only."""
    return fixed_hash("arithmetic", operation, a, b, form if operation in ("product", "quotient") else "") % 10 == 0


# operation: (numbers of a pair, the answer, question forms, sign)
SUM_FORMS = ["What is {a} + {b}?", "How much is {a} + {b}?", "What is {a} plus {b}?", "Add {a} and {b}.",
             "Calculate {a} + {b}.", "What is the sum of {a} and {b}?", "{a} + {b} = ?", "How much is {a} plus {b}?"]
DIFFERENCE_FORMS = ["What is {a} - {b}?", "How much is {a} - {b}?", "What is {a} minus {b}?", "Take {b} from {a}.",
                    "Calculate {a} - {b}.", "What is the difference between {a} and {b}?", "{a} - {b} = ?",
                    "How much is {a} minus {b}?", "Subtract {b} from {a}."]
PRODUCT_FORMS = ["What is {a} x {b}?", "How much is {a} x {b}?", "What is {a} times {b}?", "Multiply {a} by {b}.",
                 "Calculate {a} x {b}.", "What is the product of {a} and {b}?", "{a} x {b} = ?",
                 "How much is {a} times {b}?"]
QUOTIENT_FORMS = ["What is {a} / {b}?", "How much is {a} / {b}?", "What is {a} divided by {b}?", "Divide {a} by {b}.",
                  "Calculate {a} / {b}.", "{a} / {b} = ?"]


def below(rng, n):
    return int(rng.random() * n)


def sum_pair(rng):
    top = 100 if rng.random() < 0.85 else 20
    return below(rng, top), below(rng, top)


def difference_pair(rng):
    a, b = sum_pair(rng)
    return max(a, b), min(a, b)


def product_pair(rng):
    return below(rng, 13), below(rng, 13)


def quotient_pair(rng):
    b = 1 + below(rng, 12)
    return b * below(rng, 13), b


OPERATIONS = {
    "sum": (sum_pair, "+", SUM_FORMS, lambda a, b: a + b),
    "difference": (difference_pair, "-", DIFFERENCE_FORMS, lambda a, b: a - b),
    "product": (product_pair, "x", PRODUCT_FORMS, lambda a, b: a * b),
    "quotient": (quotient_pair, "/", QUOTIENT_FORMS, lambda a, b: a // b),
}


def operation_question(rng, operation, held=False):
    """One question of an operation, its pair held out or not as asked."""
    pair, sign, forms, value = OPERATIONS[operation]
    (a, b), form = pair(rng), pick(rng, forms)
    while held_out(operation, a, b, form) != held:
        (a, b), form = pair(rng), pick(rng, forms)
    return expand(form, {"a": str(a), "b": str(b)}, rng), f"{a} {sign} {b} = {value(a, b)}."


STORY_PROBLEMS = [
    ("sum", "{n} has {a} {t}. {m} gives {n} {b} more. How many {t} does {n} have now?", "{n} has {a} + {b} = {c} {t}."),
    ("sum", "There are {a} {t} in one box and {b} in another. How many {t} are there in all?",
     "There are {a} + {b} = {c} {t}."),
    ("sum", "{n} finds {a} {t} in the morning and {b} in the evening. How many {t} does {n} find?",
     "{n} finds {a} + {b} = {c} {t}."),
    ("difference", "{n} has {a} {t}. {n} gives {b} of them to {m}. How many {t} are left?",
     "There are {a} - {b} = {c} {t} left."),
    ("difference", "{n} has {a} {t} and loses {b}. How many {t} does {n} still have?", "{n} has {a} - {b} = {c} {t}."),
    ("product", "There are {a} boxes with {b} {t} in each. How many {t} are there?", "There are {a} x {b} = {c} {t}."),
    ("product", "{n} buys {a} bags. Each bag holds {b} {t}. How many {t} does {n} buy?",
     "{n} buys {a} x {b} = {c} {t}."),
]


def story_problem(rng):
    operation, question, answer = pick(rng, STORY_PROBLEMS)
    pair, _, _, value = OPERATIONS[operation]
    a, b = pair(rng)
    while held_out(operation, a, b, question) or a < 2 or b < 2:
        a, b = pair(rng)
    n = pick(rng, NAMES)
    words = {"a": str(a), "b": str(b), "c": str(value(a, b)), "n": n, "t": pick(rng, THINGS),
             "m": pick(rng, [name for name in NAMES if name != n])}
    return expand(question, words, rng), expand(answer, words, rng)


def comparison(rng):
    top = 100 if rng.random() < 0.7 else 1000
    a, b = below(rng, top), below(rng, top)
    while a == b or held_out("compare", a, b, ""):
        a, b = below(rng, top), below(rng, top)
    if rng.random() < 0.5:
        form = pick(rng, ["Which is larger, {a} or {b}?", "Which number is larger, {a} or {b}?",
                          "Which is more, {a} or {b}?", "Is {a} or {b} the larger number?"])
        return expand(form, {"a": str(a), "b": str(b)}, rng), f"{max(a, b)} is larger than {min(a, b)}."
    form = pick(rng, ["Which is smaller, {a} or {b}?", "Which number is smaller, {a} or {b}?",
                      "Which is less, {a} or {b}?", "Is {a} or {b} the smaller number?"])
    return expand(form, {"a": str(a), "b": str(b)}, rng), f"{min(a, b)} is smaller than {max(a, b)}."


def counting(rng):
    step = pick(rng, [1, 1, 1, 1, 2, 5, 10, -1])
    first, steps = below(rng, 90), 3 + below(rng, 8)
    last = first + step * steps
    if last < 0:
        first, last = first - last, 0
    numbers = ", ".join(str(n) for n in range(first, last + (1 if step > 0 else -1), step))
    if step == 1:
        form = pick(rng, ["Count from {a} to {b}.", "Please count from {a} to {b}.", "Can you count from {a} to {b}?"])
    elif step == -1:
        form = pick(rng, ["Count down from {a} to {b}.", "Count backwards from {a} to {b}."])
    else:
        form = pick(rng, ["Count from {a} to {b} in steps of {s}.", "Count in steps of {s} from {a} to {b}."])
    return expand(form, {"a": str(first), "b": str(last), "s": str(step)}, rng), numbers + "."


def number_facts(rng):
    """Neighbours, even and odd, double and half, words."""
    kind, n = below(rng, 6), below(rng, 1000) if rng.random() < 0.3 else below(rng, 101)
    if kind == 0:
        return pick(rng, [f"Which number comes after {n}?",
                          f"What number follows {n}?"]), f"The number after {n} is {n + 1}."
    if kind == 1:
        return pick(rng, [f"Which number comes before {n + 1}?", f"What number is just before {n + 1}?"]), \
            f"The number before {n + 1} is {n}."
    if kind == 2:
        return pick(rng, [f"Is {n} even or odd?", f"Is {n} an even or an odd number?"]), \
            f"{n} is {'odd' if n % 2 else 'even'}."
    n = n % 101
    if kind == 3:
        return pick(rng, [f"What is the double of {n}?", f"What is twice {n}?"]), f"The double of {n} is {2 * n}."
    if kind == 4:
        return pick(rng, [f"How do you write {n} in words?", f"Write {n} in words."]), f"{n} in words is {in_words(n)}."
    return pick(rng, [f"Which number is {in_words(n)}?",
                      f"Write {in_words(n)} as a number."]), f"{capital(in_words(n))} is {n}."


def arithmetic_question(rng):
    """(question, answer), never a held-out one."""
    chance = rng.random()
    if chance < 0.30:
        return operation_question(rng, "sum")
    if chance < 0.50:
        return operation_question(rng, "difference")
    if chance < 0.62:
        return operation_question(rng, "product")
    if chance < 0.70:
        return operation_question(rng, "quotient")
    if chance < 0.80:
        return story_problem(rng)
    if chance < 0.87:
        return comparison(rng)
    return counting(rng) if chance < 0.92 else number_facts(rng)
