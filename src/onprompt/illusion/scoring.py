"""Four ways to score an answer, pure functions of what is stored: as the original, and three that are not it."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from onprompt.illusion.protocol import ALSO, SPLITS, Split, option, spelling, spellings

PUNCTUATION = str.maketrans("_", " ", string.punctuation.replace("_", ""))
# Where one of these stands beside an option, whether the option is the answer can't be told from the words.
DENIAL = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|unable|unsure|unclear|sorry|unlike|except|hardly|doesnt|isnt|cant)\b"
    r"|n['’]t\b|\b(?:instead of|rather than|other than)\b"
)
Scoring = Callable[[str, str, str, Split], "Outcome"]


class Outcome(NamedTuple):
    """Which of the two an answer counts for; `rest` is neither. Only `strict` tells the option that was chosen."""

    shape: bool
    scene: bool
    chosen: str = ""
    ambiguous: bool = False  # several options, or one that may be denied

    @property
    def rest(self) -> bool:
        return not (self.shape or self.scene)


def original(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001 one form for all scorings
    """The original's if/elif: a shape anywhere in the answer wins, and only then is the scene looked for."""
    prediction = answer.lower()
    if shape.lower() in prediction:
        return Outcome(True, False)
    # The second is never lower-cased in the original, so a scene of two words is found by its underscore alone.
    return Outcome(False, scene.lower() in prediction or scene.replace("_", " ") in prediction)


def recall(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001
    """Seed 004's re-implementation: substrings, with spaces for underscores or for hyphens, each for itself."""
    prediction = answer.strip().lower()
    return Outcome(contained(shape, prediction), contained(scene, prediction))


def contained(gold: str, prediction: str) -> bool:
    """Whether a label is in a lower-cased answer, as it is or with spaces."""
    label = gold.strip().lower()
    forms = (label, label.replace("_", " "), label.replace("-", " "))
    return bool(label) and any(form in prediction for form in forms)


def in_context(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001
    """As the in-context experiments: the first line or sentence without punctuation, each for itself."""
    prediction = plain(first(answer))
    return Outcome(plain(shape) in prediction, plain(scene) in prediction)


def first(answer: str) -> str:
    """Up to the first newline, or the first full stop where there is no newline; neither counts at the very start."""
    end = answer.find("\n")
    end = answer.find(".") if end < 0 else end
    return answer[:end] if end > 0 else answer


def plain(words: str) -> str:
    """Without punctuation, `_` as a space. The descriptions leave case and the labels' side open: both alike, lower."""
    return words.translate(PUNCTUATION).lower()


def strict(answer: str, shape: str, scene: str, split: Split) -> Outcome:
    """Ours: the one option that the answer names, as whole words in any of its spellings."""
    options, denied = options_in(answer, split.name)
    if len(options) != 1 or denied:
        return Outcome(False, False, ambiguous=bool(options))
    chosen = options[0]
    return Outcome(chosen == option(shape, split), chosen == option(scene, split), chosen)


SCORINGS: Mapping[str, Scoring] = {each.__name__: each for each in (original, recall, in_context, strict)}


def multi_word(answer: str) -> bool:
    """Whether an answer has more than one word, which the original counts apart."""
    return len(answer.split()) > 1


# ---- which options an answer names -----------------------------------------------------------------------------------


@lru_cache(1 << 14)  # most answers are one of few words
def options_in(answer: str, split: str) -> tuple[tuple[str, ...], bool]:
    """The different options in an answer, in their order, and whether it may deny them."""
    prediction = answer.lower()
    found = tuple(mentions(prediction, split))
    return found, bool(found) and DENIAL.search(prediction) is not None


def mentions(prediction: str, split: str) -> dict[str, str]:
    """The options in a lower-cased answer, each as it is written there; the longest where one is within another."""
    found: dict[str, str] = {}
    for match in pattern(split).finditer(prediction):
        found.setdefault(spellings(split)[spelling(match[1])], match[0])
    return found


@cache
def pattern(split: str) -> re.Pattern[str]:
    """All spellings of all options of a split, as whole words, with a plural's ending outside the group."""
    forms = [form for each in SPLITS[split].options for form in (each, *ALSO.get(each, ()))]
    forms.sort(key=len, reverse=True)
    words = "|".join(re.sub(r"[ _]", r"[\\s_‐–-]*", form.lower()) for form in forms)
    # An underscore parts words here. `es` only after a hiss: "cares" is no car.
    return re.compile(rf"(?<![^\W_])({words})(?:['’]?s|(?<=s)(?:es|['’]))?(?![^\W_])")


# ---- why they differ -------------------------------------------------------------------------------------------------


def reasons(answer: str, shape: str, scene: str, split: Split) -> Iterator[str]:
    """What the scorings may take differently in an answer."""
    prediction = answer.lower()
    written = mentions(prediction, split.name)
    yield from label_reasons(shape, f"the original looks for {shape.lower()!r}", prediction, written, split)
    spaced = scene.lower().replace("_", " ") in prediction
    capital = f"the original compares {scene.replace('_', ' ')!r} with its capital"
    looks = capital if spaced else f"the original looks for {scene.lower()!r}"
    yield from label_reasons(scene, "" if shape.lower() in prediction else looks, prediction, written, split)
    if contained(shape, prediction) and contained(scene, prediction):
        yield "names both the shape and the scene: the original counts the shape only"
    if len(written) > 1:
        yield f"names {' and '.join(repr(each) for each in written.values())}: strict does not choose"
    elif options_in(answer, split.name)[1]:
        yield "may deny what it names: strict does not count it"
    kept = first(answer)
    if in_context(answer, shape, scene, split) != recall(kept, shape, scene, split):
        yield f"without punctuation it reads {plain(kept).strip()!r}: in context that is what counts"
    if recall(kept, shape, scene, split) != recall(answer, shape, scene, split):
        yield f"in context only {kept!r} is read"


def label_reasons(gold: str, looks: str, prediction: str, written: Mapping[str, str], split: Split) -> Iterator[str]:
    """Where a label is within another word, or is written otherwise than what the original looks for, if it looks."""
    label, meant = gold.lower(), option(gold, split)
    if contained(gold, prediction) and not meant:
        yield f"{gold!r} is no option: strict never counts it"
    elif contained(gold, prediction) and meant not in written:
        form = label if label in prediction else label.replace("_", " ")
        around = re.search(rf"[^\W_]*{re.escape(form)}[^\W_]*", prediction)
        yield f"{around[0] if around else form!r} contains {form!r}"
    elif looks and label not in prediction and meant in written:
        yield f"{written[meant]!r}: {looks}"
