"""How a score is computed, step by step."""

from collections.abc import Iterable, Iterator, Sequence

from onprompt.errors import UserError
from onprompt.evidence.estimates import MARGIN, log_odds
from onprompt.evidence.grade import detail_score, faults, grade, odds_of, weight
from onprompt.evidence.matches import Match, group_by_object
from onprompt.settings import Settings
from onprompt.types import Outcome, Verdict
from onprompt.wording import full_claim, sentence

TOP = 4
ROUNDING = 5e-5  # of the numbers shown


def lines(verdict: Verdict, settings: Settings) -> Iterator[str]:
    """For each object its checks and match_score; then averages, score and value."""
    if verdict.prompt_evidence is None:
        raise UserError("only verdicts of the evidence judge can be explained")
    matches = group_by_object(verdict.prompt_evidence.scene, verdict.checks)
    presence, attributes = averages(verdict)
    for match in matches:
        yield from object_lines(match, settings)
    weighted = [match for match in matches if weight(match)]
    if not weighted:
        yield f"nothing could be checked, so overall_presence_score is the prior, {presence:g}"
    else:
        scores = mean((weight(match), match.score(settings)) for match in weighted)
        yield f"overall_presence_score = {scores} = {presence:.4f}"
    details = [(weight(match), detail_score(match, settings)) for match in weighted if match.there]
    accuracy = mean(details) if details else "1 (none could be checked)"
    yield f"attribute_accuracy = {accuracy} = {attributes:.4f}"
    unbounded = grade(matches, settings, overall(verdict)).value
    yield f"score = {rule(verdict, unbounded, settings)}"
    yield f"value = {value(verdict, weighted, settings)} = {unbounded:.4f}"
    if abs(unbounded - verdict.value) > ROUNDING:
        yield f"value, at most {settings.value_band:g} from the score's share of its scale = {verdict.value:.4f}"


def averages(verdict: Verdict) -> tuple[float, float]:
    """The protocol's two measures."""
    measures = verdict.measures
    return measures.get("presence") or 0.0, measures.get("attribute_accuracy") or 0.0


def object_lines(match: Match, settings: Settings) -> Iterator[str]:
    """The checks of an object, and its match_score."""
    yield f"{match.thing.phrase} (weight {match.thing.importance:g})"
    for check in match.checks:
        yield f"  {check.score:.2f}  {sentence(check)} [{check.outcome.name}]"
    score = match.score(settings)
    if not match.verifiable:
        yield "  nothing about it could be checked, so it is not in the average"
    elif match.outcome is Outcome.MISSING:
        yield "  match_score = 0 (missing)"
    elif match.thing.absent or not match.is_object or match.outcome is Outcome.UNVERIFIABLE:
        yield f"  match_score = {score:.4f}"
    else:
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        terms = zip(weights, match.parts(), ("class", "count", "attributes"), strict=True)
        parts = " + ".join(f"{share:g} × {part:.2f} ({name})" for share, part, name in terms)
        weak = f"{match.confidence:.2f} (low confidence) × " if match.first.weight < 1 else ""
        yield f"  match_score = {weak}({parts}) = {score:.4f}"


def mean(parts: Iterable[tuple[float, float]]) -> str:
    """`(1 × 0.72 + 1 × 1.00) / 2`."""
    terms = list(parts)
    total = sum(share for share, _ in terms)
    return f"({' + '.join(f'{share:.3g} × {score:.2f}' for share, score in terms)}) / {total:.3g}"


def rule(verdict: Verdict, unbounded: float, settings: Settings) -> str:
    """The thresholds of the protocol that the two measures reach, and whether a low value lowers the score."""
    levels = (
        (4, settings.presence_4, settings.attributes_4),
        (3, settings.presence_3, settings.attributes_3),
        (2, settings.presence_2, 0.0),
        (1, settings.presence_1, 0.0),
    )
    presence, accuracy = averages(verdict)
    wrong = faults(verdict.checks, settings)
    for level, min_presence, min_accuracy in levels:
        if presence >= min_presence and accuracy >= min_accuracy and not (level == TOP and wrong):
            also = f", attribute_accuracy {accuracy:.2f} ≥ {min_accuracy:g}" if min_accuracy else ""
            but = f", but {full_claim(wrong[0].claim)} is wrong" if wrong and level == TOP - 1 else ""
            lowered = (
                f"({verdict.score}): lowered by a value of {unbounded:.2f} from " if verdict.score != level else ""
            )
            return f"{lowered}({level}): overall_presence_score {presence:.2f} ≥ {min_presence:g}{also}{but}"
    return f"(0): overall_presence_score {presence:.2f} < {settings.presence_1:g}"


def overall(verdict: Verdict) -> float | None:
    """The overall estimate, if there is one; 0 for a blank image."""
    if not verdict.prompt_evidence or verdict.prompt_evidence.blank:
        return 0.0
    return verdict.prompt_evidence.estimates[0].score if verdict.prompt_evidence.estimates else None


def value(verdict: Verdict, matches: Sequence[Match], settings: Settings) -> str:
    """The mean log-odds of the objects, and the overall estimate."""
    prior = f"{log_odds(averages(verdict)[0]):.2f}"
    objects = mean((weight(match), odds_of(match, settings)) for match in matches) if matches else prior
    whole = overall(verdict)
    if whole is None:
        return f"sigmoid({objects})"
    return f"sigmoid({objects} + {settings.value_whole:g} × ln({max(whole, MARGIN):.3f}) (overall match))"
