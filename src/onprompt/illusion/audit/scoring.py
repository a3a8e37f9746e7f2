"""Section 3.1: how the described function scores the test answers, a point for each class of them."""

from collections.abc import Iterator, Mapping, Sequence

from onprompt.illusion.audit.description import Scoring
from onprompt.illusion.audit.minimize import shortest
from onprompt.illusion.audit.points import Point, Verdict, not_described, not_tried
from onprompt.illusion.audit.scorer import ScoredCase, Scorer
from onprompt.illusion.audit.test_answers import CLASSES
from onprompt.illusion.results import QUESTIONS

SCORING, REPEATED = "scoring of answers", "repeated answers"
RULE = (
    "if/elif over the lower-cased answer: shape; else scene, "
    'also with spaces for "_", but then the scene is not lower-cased; else rest'
)
SAMPLE = 500  # answers that are repeated
LISTED = 6  # labels that a point lists
NEVER = "no model gives such an answer and no file has such a name"


def compare(scoring: Scoring | None, scorer: Scorer | None) -> Iterator[Point]:
    """All points on the scoring of test answers."""
    if scoring is None or scorer is None:
        yield not_described("scoring", SCORING, "", RULE)
        return
    questions = QUESTIONS if "question" in scoring.takes else QUESTIONS[:1]
    by_class = {
        name: scorer.score(
            [case._replace(question=question) for case in CLASSES[name].cases() for question in questions]
        )
        for name in CLASSES
    }
    every = [scored for cases in by_class.values() for scored in cases]
    tried = [scored for scored in every if scored.theirs.tried]
    if tried and all(scored.theirs.error for scored in tried):
        error = tried[0].theirs.error
        example = {"original": "a score", "theirs": error}
        yield Point("scoring", SCORING, "", RULE, f"{scoring.function} {error}", Verdict.CHANGES, "", example)
    elif tried:
        yield from class_points(by_class, scoring, scorer)
        yield from open_counts(tried)
        yield from repeated(tried, scorer)
    if len(tried) < len(every):
        why = next(scored.theirs.error for scored in every if not scored.theirs.tried)
        yield not_tried("scoring", len(every) - len(tried), f"{len(every):,} answers", why)


def class_points(by_class: Mapping[str, Sequence[ScoredCase]], scoring: Scoring, scorer: Scorer) -> Iterator[Point]:
    """A point for each class of which any answer was tried, with the shortest answer that shows a difference."""
    for name, cases in by_class.items():
        title, original = CLASSES[name].title, CLASSES[name].original
        tried = sum(scored.theirs.tried for scored in cases)
        if differing := [scored for scored in cases if scored.differs]:
            verdict, note = (Verdict.HARMLESS, NEVER) if CLASSES[name].harmless else (Verdict.CHANGES, "")
            labels = list(dict.fromkeys(label for scored in differing for label in scored.labels()))
            listed = f": {', '.join(labels[:LISTED])}{', …' if len(labels) > LISTED else ''}" if labels else ""
            theirs = f"different on {len(differing):,} of {tried:,} answers{listed}"
            example = shortest(differing, scorer.score).example()
            yield Point("scoring", title, "", original, theirs, verdict, note, example)
        elif name == "both" and scoring.returns == "match" and scoring.combine is None:
            yield not_described("scoring", title, "", original, "how the two matches are combined is not described")
        elif tried:
            yield Point("scoring", title, "", original, f"same on {tried:,} answers", Verdict.ALIGNED)


def open_counts(tried: Sequence[ScoredCase]) -> Iterator[Point]:
    """The counts that the function never returns."""
    for part in QUESTIONS:
        if all(getattr(scored.theirs, part) is None and not scored.theirs.error for scored in tried):
            yield not_described("scoring", f"count of the {part}", "", RULE, "the function never returns it")


def repeated(tried: Sequence[ScoredCase], scorer: Scorer) -> Iterator[Point]:
    """Some of the answers once more, at the end: a function may be random or keep state."""
    sample = tried[:: max(1, len(tried) // SAMPLE)]
    scores = scorer.theirs([scored.case for scored in sample], again=True)
    pairs = [(first, second) for first, second in zip(sample, scores, strict=True) if second.tried]
    differing = [(first, second) for first, second in pairs if first.theirs[:3] != second[:3]]
    rule = "the same score each time"
    if differing:
        first, second = min(differing, key=lambda pair: len(pair[0].case.answer))
        example = first.example() | {"original": str(first.theirs), "theirs": str(second)}
        theirs = f"another score than before on {len(differing):,} of {len(pairs):,} answers"
        yield Point("scoring", REPEATED, "", rule, theirs, Verdict.CHANGES, "", example)
    elif pairs:
        yield Point("scoring", REPEATED, "", rule, f"same on {len(pairs):,} answers", Verdict.ALIGNED)
