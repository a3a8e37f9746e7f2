"""How a score is computed: the claims with their probabilities, the score to expect, and its interval."""

from collections.abc import Iterator, Sequence

from onprompt.errors import UserError
from onprompt.evidence.grading import Rule, expect, reliability
from onprompt.settings import Settings
from onprompt.types import Check, Verdict
from onprompt.wording import by_object, finding_words, full_claim

SHOWN = 0.0005  # probability from which a score is listed


def lines(verdict: Verdict, settings: Settings, rule: Rule, scale: range) -> Iterator[str]:
    """Every claim with its probability and source; how likely each score is; value, score and interval."""
    if verdict.prompt_evidence is None:
        raise UserError("only verdicts that rest on claims can be explained")
    scene = verdict.prompt_evidence.scene
    yield "Probability of each claim (of details: if their object is present):"
    for group in by_object(scene, verdict.checks):
        yield f"{group.thing.phrase} (weight {group.thing.importance:g})"
        yield from claim_lines(group.checks)
    if rest := [check for check in verdict.checks if check.thing is None]:
        yield "the image as a whole"
        yield from claim_lines(rest)
    expected = expect(scene, verdict.checks, rule, scale, settings)
    likely = [(score, share) for score, share in zip(scale, expected.shares, strict=True) if share >= SHOWN]
    yield "Probability of each score: " + ", ".join(f"({score}) {share:.1%}" for score, share in likely)
    limited = f", reduced to {verdict.value:.4f}, since nothing could be checked"
    low, high = scale[0], scale[-1]
    terms = " + ".join(f"{share:.3f} × {score - low}" for score, share in likely)
    yield f"value = ({terms}) / {high - low} = {expected.value:.4f}" + (
        limited if verdict.value < expected.value - 1e-6 else ""
    )
    cuts = reliability()["cuts"]
    yield f"score = ({verdict.score}): value cut at {', '.join(f'{cut:g}' for cut in cuts)}"
    if verdict.interval:
        yield f"interval (the middle 80 %) = {verdict.interval[0]:.2f} to {verdict.interval[1]:.2f}"


def edit_lines(verdict: Verdict, scale: range) -> Iterator[str]:
    """The claims of each operation and the faults with their probabilities; the factors, the value and its interval."""
    if verdict.edit_evidence is None:
        raise UserError("only verdicts that rest on claims can be explained")
    for place, edit in enumerate(verdict.edit_evidence.edits):
        own = [check for check in verdict.checks if check.thing == place]
        yield f"{edit.phrase}: that it was carried out; then details, each supposing that it was"
        yield from claim_lines(own)
    if rest := [check for check in verdict.checks if check.thing is None]:
        yield "The image as a whole, 1 for no fault"
        yield from claim_lines(rest)
    shares = {name: verdict.measures[name] or 0.0 for name in verdict.factors}
    low, steps = scale[0], scale[-1] - scale[0]
    for name, share in shares.items():
        finest = low + share * steps
        yield f"{name} = ({verdict.factors[name].score}): {low} + {share:.3f} × {steps} = {finest:.2f}, rounded"
    product = " × ".join(f"{share:.3f}" for share in shares.values())
    yield f"value = ({product})^(1/{len(shares)}) = {verdict.value:.4f}"
    kept = verdict.measures.get("preservation")
    if kept is not None:
        yield f"alignment and plausibility also depend on what was left alone: preservation {kept:.2f}"
    if verdict.interval:
        yield f"interval (the middle 80 %) = {verdict.interval[0]:.2f} to {verdict.interval[1]:.2f}"


def claim_lines(checks: Sequence[Check]) -> Iterator[str]:
    """A line for each claim."""
    for check in checks:
        source = "" if check.source == "none" else f", {check.source}"
        claim = "whole prompt" if check.claim.kind == "whole" else f"{check.claim.kind} {full_claim(check.claim)}"
        yield f"  {check.probability:.2f}  {claim}: {finding_words(check)}{source} [{check.outcome.value}]"
