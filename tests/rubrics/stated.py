"""Answers of `stated.txt` with every score, and each beside every clutter; and those of `by_hand.txt`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import read_answer
from onprompt.rubrics import edit, rate, verify
from onprompt.types import Answer, Decoded, Picture, Rubric, Sample

RUBRICS: dict[str, Rubric] = {each.name: each for each in (verify.RUBRIC, rate.RUBRIC, edit.RUBRIC)}
WORDS = ("zero", "one", "two", "three", "four", "five")
ZEROS = {"fullwidth": "０", "arabic": "٠", "devanagari": "०"}
PLACES = ("{plain}\n{clutter}", "{clutter}\n{plain}", "{plain}\n\n{clutter}\n", "{clutter}\n\n{plain}\n")
WHY = "The hat of the woman is now red, as the instruction asked, while her coat and the street stay."


def unseen() -> Decoded:
    """No pixels."""
    raise AssertionError


PICTURE = Picture("a.png", "a" * 64, unseen)
SAMPLES = {
    **dict.fromkeys(("verify", "rate"), Sample("1", "two dogs", PICTURE)),
    "edit": Sample("case-17", "make the hat red", PICTURE, pictures={"before": PICTURE}),
}


def sections(file: str = "stated.txt") -> dict[str, list[str]]:
    """The answers of a file by section, with their line ends."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(file).read_text(encoding="utf-8").split("\n"):
        if line.startswith("== "):
            found[line[3:]] = []
        elif line and not line.startswith("# "):
            found[next(reversed(found))].append(line.replace(r"\n", "\n"))
    return found


def filled(template: str, score: int, scale: range) -> str:
    """A template with a score."""
    text = template.replace("{n}", str(score)).replace("{m}", str(scale[-1])).replace("{w}", WORDS[score])
    for name, zero in ZEROS.items():
        text = text.replace("{" + name + "}", chr(ord(zero) + score))
    return text


def outcome(rubric: str, text: str) -> str:
    """The scores that are read, or why there are none."""
    try:
        scores = read_answer(RUBRICS[rubric], Answer(text), SAMPLES[rubric]).scores
    except UnreadableAnswer as error:
        return error.kind
    return "".join(map(str, scores.values()))


def block(scores: Sequence[int | str], why: str = WHY, spaces: int | None = None) -> str:
    """The JSON that is asked for about an edit."""
    results = {
        name: {"score": int(score), "justification": why} for name, score in zip(edit.FACTORS, scores, strict=True)
    }
    document = {"image_id": SAMPLES["edit"].id, edit.RESULTS: results}
    return json.dumps(document, indent=spaces, ensure_ascii=False)


def plain(rubric: str) -> Iterator[tuple[str, str]]:
    """Every plain answer with its score."""
    scale = RUBRICS[rubric].factors["score"]
    for template in sections()["plain"]:
        for score in scale:
            yield filled(template, score, scale), str(score)


def cluttered(rubric: str) -> Iterator[tuple[str, str]]:
    """Every plain answer before and after every clutter, with its score."""
    found, scale = sections(), RUBRICS[rubric].factors["score"]
    for number, template in enumerate(found["plain"]):
        for other, clutter in enumerate(found["clutter"]):
            for place, form in enumerate(PLACES):
                score = scale[(number + other + place) % len(scale)]
                text = filled(template, score, scale)
                yield form.replace("{plain}", text).replace("{clutter}", clutter), str(score)


def by_hand(rubric: str) -> Iterator[tuple[str, str]]:
    """The answers of `by_hand.txt`, each with what is to be read."""
    for line in sections("by_hand.txt")[rubric]:
        wanted, _, text = line.partition("\t")
        text = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), text)
        if rubric == "edit":
            text = re.sub(r"@(r?)(\d{3})", lambda mark: results(mark[2]) if mark[1] else block(mark[2]), text)
            text = re.sub(r"(?<=[\"'“])J(?=[\"'”])", WHY, text)
        yield text, wanted


def results(scores: str) -> str:
    """The part of the JSON with the scores."""
    return json.dumps(json.loads(block(scores))[edit.RESULTS])


def is_held(wanted: str, said: str) -> bool:
    """Whether an outcome is what a line of `by_hand.txt` wants."""
    if not said.isdecimal():
        return said == wanted or wanted[-1] in "-?"
    return said == wanted.rstrip("?")
