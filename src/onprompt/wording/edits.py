"""An edit in words: justifications of 15 to 30 words, written from the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from onprompt.types import Box, Found, ObjectChange, Outcome
from onprompt.wording import finding_words, plural

if TYPE_CHECKING:
    from onprompt.evidence.edits.grade import EditGrade
    from onprompt.evidence.edits.observations import EditObservations
    from onprompt.evidence.edits.operations import Operation

SHORTEST, CLAUSE = 15, 15  # words of a justification, and of one clause: two clauses never exceed the limit of 30
PHRASE, VALUE = 5, 7  # words of an instruction and of a finding that are quoted
FAILURES = {
    "unchanged": "The edited image is the same as the original: nothing was changed.",
    "redrawn": "The image was redrawn as a whole instead of being edited in one place.",
    "broken": "The edited image shows nothing: it is one colour, or noise.",
}
FAULTS = {
    "blank": "The edited image shows nothing: it is one colour, or noise.",
    "blurred patch": "The changed region is far less sharp than it was and than the rest.",
    "noisy patch": "The changed region is far noisier than it was, and than the rest.",
    "seam": "There are new edges along the border of the mask, like a seam.",
    "text": "The new text can hardly be read.",
    "doubled": "The object to be changed can now be seen twice.",
    "body": "No joints of a body could be found in a person that was added.",
}
SAID = {Outcome.MATCHED: "done", Outcome.MISSING: "not done", Outcome.MISMATCH: "not done"}
COLUMNS, ROWS = ("left", "centre", "right"), ("top", "middle", "bottom")


def short(text: str, words: int) -> str:
    """The first words of a text, with an ellipsis if there are more."""
    parts = text.split()
    return " ".join(parts) if len(parts) <= words else " ".join(parts[:words]) + "…"


def in_limits(clauses: Iterable[str]) -> str:
    """As many clauses as it takes for 15 words; no clause has more than 15."""
    words: list[str] = []
    for clause in clauses:
        if len(words) >= SHORTEST:
            break
        words += clause.split()[:CLAUSE]
    return " ".join(words)


def operation_clause(operation: Operation) -> str:
    """`"make the car red": done, blue → red.`"""
    check, phrase = operation.check, short(operation.edit.phrase, PHRASE)
    said = SAID.get(check.outcome, "likely done" if operation.probability >= 0.5 else "likely not done")
    if check.finding.kind is Found.BEFORE_AFTER:
        return f'"{phrase}": {said}; {short(finding_words(check), VALUE)}.'
    return f'"{phrase}": {said}, by an estimate of {operation.probability:.2f}.'


def alignment(operations: Sequence[Operation], grade: EditGrade, observed: EditObservations) -> str:
    """Was what was done what was asked for, on the right target?"""
    failure = [FAILURES[observed.failure]] if observed.failure else []
    return in_limits([*failure, *(operation_clause(o) for o in operations[:1]), *facts(grade, observed)])


def completeness(operations: Sequence[Operation], grade: EditGrade, observed: EditObservations) -> str:
    """The share of the operations that were carried out."""
    done = [o for o in operations if o.check.outcome is Outcome.MATCHED]
    open_ = [o for o in operations if o.check.outcome in (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE)]
    number = f"{len(done)} of {plural(len(operations), 'requested change')} confirmed."
    unsure = [f"{len(open_)} could only be estimated."] if open_ else []
    rest = [o for o in operations if o not in done] or list(operations)
    clauses = [" ".join([number, *unsure]), *(operation_clause(o) for o in rest[:1]), *facts(grade, observed)]
    return in_limits(clauses)


def plausibility(grade: EditGrade, observed: EditObservations) -> str:
    """What could not be so."""
    worst = min(grade.faults, key=lambda check: check.probability, default=None)
    none = "No local faults were looked for." if observed.is_global else "No blurred or noisy patch was found."
    found = none if worst is None else FAULTS[worst.finding.value]
    unsure = "This is uncertain." if worst is not None and worst.outcome is Outcome.LOW_CONFIDENCE else ""
    clauses = [f"{found} {unsure}".strip(), "Anatomy, size, support and lighting were not measured."]
    return in_limits([*clauses, *facts(grade, observed)])


def facts(grade: EditGrade, observed: EditObservations) -> Iterator[str]:
    """What is always known of an edit."""
    if unasked := object_changes(observed.unasked):
        first, *more = unasked
        both = f"Not asked for: {', '.join([first, *more[:1]])}."
        yield both if len(both.split()) <= CLAUSE else f"Not asked for: {first}."
    yield change_words(observed)
    where = "the image" if observed.mask is None else "the image outside the mask"
    yield f"Preservation of {where}, from 0 to 1: {grade.preservation:.2f}."
    yield f"{plural(len(observed.objects), 'object')} detected across the two images."


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
    """`in the top left`, `on the left`, `at the top`, `in the centre`."""
    x, y = box.centre
    column, row = COLUMNS[min(2, int(x * 3))], ROWS[min(2, int(y * 3))]
    if row == "middle":
        return "in the centre" if column == "centre" else f"on the {column}"
    return f"at the {row}" if column == "centre" else f"in the {row} {column}"


def summary(operations: Sequence[Operation], observed: EditObservations) -> str:
    """One or two sentences: what was done, what was not, what else changed."""
    parts = [FAILURES[observed.failure]] if observed.failure else []
    groups = {"Done": (Outcome.MATCHED,), "Not done": (Outcome.MISSING, Outcome.MISMATCH)}
    for title, outcomes in groups.items():
        if phrases := [short(o.edit.phrase, 12) for o in operations if o.check.outcome in outcomes]:
            parts.append(f"{title}: {'; '.join(phrases)}.")
    open_ = [o for o in operations if o.check.outcome in (Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE)]
    if estimated := "; ".join(f"{short(o.edit.phrase, 12)} ({o.probability:.2f})" for o in open_):
        parts.append(f"Only estimated: {estimated}.")
    unasked = object_changes(observed.unasked)
    if unasked and not observed.failure:
        parts.append(f"Also changed: {', '.join(unasked[:4])}.")
    return " ".join(parts)
