"""Three scorings of an answer, as pure functions: the original's, a usual one, and a strict one."""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from onprompt.illusion.protocol import ALSO, SPLITS, Split, option, spelling, spellings

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
    """Shape and scene independently: substrings, also with spaces for underscores or hyphens."""
    prediction = answer.strip().lower()
    return Outcome(contained(shape, prediction), contained(scene, prediction))


def contained(gold: str, prediction: str) -> bool:
    """Whether a label is in a lower-cased answer, as it is or with spaces."""
    label = gold.strip().lower()
    forms = (label, label.replace("_", " "), label.replace("-", " "))
    return bool(label) and any(form in prediction for form in forms)


def strict(answer: str, shape: str, scene: str, split: Split) -> Outcome:
    """Ours: the only option that the answer names, as whole words in any of its spellings."""
    options, denied = options_in(answer, split.name)
    if len(options) != 1 or denied:
        return Outcome(False, False, ambiguous=bool(options))
    chosen = options[0]
    return Outcome(chosen == option(shape, split), chosen == option(scene, split), chosen)


SCORINGS: Mapping[str, Scoring] = {function.__name__: function for function in (original, recall, strict)}


@lru_cache(1 << 14)  # most answers are repeated
def options_in(answer: str, split: str) -> tuple[tuple[str, ...], bool]:
    """The options in an answer, in order, the longest if one contains another; and whether it may deny them."""
    prediction = answer.lower()
    options = dict.fromkeys(spellings(split)[spelling(match[1])] for match in pattern(split).finditer(prediction))
    return tuple(options), bool(options) and DENIAL.search(prediction) is not None


@cache
def pattern(split: str) -> re.Pattern[str]:
    """All spellings of all options of a split, as whole words; a plural ending is outside the group."""
    forms = [form for name in SPLITS[split].options for form in (name, *ALSO.get(name, ()))]
    forms.sort(key=len, reverse=True)
    words = "|".join(re.sub(r"[ _]", r"[\\s_‐–-]*", form.lower()) for form in forms)
    # An underscore separates words here. `es` only after s: "cares" is not a car.
    return re.compile(rf"(?<![^\W_])({words})(?:['’]?s|(?<=s)(?:es|['’]))?(?![^\W_])")
