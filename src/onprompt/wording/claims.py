"""Claims and findings in words."""

from collections.abc import Callable

from onprompt.types import Check, Claim, Count, Finding, Found, Outcome, Thing

CLEAR = 0.65  # probability from which a relation holds
EVEN = 0.5  # confidence from which an object was detected
LISTED = 4  # confidences that are listed


def count_words(count: Count) -> str:
    """The number asked for, in figures."""
    if count.exact is not None:
        return str(count.exact)
    return count.words or f"{count.low} or more" if count.high is None else f"{count.low} to {count.high}"


def thing_words(thing: Thing) -> str:
    """An object of the prompt in its words."""
    return without(thing.phrase) if thing.absent else thing.phrase


def without(phrase: str) -> str:
    """The absence of an object: `no cat`."""
    return f"no {phrase.removeprefix('a ').removeprefix('an ')}"


def claim_words(claim: Claim) -> str:
    """What is asked for: `two owls`, `2`, `on a branch`, `brown`, `not red`."""
    if claim.count is not None:
        return count_words(claim.count)
    if claim.kind == "relation":
        return f"{'not ' if claim.negated else ''}{claim.value} {claim.target}"
    if not claim.negated:
        return claim.value
    return without(claim.value) if claim.kind in ("object", "text") else f"not {claim.value}"


def full_claim(claim: Claim) -> str:
    """A claim that can stand alone: `2 × owl`, `owl on a branch`, `brown owl`."""
    if claim.kind in ("object", "kind") or not claim.name:
        return claim_words(claim)
    if claim.kind in ("sex", "age"):
        return f"{claim.name} ({claim.value})"
    if claim.count is not None:
        return f"{claim_words(claim)} × {claim.name}"
    if claim.negated:
        follows = claim.kind in ("action", "relation")
        return f"{claim.name} not {claim.value} {claim.target}".rstrip() if follows else f"not {claim.phrase}"
    return claim.phrase


def detected_words(finding: Finding, _: Check) -> str:
    """How many were detected, and of several the confidence of each; that of one is the check's."""
    each = ", ".join(f"{confidence:.2f}" for confidence in finding.confidences[:LISTED])
    more = ", …" if len(finding.confidences) > LISTED else ""
    confidences = f" ({each}{more})" if len(finding.confidences) > 1 else ""
    broader = f" {only_broader(finding.value)}" if finding.value else ""
    notes = {"truncated": "; cut off by the image edge", "occluded": "; partly occluded"}
    return f"detected {finding.number}{broader}{confidences}" + "".join(notes[note] for note in finding.notes)


def only_broader(word: str) -> str:
    """That a detector knows no more than a broader class."""
    return f"as {word!r}, the closest class that a detector knows"


def counted_words(finding: Finding, _: Check) -> str:
    """How many there are."""
    if finding.most is not None:
        return f"found a crowd of {finding.number} to {finding.most}"
    weak = finding.confidences
    return f"found {finding.number}" + (f", and {len(weak)} more with low confidence ({max(weak):.2f})" if weak else "")


def likely(finding: Finding) -> str:
    """The probability of a finding if it is known."""
    return "" if finding.probability is None else f" ({finding.probability:.2f})"


def related_words(finding: Finding, _: Check) -> str:
    """Whether a relation holds."""
    share = finding.probability or 0.0
    return ("yes" if share >= CLEAR else "no" if share <= 1 - CLEAR else "uncertain") + likely(finding)


def present_words(finding: Finding, check: Check) -> str:
    """Something that should not be there."""
    return ("detected" if check.outcome is Outcome.MISMATCH else "possibly present") + likely(finding)


def before_after_words(finding: Finding, _: Check) -> str:
    """What was measured in both versions of an edited image, or whether an object was detected in them."""
    if not finding.confidences:
        return finding.value
    before, after = finding.confidences
    if min(before, after) >= EVEN:
        return f"{finding.value} detected before and after"
    if max(before, after) < EVEN:
        return f"{finding.value} not clearly detected ({before:.2f} before, {after:.2f} after)"
    return f"{finding.value} " + (f"detected only afterwards ({after:.2f})" if after >= EVEN else "no longer detected")


UNUSABLE = {  # why a model's answer to one of several claims can't be used
    "not_asked": "the model was not asked",
    "missing": "the model gave no answer",
    "repeated": "the model answered more than once",
    "unreadable": "the model's answer can't be read",
}
WORDS: dict[Found, Callable[[Finding, Check], str]] = {
    Found.DETECTED: detected_words,
    Found.COUNTED: counted_words,
    Found.MEASURED: lambda finding, _: f"found {finding.value}",
    Found.RELATED: related_words,
    Found.CLASSIFIED: lambda finding, _: "recognized by a classifier, without a box" + likely(finding),
    Found.ESTIMATED: lambda finding, _: f"estimated {finding.probability:.2f}, not measured",
    Found.STATED: lambda finding, _: finding.value + likely(finding),
    Found.SUBSTITUTE: lambda finding, _: f"{finding.value} instead{likely(finding)}",
    Found.PRESENT: present_words,
    Found.NONE_DETECTED: lambda _, __: "none detected",
    Found.MISSING: lambda _, __: "MISSING",
    Found.OBJECT_MISSING: lambda _, __: "the object is missing",
    Found.NOT_LOCATED: lambda _, __: "the object was not located",
    Found.RECOGNISED_BY_TEXT: lambda _, __: "recognized by its text",
    Found.UNKNOWN_WORD: lambda _, check: f"no detector knows the word {check.claim.name!r}",
    Found.ONLY_BROADER: lambda finding, _: f"detected {only_broader(finding.value)}",
    Found.NOT_MEASURABLE: lambda _, __: "can't be measured",
    Found.TARGET_MISSING: lambda finding, _: f"the {finding.value} is missing",
    Found.TARGET_NOT_LOCATED: lambda finding, _: f"the {finding.value} was not located",
    Found.SAME_OBJECT: lambda _, __: "only one object was found for both",
    Found.NO_PAIR: lambda _, __: "one of the two objects around it was not found",
    Found.UNDECIDABLE: lambda _, __: "can't be decided from one image",
    Found.NOT_ANSWERED: lambda finding, _: UNUSABLE[finding.notes[0]] if finding.notes else "the model can't tell",
    Found.BEFORE_AFTER: before_after_words,
    Found.FAULT: lambda finding, _: f"{finding.value} (severity {finding.probability:.2f})",
}


def finding_words(check: Check) -> str:
    """What was found for a claim."""
    return WORDS[check.finding.kind](check.finding, check)


def sentence(check: Check) -> str:
    """What was expected and found: `expected 2 × owl: found 1 (probability 0.71, picodet + efficientdet)`."""
    words = "none" if check.finding.kind is Found.MISSING else finding_words(check)
    source = "" if check.source == "none" else f", {check.source}"
    return f"expected {full_claim(check.claim)}: {words} (probability {check.probability:.2f}{source})"
