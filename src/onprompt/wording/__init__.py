"""Every sentence about a verdict is made here: pairs and summaries; claims and findings; edits."""

from collections.abc import Iterable, Sequence

from onprompt.evidence.grade import Grade
from onprompt.evidence.image_properties import contradictions, not_measured
from onprompt.evidence.matches import Match, group_by_object
from onprompt.types import Attribute, Check, Found, Outcome, Plan, PromptEvidence, Verdict
from onprompt.wording.claims import claim_words, finding_words, full_claim, sentence, thing_words

__all__ = [
    "actual",
    "claim_words",
    "differences",
    "finding_words",
    "full_claim",
    "note",
    "pairs",
    "plan_words",
    "plural",
    "sentence",
    "stated_summary",
    "summary",
    "thing_words",
    "without_reason",
]

WRONG = (Outcome.MISMATCH, Outcome.PARTIAL)
UNSURE = (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE)


def pairs(verdict: Verdict) -> list[tuple[str, str]]:
    """(what the prompt says, what the picture shows), for each object."""
    if verdict.prompt_evidence is None:
        return [(claim_words(check.claim), finding_words(check)) for check in verdict.checks]
    return [(thing_words(match.thing), actual(match)) for match in matches_of(verdict.prompt_evidence, verdict.checks)]


def matches_of(evidence: PromptEvidence, checks: Sequence[Check]) -> list[Match]:
    """The checks of a verdict by object."""
    return group_by_object(evidence.scene, checks)


def differences(verdict: Verdict) -> list[tuple[str, str]]:
    """The pairs that differ."""
    if verdict.prompt_evidence is None:
        both = zip(verdict.checks, pairs(verdict), strict=True)
        return [pair for check, pair in both if check.outcome is not Outcome.MATCHED]
    matches = matches_of(verdict.prompt_evidence, verdict.checks)
    differing = [(thing_words(match.thing), actual(match)) for match in matches if differs(match)]
    wrong = contradictions(verdict.prompt_evidence.scene, verdict.prompt_evidence.properties)
    return differing + [(property_words(asked), found) for asked, found in wrong]


def property_words(asked: Attribute) -> str:
    """What the prompt says of the picture as a whole."""
    return f"the image: {asked.kind} {asked.value}"


def actual(match: Match) -> str:
    """The protocol's words for what was found: the object as it is, MISSING, LOW_CONFIDENCE or UNVERIFIABLE."""
    first = match.first
    if match.outcome is Outcome.MISSING:
        return "MISSING"
    if match.outcome is Outcome.UNVERIFIABLE:
        read = [note(check) for check in match.checks[1:] if check.source != "none"]
        return "; ".join([f"UNVERIFIABLE ({finding_words(first)})", *read])
    if not match.there and not match.thing.absent and match.is_object:
        return finding_words(first)  # another kind, which has none of its attributes
    notes = [note(check) for check in match.checks[1:] if check.outcome is not Outcome.MATCHED]
    if not match.is_object or match.thing.absent or not match.chosen:
        weak = match.outcome is Outcome.LOW_CONFIDENCE and match.is_object
        words = finding_words(first)
        return "; ".join([f"LOW_CONFIDENCE ({words})" if weak else words, *notes])
    shown = f"{len(match.chosen)} × {match.chosen[0].word}"
    if match.outcome is Outcome.LOW_CONFIDENCE:
        return "; ".join([f"LOW_CONFIDENCE ({shown}, confidence {first.confidence:.2f})", *notes])
    if match.outcome is Outcome.PARTIAL and not match.is_other_person:
        notes.insert(0, f"only the broader class {match.chosen[0].word!r} was detectable")
    elif not notes:
        return f"{shown} (matched)"
    return f"{shown}: " + "; ".join(notes)


def note(check: Check) -> str:
    """What is wrong with one count, attribute or relation."""
    claim, found = check.claim, finding_words(check)
    if claim.kind == "relation":
        words = f"{claim_words(claim)}: {found}"
    else:
        words = f"{claim.kind}: asked for {claim_words(claim)}, {found}"
    return f"{words} [{check.outcome.name}]" if check.outcome in UNSURE else words


def differs(match: Match) -> bool:
    """Whether anything about an object is wrong, missing or weak; what could not be checked is no difference."""
    only_a_broader_class = match.outcome is Outcome.PARTIAL and match.is_object
    bad = (Outcome.MISSING, *WRONG, Outcome.LOW_CONFIDENCE)
    return any(check.outcome in bad for check in match.checks[only_a_broader_class or is_likely(match) :])


def is_likely(match: Match) -> bool:
    """Whether an object is likely there by an estimate alone."""
    weak = match.outcome is Outcome.LOW_CONFIDENCE and match.first.finding.kind is Found.ESTIMATED
    return weak and match.confidence >= 0.5


