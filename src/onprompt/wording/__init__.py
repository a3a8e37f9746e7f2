"""Every sentence about a verdict is made here: pairs and summaries; claims and findings; edits; juries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from onprompt.types import Check, Found, JudgePlan, Outcome, PromptEvidence, Scene, Thing, Verdict, Voice
from onprompt.wording.claims import claim_words as claim_words
from onprompt.wording.claims import finding_words as finding_words
from onprompt.wording.claims import full_claim as full_claim
from onprompt.wording.claims import sentence as sentence
from onprompt.wording.claims import thing_words as thing_words

NOTHING_CHECKED = "nothing could be checked"  # why the evidence, or a model asked by claim, has no say in a jury


class Group(NamedTuple):
    """An object of the prompt and its checks, the object's own first."""

    thing: Thing
    checks: tuple[Check, ...]

    @property
    def first(self) -> Check:
        return self.checks[0]


def by_object(scene: Scene, checks: Sequence[Check]) -> list[Group]:
    """The checks of a verdict by object."""
    own: list[list[Check]] = [[] for _ in scene.things]
    for check in checks:
        if check.thing is not None:
            own[check.thing].append(check)
    return [Group(thing, tuple(found)) for thing, found in zip(scene.things, own, strict=True) if found]


def pairs(verdict: Verdict) -> list[tuple[str, str]]:
    """(what the prompt says, what the picture shows), for each object."""
    if verdict.prompt_evidence is None:
        return [(claim_words(check.claim), finding_words(check)) for check in verdict.checks]
    groups = by_object(verdict.prompt_evidence.scene, verdict.checks)
    return [(thing_words(group.thing), actual(group)) for group in groups]


def differences(verdict: Verdict) -> list[tuple[str, str]]:
    """The pairs that differ, and the properties of the image that do."""
    if verdict.prompt_evidence is None:
        both = zip(verdict.checks, pairs(verdict), strict=True)
        return [pair for check, pair in both if check.outcome is not Outcome.MATCHED]
    groups = by_object(verdict.prompt_evidence.scene, verdict.checks)
    differing = [(thing_words(group.thing), actual(group)) for group in groups if any(map(is_open, group.checks))]
    wrong = [check for check in verdict.checks if is_property(check) and is_open(check)]
    return differing + [(f"the image: {claim_words(check.claim)}", finding_words(check)) for check in wrong]


def is_open(check: Check) -> bool:
    """Whether a check is wrong or uncertain; what could not be checked is no difference."""
    return check.outcome not in (Outcome.MATCHED, Outcome.UNVERIFIABLE)


def is_property(check: Check) -> bool:
    """Whether a check is of the image as a whole."""
    return check.claim.kind == "property"


def actual(group: Group) -> str:
    """The protocol's words for what was found: the object as it is, MISSING, LOW_CONFIDENCE or UNVERIFIABLE."""
    first, words = group.first, finding_words(group.first)
    if first.outcome is Outcome.MISSING:
        return "MISSING"
    if first.outcome is Outcome.UNVERIFIABLE:
        measured = [note(check) for check in group.checks[1:] if check.outcome is not Outcome.UNVERIFIABLE]
        return "; ".join([f"UNVERIFIABLE ({words})", *measured])
    if first.finding.kind is Found.SUBSTITUTE:
        return words  # another kind, which has none of its attributes
    notes = "; ".join(note(check) for check in group.checks[1:] if check.outcome is not Outcome.MATCHED)
    located, unsure = first.chosen and not first.claim.negated, first.outcome is Outcome.LOW_CONFIDENCE
    if located:
        confidence = max(sighting.confidence for sighting in first.chosen)
        words = f"{len(first.chosen)} × {first.chosen[0].word}" + (f", confidence {confidence:.2f}" if unsure else "")
    if unsure and first.claim.kind == "object":
        words = f"LOW_CONFIDENCE ({words})"
    elif located:
        return f"{words}: {notes}" if notes else f"{words} (matched)"
    return f"{words}; {notes}" if notes else words


def note(check: Check) -> str:
    """What is wrong with one count, attribute or relation, or uncertain."""
    claim, found = check.claim, finding_words(check)
    if claim.kind == "relation":
        words = f"{claim_words(claim)}: {found}"
    elif check.finding.kind is Found.ONLY_BROADER:
        words = found
    else:
        words = f"{claim.kind}: expected {claim_words(claim)}, {found}"
    unsure = {Outcome.LOW_CONFIDENCE: " (uncertain)", Outcome.UNVERIFIABLE: " (not verifiable)"}
    return words if check.finding.kind is Found.ESTIMATED else words + unsure.get(check.outcome, "")


