"""How a score comes about, step by step, each number where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from onprompt.errors import UserError
from onprompt.evidence.grade import weight, worth
from onprompt.evidence.match import Match
from onprompt.settings import Settings
from onprompt.types import Outcome, Verdict


def lines(verdict: Verdict, settings: Settings, names: Sequence[str] = ()) -> Iterator[str]:
    """For each object, or those named, its checks and match_score; then the averages, the score and the value."""
    matches = matches_of(verdict)
    presence, attributes = averages(verdict)
    for match in matches:
        if not names or match.thing.canonical in names:
            yield from of_one(match, verdict, settings)
    told = [match for match in matches if weight(match)]
    if not told:
        yield f"nothing could be checked, so overall_presence_score is the prior, {presence:g}"
    else:
        yield f"overall_presence_score = {mean((weight(m), m.score(settings)) for m in told)} = {presence:.4f}"
    details = [check for match in matches if match.there for check in match.details]
    counted = [(check.weight, check.score) for check in details if check.outcome is not Outcome.UNVERIFIABLE]
    accuracy = mean(counted) if counted else "none could be checked, so 1"
    yield f"attribute_accuracy = {accuracy} = {attributes:.4f}"
    yield f"score = {rule(verdict, settings)}"
    yield f"value = {value(verdict, told, settings)} = {verdict.value:.4f}"


def averages(verdict: Verdict) -> tuple[float, float]:
    """The seed's two measures, which only a judge that looks for evidence gives."""
    if verdict.presence is None or verdict.attribute_accuracy is None:
        raise UserError("only verdicts that stand on evidence can be explained")
    return verdict.presence, verdict.attribute_accuracy


def matches_of(verdict: Verdict) -> list[Match]:
    """The objects of the prompt with their checks, as they were matched."""
    found = []
    for index, thing in enumerate(verdict.scene.things):
        checks = tuple(check for check in verdict.checks if check.thing == index)
        found.append(Match(thing, checks[0].chosen, checks))
    return found


def of_one(match: Match, verdict: Verdict, settings: Settings) -> Iterator[str]:
    """An object's checks, and how its match_score follows."""
    yield f"{match.thing.phrase} (weight {match.thing.importance:g})"
    for check in match.checks:
        yield f"  {check.score:.2f}  {verdict.sentence(check)} [{check.outcome.name}]"
    score = match.score(settings)
    if not match.verifiable:
        yield "  nothing about it could be checked: it leaves the average"
    elif match.outcome is Outcome.MISSING:
        yield "  match_score = 0: it is missing"
    elif match.thing.absent or match.checks[0].kind != "object" or match.outcome is Outcome.UNVERIFIABLE:
        yield f"  match_score = {score:.4f}"
    else:
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        named = zip(weights, match.parts(), ("class", "count", "attributes"), strict=True)
        parts = " + ".join(f"{share:g} × {part:.2f} ({name})" for share, part, name in named)
        weak = f"{match.confidence:.2f} (low confidence) × " if match.checks[0].weight < 1 else ""
        yield f"  match_score = {weak}({parts}) = {score:.4f}"


def mean(parts: Iterable[tuple[float, float]]) -> str:
    """`(1 × 0.72 + 1 × 1.00) / 2`."""
    told = list(parts)
    total = sum(w for w, _ in told)
    return f"({' + '.join(f'{w:.3g} × {score:.2f}' for w, score in told)}) / {total:.3g}"


def rule(verdict: Verdict, settings: Settings) -> str:
    """Which of the seed's thresholds the two measures reach."""
    levels = (
        (4, settings.presence_4, settings.attributes_4),
        (3, settings.presence_3, settings.attributes_3),
        (2, settings.presence_2, 0.0),
        (1, settings.presence_1, 0.0),
    )
    presence, accuracy = averages(verdict)
    for level, least, attributes in levels:
        if presence >= least and accuracy >= attributes:
            also = f", attribute_accuracy {accuracy:.2f} ≥ {attributes:g}" if attributes else ""
            return f"({level}): overall_presence_score {presence:.2f} ≥ {least:g}{also}"
    return f"(0): overall_presence_score {presence:.2f} < {settings.presence_1:g}"


def value(verdict: Verdict, told: Sequence[Match], settings: Settings) -> str:
    """How likely each object is there as asked for, and the guess at the whole."""
    objects = mean((weight(match), worth(match, settings)) for match in told) if told else f"{verdict.presence:g}"
    if not verdict.guesses:
        return objects
    whole = verdict.guesses[0].score
    return f"{settings.value_whole:g} × {whole:.2f} (the whole, a guess) + {1 - settings.value_whole:g} × {objects}"
