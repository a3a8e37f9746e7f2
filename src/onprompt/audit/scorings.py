"""Section 3: what the described function makes of answers, beside what the original makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from onprompt.audit.battery import BOTH, FAMILIES, Case, Family, cases
from onprompt.audit.description import Scoring
from onprompt.audit.points import Point, Verdict, silent
from onprompt.audit.process import Calls, Reply
from onprompt.audit.prompts import shown
from onprompt.audit.shortest import shortest
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.scoring import original

SCENE = ("scene", "texture")  # the original says texture
SCORING = "scoring of answers"
RULE = (
    "if/elif over the answer in lower case: shape; else scene, "
    'also with spaces for "_", but then the scene is not put in lower case; else rest'
)


class Counted(NamedTuple):
    """What an answer counts for; None is what a description leaves open. `trouble`: the function gave nothing."""

    shape: bool | None = None
    scene: bool | None = None
    rest: bool | None = None
    trouble: str = ""

    def __str__(self) -> str:
        if self.trouble:
            return self.trouble
        named = [name for name in ("shape", "scene", "rest") if getattr(self, name)]
        if named:
            return " and ".join(named)
        return "nothing" if self.rest is False else "rest"


class Scorer:
    """The described function as one that takes cases."""

    def __init__(self, scoring: Scoring, calls: Calls) -> None:
        self.scoring, self.calls = scoring, calls

    def many(self, asked: Sequence[Case]) -> list[Counted]:
        """What each case counts for."""
        if self.scoring.returns != "match":
            replies = self.calls.many([self.arguments(case, "") for case in asked])
            return [counted(self.scoring.returns, reply) for reply in replies]
        both = [self.arguments(case, label) for case in asked for label in (case.shape, case.scene)]
        replies = self.calls.many(both)
        return [self.combined(*pair) for pair in zip(replies[::2], replies[1::2], strict=True)]

    def arguments(self, case: Case, label: str) -> list[str]:
        """What the function is called with."""
        prediction = case.answer.lower() if self.scoring.case == "lower" else case.answer
        known = {"prediction": prediction, "label": label, **case._asdict()}
        return [known[name] for name in self.scoring.takes]

    def combined(self, shape: Reply, scene: Reply) -> Counted:
        """Two matches, as the description says that they are put together."""
        found = [match(reply) for reply in (shape, scene)]
        trouble = next((each for each in found if isinstance(each, str)), "")
        if trouble:
            return Counted(trouble=trouble)
        one, other = (bool(each) for each in found)
        if self.scoring.combine == "shape first":
            return Counted(one, other and not one, not (one or other))
        if self.scoring.combine == "scene first":
            return Counted(one and not other, other, not (one or other))
        if self.scoring.combine is None and one:
            return Counted(one, None, None)  # whether the scene then counts too is not described
        return Counted(one, other, not (one or other))


def match(reply: Reply) -> bool | str:
    """Whether a label was found, or what is wrong with the reply."""
    if reply.trouble:
        return reply.trouble
    if reply.value in (0, 1) and isinstance(reply.value, int | float):
        return bool(reply.value)
    return f"returns {brief(reply.value)}, where 0 or 1 is declared"


def counted(returns: str, reply: Reply) -> Counted:
    """What a function says that decides by itself."""
    if reply.trouble:
        return Counted(trouble=reply.trouble)
    value = reply.value
    if returns == "outcome":
        label = value.lower() if isinstance(value, str) else ""
        if label not in ("shape", "rest", *SCENE):
            return Counted(trouble=f"returns {brief(value)}, where shape, scene, texture or rest is declared")
        return Counted(label == "shape", label in SCENE, label == "rest")
    named = pair(value)
    if named is None:
        return Counted(trouble=f"returns {brief(value)}, where counts of shape and scene are declared")
    return named


def pair(value: Any) -> Counted | None:
    """Counts as a dict, or as a list of shape and scene and perhaps rest."""
    if isinstance(value, list) and len(value) in (2, 3):
        value = dict(zip(("shape", "scene", "rest"), value, strict=False))
    if not isinstance(value, dict) or not value or not all(each in (0, 1) for each in value.values()):
        return None
    if value.keys() - {"shape", "rest", *SCENE} or not value.keys() & {"shape", *SCENE}:
        return None
    told = {"scene" if name in SCENE else name: bool(each) for name, each in value.items()}
    return Counted(told.get("shape"), told.get("scene"), told.get("rest"))


def brief(value: Any) -> str:
    """A value in few characters."""
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:59]}…"


def by_original(case: Case) -> Counted:
    """What the original makes of a case."""
    found = original(case.answer, case.shape, case.scene, SPLITS[case.split])
    return Counted(found.shape, found.scene, found.rest)


def differ(one: Counted, theirs: Counted) -> bool:
    """Whether two counts contradict each other; what is left open does not."""
    if theirs.trouble:
        return True
    return any(other is not None and mine != other for mine, other in zip(one[:3], theirs[:3], strict=True))


# ---- the battery -----------------------------------------------------------------------------------------------------


def compare(scoring: Scoring | None, scorer: Scorer | None) -> Iterator[Point]:
    """A point for each family of answers, with the shortest answer that shows a difference."""
    if scoring is None or scorer is None:
        yield silent("scoring", SCORING, "", RULE)
        return
    questions = ("shape", "scene") if "question" in scoring.takes else ("shape",)
    families = [
        (family, [case._replace(question=each) for case in cases(family) for each in questions]) for family in FAMILIES
    ]
    every = [case for _, asked in families for case in asked]
    theirs = dict(zip(every, scorer.many(every), strict=True))
    troubles = {each.trouble for each in theirs.values()}
    if len(troubles) == 1 and "" not in troubles:
        yield no_score(scoring.function, troubles.pop())
        return
    wrong = [[case for case in asked if differ(by_original(case), theirs[case])] for _, asked in families]

    def signs(asked: Sequence[Case]) -> list[tuple[Counted, Counted, bool]]:
        found = [(by_original(case), other) for case, other in zip(asked, scorer.many(asked), strict=True)]
        return [(one, other, differ(one, other)) for one, other in found]

    for (family, asked), bad, least in zip(families, wrong, shortest(wrong, signs), strict=True):
        if family.title == BOTH and scoring.returns == "match" and scoring.combine is None and not bad:
            yield silent("scoring", BOTH, "", family.original, "how the two matches are put together is not described")
        else:
            yield point(family, len(asked), bad, least, scorer)
    for part in ("shape", "scene"):
        if all(getattr(each, part) is None and not each.trouble for each in theirs.values()):
            yield silent("scoring", f"the count of the {part}", "", RULE, "what the function returns never tells it")


def no_score(function: str, trouble: str) -> Point:
    """A function that never gave an outcome needs one point, not one for each family."""
    told = f"{function} {trouble}"
    return Point("scoring", SCORING, "", RULE, told, Verdict.CHANGES, "", {"original": "a score", "theirs": trouble})


def point(family: Family, asked: int, bad: Sequence[Case], least: Case | None, scorer: Scorer) -> Point:
    """What a family of answers showed."""
    if least is None:
        return Point("scoring", family.title, "", family.original, f"the same on {asked:,} answers", Verdict.ALIGNED)
    example = shown_case(least, scorer)
    classes = [each for each in dict.fromkeys(label for case in bad for label in changed_labels(case, scorer)) if each]
    named = f": {', '.join(classes[:6])}{', …' if len(classes) > 6 else ''}" if classes else ""
    theirs = f"another outcome on {len(bad):,} of {asked:,} answers{named}"
    verdict = Verdict.HARMLESS if family.harmless else Verdict.CHANGES
    note = "no model answers so and no file is named so" if family.harmless else ""
    return Point("scoring", family.title, "", family.original, theirs, verdict, note, example)


def changed_labels(case: Case, scorer: Scorer) -> Iterator[str]:
    """The labels of a case that count otherwise."""
    mine, (other,) = by_original(case), scorer.many([case])
    if other.shape is not None and mine.shape != other.shape:
        yield case.shape
    if other.scene is not None and mine.scene != other.scene:
        yield case.scene


def shown_case(case: Case, scorer: Scorer) -> dict[str, str]:
    """A case with what both sides make of it."""
    return {
        "answer": shown(case.answer),
        "shape": case.shape,
        "scene": case.scene,
        "original": str(by_original(case)),
        "theirs": str(scorer.many([case])[0]),
    }
