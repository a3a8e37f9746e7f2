"""Answers of `stated.txt`, with every score, and each beside every clutter.

python -m tests.rubrics.stated tells what becomes of all of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import read_answer
from onprompt.rubrics import rate, verify
from onprompt.types import Answer, Decoded, Picture, Rubric, Sample

RUBRICS: dict[str, Rubric] = {"verify": verify.RUBRIC, "rate": rate.RUBRIC}
WORDS = ("zero", "one", "two", "three", "four", "five")
ZEROS = {"fullwidth": "０", "arabic": "٠", "devanagari": "०"}
PLACES = ("{plain}\n{clutter}", "{clutter}\n{plain}", "{plain}\n\n{clutter}\n", "{clutter}\n\n{plain}\n")


def unseen() -> Decoded:
    """No pixels."""
    raise AssertionError


SAMPLE = Sample("1", "two dogs", Picture("a.png", "a" * 64, unseen))


def sections() -> dict[str, list[str]]:
    """The answers of the file by section, with their line ends."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("stated.txt").read_text(encoding="utf-8").splitlines():
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
    """The score that is read, or why there is none."""
    try:
        return str(read_answer(RUBRICS[rubric], Answer(text), SAMPLE).scores["score"])
    except UnreadableAnswer as error:
        return error.kind


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


def main() -> None:
    """All answers that are refused though plain, and all that become another score."""
    for rubric in RUBRICS:
        for name, answers in (("plain", plain(rubric)), ("cluttered", cluttered(rubric))):
            counts = Counter[str]()
            for text, score in answers:
                said = outcome(rubric, text)
                kind = "right" if said == score else "WRONG" if said.isdecimal() else "refused"
                counts[kind] += 1
                if kind == "WRONG" or (kind == "refused" and name == "plain"):
                    sys.stdout.write(f"{rubric} {kind}: expected {score}, got {said}: {text!r}\n")
            sys.stdout.write(f"{rubric} {name}: {dict(counts)}\n")


if __name__ == "__main__":
    main()
