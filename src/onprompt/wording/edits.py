"""An edit in words: summaries, and justifications of 15 to 30 words, made of whole sentences about what decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from onprompt.types import Box, Check, Found, ObjectChange, Outcome
from onprompt.wording import finding_words, full_claim, plural

if TYPE_CHECKING:
    from onprompt.evidence.edits.claims import Operation
    from onprompt.evidence.edits.grade import JudgedEdit
    from onprompt.evidence.edits.observations import EditObservations

SHORTEST, SENTENCE = 15, 15  # words of a justification, and at most of a sentence: two never exceed the limit of 30
CLEAR = 0.5  # confidence from which a detection is clear
NAME = 3  # words of an object's name that a sentence takes
GOOD, MIXED, BAD = 5, 4, 3  # scores from which what fits decided, and up to which what does not
CLEARLY = 2  # steps from the ends of the scale within which no sentence may contradict the score
FAILURES = {
    "unchanged": "The edited image is the same as the original: nothing was changed.",
    "redrawn": "The image was redrawn as a whole instead of being edited in one place.",
    "another_image": "The edited image is another picture, not the original with a change.",
    "broken": "The edited image shows nothing: it is one color, or noise.",
}
NOT_UNDERSTOOD = "Not verifiable: the instruction was not understood."
NOT_CHECKABLE = "Not verifiable: nothing that the instruction asks for can be measured."
FAULTS = {
    "blank": "The edited image shows nothing: it is one color, or noise.",
    "noisy patch": "The changed region has far more fine detail than the rest, like noise.",
    "joints": "Joints of a person who was not to change can no longer be found.",
    "doubled": "The object to be changed can now be seen twice.",
}
# Whether an operation was carried out: carried out, not carried out. {new} and {old} are names.
DONE = {
    "add": "The {new} is there now and was not before.",
    "remove": "The {old} is gone.",
    "replace": "The {new} took the place of the {old}.",
    "recolor": "The color of the {old} changed as requested.",
    "restyle": "The {old} took on the requested look.",
    "move": "The {old} was moved or turned as requested.",
    "resize": "The size of the {old} changed as requested.",
    "count": "The number of {old} changed as requested.",
    "background": "The background changed as requested.",
    "action": "The {old} looks as requested.",
    "text": "The requested text can be read.",
}
NOT_DONE = {
    "add": "The {new} that was asked for was not found.",
    "remove": "The {old} is still there.",
    "replace": "The {old} was not replaced as requested.",
    "recolor": "The color of the {old} did not change as requested.",
    "restyle": "The {old} did not take on the requested look.",
    "move": "The {old} was not moved or turned as requested.",
    "resize": "The size of the {old} did not change as requested.",
    "count": "The number of {old} did not change as requested.",
    "background": "The background did not change as requested.",
    "action": "The {old} does not look as requested.",
    "text": "The requested text can't be read.",
}
FAILED = (Outcome.MISSING, Outcome.MISMATCH)
COLUMNS, ROWS = ("left", "center", "right"), ("top", "middle", "bottom")
KEPT, LOST = 0.8, 0.45  # preservation from which the rest was kept, below which it was not
COSTLY = 0.7  # log-odds by which redrawing lowers plausibility, from which it is a reason


class Sentence(NamedTuple):
    """A sentence, and whether it speaks for a high score (1), a low one (-1), or neither."""

    text: str
    sign: int = 0


def compose(score: int, reasons: Iterable[Sentence], facts: Iterable[Sentence]) -> str:
    """Whole sentences for 15 to 30 words: reasons, then facts, and nothing that contradicts a clear score."""
    side = (score >= GOOD) - (score <= BAD)
    clear = abs(score - MIXED) >= CLEARLY
    words: list[str] = []
    for group in (reasons, facts):
        known = [each for each in dict.fromkeys(group) if len(each.text.split()) <= SENTENCE]
        fitting = [each for each in known if not (clear and each.sign == -side)]
        for sentence in sorted(fitting, key=lambda each: -side * each.sign):  # stable: otherwise in the order given
            words += sentence.text.split() if len(words) < SHORTEST else []
    return " ".join(words)


def named(phrase: str, otherwise: str) -> str:
    """The name of an object if it is short enough for a sentence."""
    return phrase if 0 < len(phrase.split()) <= NAME else otherwise


def operation_sentence(operation: Operation) -> Sentence:
    """Whether an operation was carried out, in words."""
    edit, check = operation.edit, operation.check
    target = edit.target.canonical if edit.target else ""
    there = {thing.canonical for thing in edit.source.things}
    new = next((t.canonical for t in edit.result.things if not t.absent and t.canonical not in there), "")
    whole = "image" if edit.operation in ("restyle", "recolor", "move", "resize") else "object"
    names = {"new": named(new, "object"), "old": named(target, whole)}
    if operation.targetless:
        return Sentence(f"No {named(target, 'such object')} was detected in the original image to begin with.", -1)
    done = DONE.get(edit.operation, "The requested change was made.")
    failed = NOT_DONE.get(edit.operation, "The requested change was not made.")
    if edit.scope == "all others":
        done, failed = "Everything else is gone.", "Not everything else is gone."
    if check.outcome is Outcome.MATCHED:
        return Sentence(done.format(**names), 1)
    if check.outcome in FAILED:
        return Sentence(failed.format(**names), -1)
    how = "measured" if operation.known else "estimated"
    name = named(new or target, "this change")
    return Sentence(
        f"It is uncertain whether the request for {name} was met; {how} probability {operation.probability:.2f}."
    )


def finding_sentence(check: Check) -> Iterator[Sentence]:
    """What was measured before and after."""
    sign = {Outcome.MATCHED: 1, Outcome.MISSING: -1}.get(check.outcome, 0)
    confidences = check.finding.confidences
    if confidences and max(confidences) < CLEAR:
        yield Sentence(f"Detections are weak: {confidences[0]:.2f} before, {confidences[1]:.2f} after.")
    elif check.finding.kind is Found.BEFORE_AFTER and check.finding.value:
        yield Sentence(f"Measured: {finding_words(check)}.", sign)


def detail_sentence(check: Check) -> Sentence:
    """Whether number, color or place are right."""
    if check.probability >= 0.5:
        return Sentence(f"Right in detail: {full_claim(check.claim)}.", 1)
    return Sentence(f"Expected {full_claim(check.claim)}, but {finding_words(check)}.", -1)


def is_done(operation: Operation) -> bool:
    """Whether an operation was carried out with all its details."""
    return operation.check.outcome is Outcome.MATCHED and all(check.probability >= 0.5 for check in operation.details)


def claims(operations: Sequence[Operation]) -> Iterator[Sentence]:
    """The operations and their details, the surest first."""
    for operation in sorted(operations, key=lambda each: -abs(each.probability - 0.5)):
        yield operation_sentence(operation)
        yield from map(detail_sentence, operation.details)
        yield from finding_sentence(operation.check)


def unverifiable(judged: JudgedEdit) -> list[Sentence]:
    """Why nothing could be checked; nothing if something could."""
    if judged.verifiable:
        return []
    flags = {flag for edit in judged.observed.edits for flag in edit.flags}
    understood = not flags & {"not understood", "not English", "nothing to do"}
    return [
        Sentence(NOT_CHECKABLE if understood else NOT_UNDERSTOOD),
        Sentence("The score is a placeholder and enters no mean."),
    ]


def alignment(judged: JudgedEdit, score: int) -> str:
    """Was what was done what was asked for, on the right target?"""
    failure = [Sentence(FAILURES[judged.observed.failure], -1)] if judged.observed.failure else []
    said = unverifiable(judged) or [*failure, *claims(judged.operations)]
    if judged.verifiable and score <= BAD and not any(sentence.sign < 0 for sentence in said):
        said.append(Sentence("More of the image changed than was asked for.", -1))
    return compose(score, said, facts(judged))


def completeness(judged: JudgedEdit, score: int) -> str:
    """The share of the operations that were carried out."""
    operations = judged.operations
    done = sum(map(is_done, operations))
    undecided = sum(each.check.outcome is Outcome.LOW_CONFIDENCE for each in operations)
    sign = 1 if done == len(operations) else -1 if done + undecided == 0 else 0
    open_ = f", {undecided} uncertain" if undecided else ""
    number = Sentence(f"{done} of {plural(len(operations), 'requested change')} confirmed{open_}.", sign)
    said = unverifiable(judged) or [number, *claims(operations)]
    return compose(score, said, facts(judged))


def plausibility(judged: JudgedEdit, score: int) -> str:
    """What could not be so."""
    observed = judged.observed
    faults = sorted(judged.faults, key=lambda check: check.probability)
    said = [Sentence(FAULTS[check.finding.value], -1) for check in faults]
    if observed.failure == "another_image":
        said.insert(0, Sentence(FAILURES[observed.failure], -1))
    if judged.redrawn > COSTLY:
        kept = f"{judged.preservation:.2f} of 1"
        said.append(Sentence(f"Parts that were not to change were redrawn: {kept} is preserved.", -1))
    elif judged.redrawn > 0:
        said.append(Sentence("Parts that were not to change were redrawn a little.", -1))
    if not faults and not observed.is_global:
        said.insert(0, Sentence("No noisy patch, doubled object or damaged person was found.", 1))
    unseen = Sentence("Hands, size, support and lighting were not measured.")
    return compose(score, said, [unseen, *facts(judged)])


def facts(judged: JudgedEdit) -> Iterator[Sentence]:
    """What is always known of an edit."""
    observed, kept = judged.observed, judged.preservation
    if unasked := object_changes(observed.unasked):
        yield Sentence(f"Not asked for: {unasked[0]}.", -1)
    sign = (kept >= KEPT) - (kept < LOST)
    where = "the image" if observed.mask is None else "the image outside the mask"
    yield Sentence(change_words(observed))
    yield Sentence(f"Preservation of {where}: {kept:.2f} of 1.", 0 if observed.is_global else sign)
    yield Sentence(f"{plural(len(observed.objects), 'object')} detected across the two images.")
    yield Sentence("Both versions were aligned and compared at every place.")


def change_words(observed: EditObservations) -> str:
    """How much changed, and where."""
    made = observed.adjustments
    if made and (observed.is_global or not observed.change.regions):
        return f"Measured over the whole image: {', '.join(made[:2])}."
    if not observed.change.regions:
        return "No visible change was measured anywhere in the image."
    where = place_words(observed.change.regions[0].box)
    return f"About {max(1, round(100 * observed.change.area))} % of the image changed, mostly {where}."


def object_changes(objects: Iterable[ObjectChange]) -> list[str]:
    """`cup removed`, `2 × horse added`: what became of the objects that clearly changed."""
    counts = Counter(object_words(change) for change in objects if change.kind not in ("unchanged", "changed"))
    return [f"{number} × {words}" if number > 1 else words for words, number in counts.items()]


def object_words(change: ObjectChange) -> str:
    """`cup removed`."""
    sighting = change.before or change.after
    word = sighting.word if sighting else "object"
    new = change.after if change.kind == "replaced" else None
    return f"{word} replaced by {new.word}" if new else f"{word} {change.kind}"


def place_words(box: Box) -> str:
    """`in the top left`, `on the left`, `at the top`, `in the center`."""
    x, y = box.centre
    column, row = COLUMNS[min(2, int(x * 3))], ROWS[min(2, int(y * 3))]
    if row == "middle":
        return "in the center" if column == "center" else f"on the {column}"
    return f"at the {row}" if column == "center" else f"in the {row} {column}"


def short(text: str, words: int = 12) -> str:
    """The first words of a text, with an ellipsis if there are more."""
    parts = text.split()
    return " ".join(parts) if len(parts) <= words else " ".join(parts[:words]) + "…"


def summary(judged: JudgedEdit) -> str:
    """One or two sentences: what was done, what was not, what else changed."""
    operations, observed = judged.operations, judged.observed
    if not judged.verifiable:
        return " ".join(sentence.text for sentence in unverifiable(judged))
    parts = [FAILURES[observed.failure]] if observed.failure else []
    differs = [o for o in operations if o.check.outcome is Outcome.MATCHED and not is_done(o)]
    groups = {
        "Done": [short(o.edit.phrase) for o in operations if is_done(o)],
        "Done differently": [f"{short(o.edit.phrase)} ({wrong_details(o)})" for o in differs],
        "Not done": [
            short(o.edit.phrase) for o in operations if o.check.outcome in (Outcome.MISSING, Outcome.MISMATCH)
        ],
    }
    parts += [f"{title}: {'; '.join(phrases)}." for title, phrases in groups.items() if phrases]
    open_ = [o for o in operations if o.check.outcome in (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE)]
    if estimated := "; ".join(f"{short(o.edit.phrase)} ({o.probability:.2f})" for o in open_):
        parts.append(f"Uncertain: {estimated}.")
    if missing := [o.targetless for o in operations if o.targetless]:
        parts.append(f"Not in the original image: {', '.join(dict.fromkeys(missing))}.")
    unasked = object_changes(observed.unasked)
    if unasked and not observed.failure:
        parts.append(f"Also changed: {', '.join(unasked[:4])}.")
    return " ".join(parts)


def wrong_details(operation: Operation) -> str:
    """`expected 5 × cup, found 2`."""
    wrong = [check for check in operation.details if check.probability < 0.5]
    return "; ".join(f"expected {full_claim(check.claim)}, {finding_words(check)}" for check in wrong)
