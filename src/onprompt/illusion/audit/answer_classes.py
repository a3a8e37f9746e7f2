"""To which sort of answers one that somebody's model gave belongs."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping

from onprompt.illusion.audit import test_answers as battery
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.scoring import DENIAL, options_in

OTHER = "other answers"
MANY = 300  # characters of a long answer


def kind(case: Case, titles: Container[str]) -> str:
    """The first of some sorts that an answer is of: those that showed a difference, to which it may be due."""
    return next((title for title, holds in KINDS.items() if title in titles and holds(case)), OTHER)


def loosely(label: str, answer: str) -> bool:
    """Whether a label is in an answer with anything between its words."""
    words = [re.escape(word) for word in re.split(r"[_ -]+", label.lower()) if word]
    return bool(words) and re.search(r"[\W_]*".join(words), answer.lower()) is not None


def reshaped(label: str, answer: str) -> bool:
    """Whether a label of two words is in an answer, but not in its own spelling."""
    return label.lower() not in answer.lower() and loosely(label, answer)


def named(case: Case) -> list[str]:
    """The labels that the original finds in an answer."""
    return [each for each in (case.shape, case.scene) if each and each.lower() in case.answer.lower()]


def stands(case: Case, before: str = r"(?<!\w)", after: str = r"(?!\w)") -> bool:
    """Whether a label stands in an answer as a word, or with something else around it."""
    text = case.answer.lower()
    return any(re.search(f"{before}{re.escape(each.lower())}{after}", text) for each in named(case))


def is_option(case: Case) -> bool:
    """Whether an answer is an option and nothing else, in whatever case."""
    options = (case.shape, case.scene, *SPLITS[case.split].options)
    return case.answer.lower() in (each.lower() for each in options)


def bare(answer: str) -> str:
    """An answer without what stands around it."""
    return re.sub(r"^[\W_]+|[\W_]+$", "", answer)


# The more special come first.
KINDS: Mapping[str, Callable[[Case], bool]] = {
    battery.NO_LABEL: lambda case: not (case.shape and case.scene),
    battery.EMPTY: lambda case: not case.answer.strip(),
    battery.MARKED: lambda case: re.search(r"\w['’]s\b|\b\w\.\w\.", case.answer) is not None,
    battery.ODD: lambda case: not case.answer.isascii(),
    battery.LONG: lambda case: len(case.answer) > MANY,
    battery.TAGS: lambda case: re.search(r"<\w+>|[`\\]|'\)", case.answer) is not None,
    battery.DENIAL: lambda case: DENIAL.search(case.answer.lower()) is not None,
    battery.COLON: lambda case: ":" in case.answer,
    battery.LINES: lambda case: re.search(r"[\r\n]|[.?!]\s+\S", case.answer.strip()) is not None,
    battery.LOWER_SCENE: lambda case: "_" in case.scene and case.scene == case.scene.lower(),
    battery.BOTH: lambda case: loosely(case.shape, case.answer) and loosely(case.scene, case.answer),
    battery.SHAPE_FORMS: lambda case: reshaped(case.shape, case.answer),
    battery.SCENE_FORMS: lambda case: reshaped(case.scene, case.answer),
    battery.LISTED: lambda case: case.answer.count(",") > 1,
    battery.SEVERAL: lambda case: len(options_in(case.answer, case.split)[0]) > 1,
    battery.PLURAL: lambda case: stands(case, after=r"s\b"),
    battery.INSIDE: lambda case: bool(named(case)) and not stands(case),
    battery.SENTENCE: lambda case: (
        stands(case) and len(case.answer.split()) > max(len(each.split()) for each in named(case))
    ),
    battery.AROUND: lambda case: not is_option(case) and is_option(case._replace(answer=bare(case.answer))),
    battery.FOLDER: lambda case: case.shape not in SPLITS[case.split].shapes or case.scene not in SCENES,
    battery.PIECE: lambda case: (
        not is_option(case) and any(case.answer.lower() in each.lower() for each in (case.shape, case.scene))
    ),
    battery.SPELLING: lambda case: not named(case) and not is_option(case),
    battery.BARE: lambda case: case.answer in (case.shape, case.scene, *SPLITS[case.split].options),
    battery.CASE: is_option,
}
