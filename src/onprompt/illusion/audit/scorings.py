"""What the described function makes of an answer, and what the original makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from onprompt.illusion.audit.description import Scoring
from onprompt.illusion.audit.process import Calls, Reply
from onprompt.illusion.audit.showing import quoted
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.scoring import original

SCENE = ("scene", "texture")  # the original says texture


class Counted(NamedTuple):
    """What an answer counts for; None is what a description leaves open. `trouble`: why the function gave nothing."""

    shape: bool | None = None
    scene: bool | None = None
    rest: bool | None = None
    trouble: str = ""
    tried: bool = True

    def __str__(self) -> str:
        if self.trouble:
            return self.trouble
        named = [name for name in ("shape", "scene", "rest") if getattr(self, name)]
        if named:
            return " and ".join(named)
        return "nothing" if self.rest is False else "rest"


class Told(NamedTuple):
    """A case, with what the original and they make of it."""

    case: Case
    mine: Counted
    theirs: Counted

    @property
    def differs(self) -> bool:
        """Whether the two contradict each other; what is left open does not."""
        if self.theirs.trouble:
            return self.theirs.tried
        pairs = zip(self.mine[:3], self.theirs[:3], strict=True)
        return any(other is not None and one != other for one, other in pairs)

    def labels(self) -> list[str]:
        """The labels that count otherwise."""
        case, mine, theirs = self
        sides = ((case.shape, mine.shape, theirs.shape), (case.scene, mine.scene, theirs.scene))
        return [label for label, one, other in sides if label and other is not None and one != other]

    def example(self) -> dict[str, str]:
        """As a point shows it."""
        case = self.case
        shown = {"answer": quoted(case.answer), "shape": case.shape, "scene": case.scene}
        return shown | {"original": str(self.mine), "theirs": str(self.theirs)}


class Scorer:
    """The described function as one that takes cases."""

    def __init__(self, scoring: Scoring, calls: Calls) -> None:
        self.scoring, self.calls = scoring, calls

    def tell(self, asked: Sequence[Case]) -> list[Told]:
        """Cases of one sort, with what both sides make of them."""
        return [Told(case, by_original(case), other) for case, other in zip(asked, self.many(asked), strict=True)]

    def many(self, asked: Sequence[Case], again: bool = False) -> list[Counted]:
        """What each case counts for."""
        if self.scoring.returns != "match":
            replies = self.calls.many([self.arguments(case, "") for case in asked], again)
            return [counted(self.scoring.returns, reply) for reply in replies]
        both = [self.arguments(case, label) for case in asked for label in (case.shape, case.scene)]
        replies = self.calls.many(both, again)
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
            return Counted(trouble=trouble, tried=shape.tried and scene.tried)
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
        return Counted(trouble=reply.trouble, tried=reply.tried)
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