def summary(matches: Sequence[Match], grade: Grade, score: int, evidence: PromptEvidence, lowered: bool = False) -> str:
    """A short paragraph: does the image match, what is wrong, what could not be checked.

    `lowered` says that the estimate of the whole has lowered the score.
    """
    if evidence.blank:
        return "The image shows nothing: it is one colour, or noise."
    if not matches:
        return f"The prompt names no object, so nothing could be checked: ({score}) is only a placeholder."
    wrong = contradictions(evidence.scene, evidence.properties)
    faults = [headline(match) for match in matches if differs(match)]
    faults += [f"{property_words(asked)} ({found})" for asked, found in wrong]
    unchecked = list(dict.fromkeys(claim for match in matches for claim in unchecked_claims(match)))
    unchecked += [f"{asked.kind} {asked.value}" for asked in not_measured(evidence.scene, evidence.properties)]
    if not grade.verifiable:
        text = f"Nothing that the prompt asks for could be checked: ({score}) is only a placeholder."
    elif faults:
        text = f"The image differs from the prompt: {'; '.join(faults)}."
    else:
        checked = not unchecked and not any(map(is_likely, matches))
        text = "The image matches the prompt." if checked else "Everything that could be checked matches the prompt."
    if likely := [thing_words(match.thing) for match in matches if is_likely(match)]:
        text += f" Only estimated: {', '.join(likely)}."
    if unchecked:
        text += f" Not checked: {', '.join(unchecked)}."
    if lowered and evidence.estimates:
        text += f" As a whole it fits less well (estimate {evidence.estimates[0].finding.probability:.2f})."
    return text


def headline(match: Match) -> str:
    """One object and its faults."""
    asked = thing_words(match.thing)
    if match.outcome is Outcome.MISSING:
        return f"{asked} (missing)"
    if match.thing.absent or not match.there:
        return f"{asked} ({finding_words(match.first)})"
    claims = match.checks[1:] if match.is_object else match.checks
    faults = [note(check) for check in claims if check.outcome in WRONG]
    if match.outcome is Outcome.LOW_CONFIDENCE and match.is_object:
        weak = f"low confidence {match.confidence:.2f}" if match.chosen else finding_words(match.first)
        faults.insert(0, weak)
    weak_claims = [note(check) for check in claims if check.outcome is Outcome.LOW_CONFIDENCE]
    return f"{asked} ({', '.join(faults or weak_claims)})"


def unchecked_claims(match: Match) -> list[str]:
    """The claims about an object that could not be checked."""
    if match.outcome is Outcome.UNVERIFIABLE and match.is_object:
        return [thing_words(match.thing)]
    claims = [claim_words(check.claim) for check in match.checks if check.outcome is Outcome.UNVERIFIABLE]
    if match.outcome is Outcome.PARTIAL and match.is_object and not match.is_other_person:
        claims.insert(0, f"beyond {match.chosen[0].word!r}")
    return [f"{match.thing.canonical} ({claim})" for claim in claims]


def stated_summary(found: Iterable[tuple[str, str]], listed: bool, score: int, top: int) -> str:
    """What a model's lists say, if it gave any."""
    if faults := "; ".join(f"{prompt}: {image}" for prompt, image in found):
        return f"The image differs from the prompt: {faults}."
    if not listed:
        return without_reason(score)
    return "The image matches the prompt." if score == top else f"The model gave ({score}) but named no difference."


def without_reason(score: int) -> str:
    """In the place of a reason that a model did not give."""
    return f"The model gave a score of {score} and no reason."


def plan_words(plan: Plan) -> str:
    """What some questions would cost; of several models, each and all together."""
    if plan.parts:
        lines = [plan_words(part._replace(faults=())) for part in plan.parts]
        name = f"{len(lines)} models"
        more = plan.more._replace(model=name) if plan.more else None
        return "\n".join([*lines, plan_words(plan._replace(model=name, parts=(), more=more))])
    if not plan.model:
        return "0 calls: this judge asks no model, so it costs nothing"
    again = "; an unreadable answer is asked for once more" if plan.again else ""
    second = f"; to look again, at most {call_words(plan.more)}" if plan.more else ""
    faults = f"; skipped {plural(len(plan.faults), 'item')}, for example: {plan.faults[0]}" if plan.faults else ""
    return f"{call_words(plan)}{again}{second}{faults}"


def call_words(plan: Plan) -> str:
    """How many calls, tokens and dollars."""
    cached = f" ({plan.known:,} more cached)" if plan.known else ""
    tokens = f"about {plan.usage.tokens_in:,} input and {plan.usage.tokens_out:,} output tokens"
    cost = "price unknown" if plan.usage.cost is None else f"about ${plan.usage.cost:.4f}"
    return f"{plural(plan.calls, 'call')} to {plan.model}{cached}: {tokens}, {cost}"


def plural(number: int, noun: str) -> str:
    """`1 verdict`, `2,000 verdicts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
