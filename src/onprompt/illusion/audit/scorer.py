"""How the described function and the original score an answer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from onprompt.illusion.audit.description import Scoring
from onprompt.illusion.audit.points import quoted
from onprompt.illusion.audit.process import IsolatedFunction, Reply
from onprompt.illusion.audit.test_answers import Case
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.scoring import original

SCENE = ("scene", "texture")  # the original says texture


class Score(NamedTuple):
    """What an answer counts for; None where the description leaves it open. `error`: why there is no score."""

    shape: bool | None = None
    scene: bool | None = None
    rest: bool | None = None
    error: str = ""
    tried: bool = True

    def __str__(self) -> str:
        if self.error:
            return self.error
        names = [name for name in ("shape", "scene", "rest") if getattr(self, name)]
        return " and ".join(names) or ("nothing" if self.rest is False else "rest")


class ScoredCase(NamedTuple):
    """A case with the original's score and theirs."""

    case: Case
    original: Score
    theirs: Score

    @property
    def differs(self) -> bool:
        """Whether the scores contradict each other; what is left open does not."""
        if self.theirs.error:
            return self.theirs.tried
        pairs = zip(self.original[:3], self.theirs[:3], strict=True)
        return any(theirs is not None and original != theirs for original, theirs in pairs)

    def labels(self) -> list[str]:
        """The labels that are counted differently."""
        labels = zip((self.case.shape, self.case.scene), self.original[:2], self.theirs[:2], strict=True)
        return [label for label, original, theirs in labels if label and theirs is not None and original != theirs]

    def example(self) -> dict[str, str]:
        """The case as the example of a point."""
        shown = {"answer": quoted(self.case.answer), "shape": self.case.shape, "scene": self.case.scene}
        return shown | {"original": str(self.original), "theirs": str(self.theirs)}


class Scorer:
    """The described function, applied to cases."""

    def __init__(self, scoring: Scoring, function: IsolatedFunction) -> None:
        self.scoring, self.function = scoring, function

    def score(self, cases: Sequence[Case]) -> list[ScoredCase]:
        """Score cases of one class by both rules."""
        return [ScoredCase(*row) for row in zip(cases, map(original_score, cases), self.theirs(cases), strict=True)]

    def theirs(self, cases: Sequence[Case], again: bool = False) -> list[Score]:
        """Score cases by the described function."""
        if self.scoring.returns != "match":
            replies = self.function.call_all([self.arguments(case, "") for case in cases], again)
            return [read_score(self.scoring.returns, reply) for reply in replies]
        calls = [self.arguments(case, label) for case in cases for label in (case.shape, case.scene)]
        replies = self.function.call_all(calls, again)
        return [self.combined(*pair) for pair in zip(replies[::2], replies[1::2], strict=True)]

    def arguments(self, case: Case, label: str) -> list[str]:
        """What the function is called with."""
        prediction = case.answer.lower() if self.scoring.case == "lower" else case.answer
        known = {"prediction": prediction, "label": label, **case._asdict()}
        return [known[name] for name in self.scoring.takes]

    def combined(self, *replies: Reply) -> Score:
        """Two matches, combined as described."""
        matches = [read_match(reply) for reply in replies]
        if errors := [match for match in matches if isinstance(match, str)]:
            return Score(error=errors[0], tried=all(reply.tried for reply in replies))
        shape, scene = map(bool, matches)
        rest = not (shape or scene)
        match self.scoring.combine:
            case "shape first":
                return Score(shape, scene and not shape, rest)
            case "scene first":
                return Score(shape and not scene, scene, rest)
            case None if shape:
                return Score(shape)  # whether the scene counts too is not described
        return Score(shape, scene, rest)


def read_match(reply: Reply) -> bool | str:
    """Whether a label was found, or an error."""
    if not reply.error and reply.value in (0, 1) and isinstance(reply.value, int | float):
        return bool(reply.value)
    return reply.error or f"returns {brief(reply.value)}, not the declared 0 or 1"


def read_score(returns: str, reply: Reply) -> Score:
    """The score that a function returns as an outcome or as counts."""
    value = reply.value
    if reply.error:
        return Score(error=reply.error, tried=reply.tried)
    if returns == "outcome":
        label = value.lower() if isinstance(value, str) else ""
        if label in ("shape", "rest", *SCENE):
            return Score(label == "shape", label in SCENE, label == "rest")
        return Score(error=f"returns {brief(value)}, not the declared shape, scene, texture or rest")
    if isinstance(value, list) and len(value) in (2, 3):
        value = dict(zip(("shape", "scene", "rest"), value, strict=False))
    names = value.keys() if isinstance(value, dict) else set()
    labelled = bool(names & {"shape", *SCENE}) and not names - {"shape", "rest", *SCENE}
    if not labelled or not all(count in (0, 1) for count in value.values()):
        return Score(error=f"returns {brief(reply.value)}, not the declared counts of shape and scene")
    counts = {"scene" if name in SCENE else name: bool(count) for name, count in value.items()}
    return Score(counts.get("shape"), counts.get("scene"), counts.get("rest"))


def brief(value: Any) -> str:
    """A value in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def original_score(case: Case) -> Score:
    """The original's score."""
    outcome = original(case.answer, case.shape, case.scene, SPLITS[case.split])
    return Score(outcome.shape, outcome.scene, outcome.rest)
