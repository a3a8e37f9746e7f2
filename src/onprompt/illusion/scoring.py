"""Four scorings of an answer, as pure functions: the original's and three others."""

import re
import string
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from onprompt.illusion.protocol import ALSO, SPLITS, Split, option, spelling, spellings

PUNCTUATION = str.maketrans("_", " ", string.punctuation.replace("_", ""))
# Beside one of these words an option may be denied.
DENIAL = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|unable|unsure|unclear|sorry|unlike|except|hardly|doesnt|isnt|cant)\b"
    r"|n['’]t\b|\b(?:instead of|rather than|other than)\b"
)
Scoring = Callable[[str, str, str, Split], "Outcome"]


class Outcome(NamedTuple):
    """Whether an answer counts for the shape, the scene or neither (`rest`). Only `strict` has a chosen option."""

    shape: bool
    scene: bool
    chosen: str = ""
    ambiguous: bool = False  # several options, or one that may be denied

    @property
    def rest(self) -> bool:
        return not (self.shape or self.scene)


def original(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001 all scorings have one signature
    """The original's if/elif: the shape if it is anywhere in the answer, else the scene."""
    prediction = answer.lower()
    if shape.lower() in prediction:
        return Outcome(True, False)
    # The original never lower-cases the spaced form, so it finds a two-word scene only with its underscore.
    return Outcome(False, scene.lower() in prediction or scene.replace("_", " ") in prediction)


def recall(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001
    """Independently, as in docs/illusion.md's example: substrings, also with spaces for underscores or hyphens."""
    prediction = answer.strip().lower()
    return Outcome(contained(shape, prediction), contained(scene, prediction))


def contained(gold: str, prediction: str) -> bool:
    """Whether a label is in a lower-cased answer, as it is or with spaces."""
    label = gold.strip().lower()
    forms = (label, label.replace("_", " "), label.replace("-", " "))
    return bool(label) and any(form in prediction for form in forms)


def in_context(answer: str, shape: str, scene: str, split: Split) -> Outcome:  # noqa: ARG001
    """The in-context experiments: substrings of the first line or sentence without punctuation, independently."""
    prediction = plain(first(answer))
    return Outcome(plain(shape) in prediction, plain(scene) in prediction)


def first(answer: str) -> str:
    """Up to the first newline, or to the first full stop if there is no newline, unless it is at the very start."""
    end = answer.find("\n")
    end = answer.find(".") if end < 0 else end
    return answer[:end] if end > 0 else answer


def plain(words: str) -> str:
    """Without punctuation, `_` as a space, in lower case; labels too, which the original leaves open."""
    return words.translate(PUNCTUATION).lower()


def strict(answer: str, shape: str, scene: str, split: Split) -> Outcome:
    """Ours: the only option that the answer names, as whole words in any of its spellings."""
    options, denied = options_in(answer, split.name)
    if len(options) != 1 or denied:
        return Outcome(False, False, ambiguous=bool(options))
    chosen = options[0]
    return Outcome(chosen == option(shape, split), chosen == option(scene, split), chosen)


SCORINGS: Mapping[str, Scoring] = {function.__name__: function for function in (original, recall, in_context, strict)}


def multi_word(answer: str) -> bool:
    """Whether an answer has more than one word, which the original counts separately."""
    return len(answer.split()) > 1


# ---- which options an answer names -----------------------------------------------------------------------------------


@lru_cache(1 << 14)  # most answers are repeated
def options_in(answer: str, split: str) -> tuple[tuple[str, ...], bool]:
    """The options in an answer, in order, and whether it may deny them."""
    prediction = answer.lower()
    options = tuple(mentions(prediction, split))
    return options, bool(options) and DENIAL.search(prediction) is not None


def mentions(prediction: str, split: str) -> dict[str, str]:
    """The options in a lower-cased answer with their spelling there; the longest if one contains another."""
    written: dict[str, str] = {}
    for match in pattern(split).finditer(prediction):
        written.setdefault(spellings(split)[spelling(match[1])], match[0])
    return written


@cache
def pattern(split: str) -> re.Pattern[str]:
    """All spellings of all options of a split, as whole words; a plural ending is outside the group."""
    forms = [form for name in SPLITS[split].options for form in (name, *ALSO.get(name, ()))]
    forms.sort(key=len, reverse=True)
    words = "|".join(re.sub(r"[ _]", r"[\\s_‐–-]*", form.lower()) for form in forms)
    # An underscore separates words here. `es` only after s: "cares" is not a car.
    return re.compile(rf"(?<![^\W_])({words})(?:['’]?s|(?<=s)(?:es|['’]))?(?![^\W_])")


# ---- why they differ -------------------------------------------------------------------------------------------------


def reasons(answer: str, shape: str, scene: str, split: Split) -> Iterator[str]:
    """Why the scorings may count an answer differently."""
    prediction = answer.lower()
    written = mentions(prediction, split.name)
    yield from label_reasons(shape, f"the original looks for {shape.lower()!r}", prediction, written, split)
    spaced = scene.lower().replace("_", " ") in prediction
    capital = f"the original compares {scene.replace('_', ' ')!r} with capitals"
    looks = capital if spaced else f"the original looks for {scene.lower()!r}"
    yield from label_reasons(scene, "" if shape.lower() in prediction else looks, prediction, written, split)
    if contained(shape, prediction) and contained(scene, prediction):
        yield "names both the shape and the scene: the original counts the shape only"
    if len(written) > 1:
        yield f"names {' and '.join(map(repr, written.values()))}: ambiguous for strict"
    elif options_in(answer, split.name)[1]:
        yield "may deny what it names: ambiguous for strict"
    kept = first(answer)
    if in_context(answer, shape, scene, split) != recall(kept, shape, scene, split):
        yield f"in_context reads {plain(kept).strip()!r}, without punctuation"
    if recall(kept, shape, scene, split) != recall(answer, shape, scene, split):
        yield f"in_context only reads {kept!r}"


def label_reasons(gold: str, looks: str, prediction: str, written: Mapping[str, str], split: Split) -> Iterator[str]:
    """Whether a label is inside another word, or spelled differently from what the original looks for."""
    label, meant = gold.lower(), option(gold, split)
    if contained(gold, prediction) and not meant:
        yield f"{gold!r} is not an option: strict never counts it"
    elif contained(gold, prediction) and meant not in written:
        form = label if label in prediction else label.replace("_", " ")
        around = re.search(rf"[^\W_]*{re.escape(form)}[^\W_]*", prediction)
        yield f"{around[0] if around else form!r} contains {form!r}"
    elif looks and label not in prediction and meant in written:
        yield f"{written[meant]!r}: {looks}"
