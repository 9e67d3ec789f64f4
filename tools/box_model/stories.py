# SPDX-License-Identifier: Apache-2.0
"""Short stories from plots and casts, requests for them, and questions about them."""
import re

from grammar import capital, expand, pick
from plots_a import PLOTS as FIRST_PLOTS
from plots_b import PLOTS as SECOND_PLOTS
from story_words import cast

PLOTS = FIRST_PLOTS + SECOND_PLOTS
OPENINGS = [
    "[Once upon a time|Long ago|Many years ago], there was {a:hd} named {h}. ",
    "[Once upon a time|Once], {a:hd} named {h} lived [in a small house |in a cosy home ][at the edge of the "
    "forest|near a village|under a big tree|by a river]. ",
    "There once was {a:hd}. {^his} name was {h}. ",
    "{h} was {a:hd}. [Everybody liked {him}. |{^he} lived with {his} {k}. |{^he} was always curious. ]",
    "[In a village by the sea|In a green valley|In a quiet village|Behind seven hills] lived {a:hd} named {h}. ",
]
ENDINGS = ["", "", "", "", " The end.", " And they all lived happily.", " What a day it had been!"]
REQUESTS = ["Tell me a story about {t}.", "Tell a story about {t}.", "Please tell me a story about {t}.",
            "Can you tell me a story about {t}?",
            "Write a short story about {t}.", "I would like to hear a story about {t}.", "Tell me about {t}."]
OPEN_REQUESTS = ["Tell me a story.", "Tell me a short story.", "Please tell me a story.",
                 "Can you tell me a story?", "Write a story."]


def compose(rng, held=False):
    """(plot, words, text) of one story."""
    words, plot = cast(rng, held), pick(rng, PLOTS)
    text = expand(pick(rng, OPENINGS), words, rng)
    for line in plot.lines:
        part = expand(line, words, rng)
        text += part if part[0] == "\n" or text[-1] in " \n" else " " + part
    text += expand(pick(rng, ENDINGS), words, rng)
    text = re.sub(" +", " ", text).replace(" \n", "\n").replace("\n ", "\n").strip()
    return plot, words, re.sub(r'([?!]),"', r'\1"', text)


def request_for(plot, words, rng):
    """What somebody might ask to get this story."""
    if rng.random() < 0.1:
        return pick(rng, OPEN_REQUESTS)
    topic = expand(plot.topic, words, rng)
    if rng.random() < 0.3:
        topic = expand(pick(rng, ["{a:hk} named {h}", "{a:hd} named {h}", "{h} the {hk} and {f} the {fk}",
                                  "{a:hk} and {a:fk}", "{a:hk}"]),
                       words, rng)
    return expand(pick(rng, REQUESTS), {"t": topic}, rng)


def questions_about(plot, words, rng):
    """[(question, answer)] in any order, each answerable from the text."""
    items = [(expand(q, words, rng), capital(expand(a, words, rng))) for q, a in plot.questions]
    if rng.random() < 0.5:
        items.append(("Who is the story about?", f"The story is about {words['h']} the {words['hk']}."))
    rng.shuffle(items)
    return items[:1 + int(rng.random() * 2)]