def summary(evidence: PromptEvidence, checks: Sequence[Check], score: int, top: int, verifiable: bool) -> str:
    """A short paragraph: does the image match, what is wrong or uncertain, what could not be checked."""
    if evidence.blank:
        return "The image shows nothing: it is one color, or noise."
    needed = [i for i in range(len(evidence.scene.things)) if i not in evidence.scene.mentioned]
    groups = [group for group in by_object(evidence.scene, checks) if group.first.thing in needed]
    wrong = list(difference_words(groups, checks, (Outcome.MISSING, Outcome.MISMATCH, Outcome.PARTIAL)))
    unsure = list(difference_words(groups, checks, (Outcome.LOW_CONFIDENCE,)))
    unchecked = list(dict.fromkeys(unchecked_words(groups, checks)))
    if not verifiable:
        text = f"Nothing that the prompt asks for could be checked: ({score}) is only an estimate."
    elif wrong:
        text = f"The image differs from the prompt: {'; '.join(wrong)}."
    elif score < top:
        text = "The image may differ from the prompt."
    elif unsure:
        text = "The image probably matches the prompt."
    else:
        text = "Everything that could be checked matches the prompt." if unchecked else "The image matches the prompt."
    text += f" Uncertain: {'; '.join(unsure)}." if unsure else ""
    return text + (f" Not checked: {', '.join(unchecked)}." if unchecked else "")


def difference_words(groups: Sequence[Group], checks: Sequence[Check], outcomes: Collection[Outcome]) -> Iterable[str]:
    """Each object with its checks of these outcomes, then the properties of the image."""
    for group in groups:
        asked, own = thing_words(group.thing), [check for check in group.checks[1:] if check.outcome in outcomes]
        missing = group.first.outcome is Outcome.MISSING
        if group.first.outcome in outcomes:
            yield f"{asked} ({'missing' if missing else finding_words(group.first)})"
        elif own and not missing and group.first.finding.kind is not Found.SUBSTITUTE:
            yield f"{asked} ({', '.join(note(check).removesuffix(' (uncertain)') for check in own)})"
    for check in checks:
        if is_property(check) and check.outcome in outcomes:
            yield f"{claim_words(check.claim)} ({finding_words(check)})"


def unchecked_words(groups: Sequence[Group], checks: Sequence[Check]) -> Iterable[str]:
    """The claims that could not be checked; of an object that could not be, only that."""
    for group in groups:
        if group.first.outcome is Outcome.UNVERIFIABLE:
            yield thing_words(group.thing)
        elif group.first.outcome is not Outcome.MISSING:
            for check in group.checks[1:]:
                if check.outcome is Outcome.UNVERIFIABLE:
                    claim = check.claim
                    words = f"may be another {claim.name}" if claim.kind == "kind" else claim_words(claim)
                    yield f"{group.thing.canonical} ({words})"
    yield from (claim_words(c.claim) for c in checks if is_property(c) and c.outcome is Outcome.UNVERIFIABLE)


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


def voice_words(voice: Voice) -> str:
    """`openai/gpt-5.2: score 3, value 0.75, weight 0.28. The image …`; or why there is no score."""
    if voice.value is None:
        return f"{voice.name}: no score: {voice.error}"
    flags = f" [{' '.join(voice.flags)}]" if voice.flags else ""
    scores = ", ".join(f"{name} {factor.score}" for name, factor in voice.factors.items())
    return f"{voice.name}: {scores}, value {voice.value:.2f}, weight {voice.weight:.2f}. {voice.summary}{flags}"


def jury_failed(errors: Mapping[str, str]) -> str:
    """Why a jury has no verdict."""
    return "no model of the jury gave a score: " + "; ".join(f"{name}: {error}" for name, error in errors.items())


def plan_words(plan: JudgePlan) -> str:
    """What some questions would cost, in calls, tokens and dollars; of several models, each and all together."""
    if plan.parts:
        lines = [plan_words(part._replace(faults=())) for part in plan.parts]
        return "\n".join([*lines, plan_words(plan._replace(model=f"{len(lines)} models", parts=()))])
    if not plan.model:
        return "0 calls: this judge asks no model, so it costs nothing"
    cached = f" ({plan.known:,} more cached)" if plan.known else ""
    tokens = f"about {plan.usage.tokens_in:,} input and {plan.usage.tokens_out:,} output tokens"
    cost = "price unknown" if plan.usage.cost is None else f"about ${plan.usage.cost:.4f}"
    again = "; after an unreadable answer the model is asked once more" if plan.again else ""
    faults = f"; skipped {plural(len(plan.faults), 'item')}, for example: {plan.faults[0]}" if plan.faults else ""
    return f"{plural(plan.calls, 'call')} to {plan.model}{cached}: {tokens}, {cost}{again}{faults}"


def plural(number: int, noun: str) -> str:
    """`1 verdict`, `2,000 verdicts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
