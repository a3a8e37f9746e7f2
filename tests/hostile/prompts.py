"""Odd prompts and instructions: each is parsed or refused, and no object comes from nowhere."""

from __future__ import annotations

import re
import time
import unicodedata
from collections import Counter
from pathlib import Path
from random import Random

import onprompt
from onprompt.errors import OnpromptError
from tests.hostile.damage import ODD, damaged_text

LONGEST = 10.0  # seconds of the processor
PROMPTS = (
    "Two happy dogs with a red ball in a grassy park, and no people.",
    'A sign that says "Open 24 hours" above the blue door of an old shop at night',
    "three cats, four birds and a dozen apples on a wooden table, a knife to the left of the plate",
    "a photo of a bear behind a motorcycle under a tall tree, oil painting, 8k, highly detailed",
    "An astronaut in a white suit rides a brown horse on the moon. The horse looks tired.",
    "the word 'LOVE' written in flowers; half of the flowers are yellow, the others pink",
)
EDITS = (
    "Replace the red car with a blue bicycle and remove the person on the left.",
    "make the sky darker, add three birds above the mountains, and change the text to 'Hello'",
    "Move the cup to the right of the laptop; the background should become a beach at sunset",
)


def case(chance: Random, folder: Path) -> Counter[str]:
    """One prompt or instruction."""
    edit = chance.random() < 0.3
    text = damaged_text(chance, chance.choice(EDITS if edit else PROMPTS))
    if chance.random() < 0.03:
        text = "".join(chance.choice(ODD) for _ in range(chance.randrange(200)))
    start = time.process_time()
    try:
        if edit:
            onprompt.parse_edit(text)
        else:
            for thing in onprompt.parse(text).things:
                assert pieces(thing.phrase) <= pieces(text) | pieces("text"), (thing.phrase, text)
                assert thing.count.low >= 0, thing
        outcome = "parsed"
    except OnpromptError:
        outcome = "refused"
    assert time.process_time() - start < LONGEST, text
    return Counter([outcome])


def pieces(text: str) -> set[str]:
    """The letters and digits of a text in pieces of three, which survive any cleaning of what is between them."""
    plain = "".join(re.findall(r"[a-z0-9]", unicodedata.normalize("NFKD", text).casefold()))
    return {plain[start : start + 3] for start in range(max(1, len(plain) - 2))} if len(plain) > 3 else set()
