"""Section 3: the battery put to the described function, a point for each family of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onprompt.illusion.audit.description import Scoring
from onprompt.illusion.audit.minimize import shortest
from onprompt.illusion.audit.points import Point, Verdict, silent, untried
from onprompt.illusion.audit.scorings import Scorer, Told
from onprompt.illusion.audit.test_answers import BOTH, FAMILIES, Family, cases
from onprompt.illusion.results import QUESTIONS

SCORING, AGAIN = "scoring of answers", "the same answer once more"
RULE = (
    "if/elif over the answer in lower case: shape; else scene, "
    'also with spaces for "_", but then the scene is not put in lower case; else rest'
)
REPEATED = 500  # answers
NAMED = 6  # labels that a point lists


def compare(scoring: Scoring | None, scorer: Scorer | None) -> Iterator[Point]:
    """All that the battery shows."""
    if scoring is None or scorer is None:
        yield silent("scoring", SCORING, "", RULE)
        return
    questions = QUESTIONS if "question" in scoring.takes else QUESTIONS[:1]
    told = {
        family: scorer.tell([case._replace(question=each) for case in cases(family) for each in questions])
        for family in FAMILIES
    }
    every = [each for family in told.values() for each in family]
    tried = [each for each in every if each.theirs.tried]
    if tried and all(each.theirs.trouble for each in tried):
        yield no_score(scoring.function, tried[0].theirs.trouble)
    elif tried:
        yield from by_family(told, scoring, scorer)
        yield from never_told(tried)
        yield from repeated(tried, scorer)
    if len(tried) < len(every):
        why = next(each.theirs.trouble for each in every if not each.theirs.tried)
        yield untried("scoring", len(every) - len(tried), f"{len(every):,} answers", why)


def no_score(function: str, trouble: str) -> Point:
    """A function that never gave an outcome needs one point, not one for each family."""
    told = f"{function} {trouble}"
    return Point("scoring", SCORING, "", RULE, told, Verdict.CHANGES, "", {"original": "a score", "theirs": trouble})


def by_family(told: Mapping[Family, Sequence[Told]], scoring: Scoring, scorer: Scorer) -> Iterator[Point]:
    """A point for each family of which anything was tried, with the shortest answer that shows a difference."""
    wrong = [[each for each in family if each.differs] for family in told.values()]
    for (family, every), bad, least in zip(told.items(), wrong, shortest(wrong, scorer.tell), strict=True):
        tried = sum(each.theirs.tried for each in every)
        if least:
            yield departure(family, tried, bad, least)
        elif family.title == BOTH and scoring.returns == "match" and scoring.combine is None:
            yield silent("scoring", BOTH, "", family.original, "how the two matches are put together is not described")
        elif tried:
            same = f"the same on {tried:,} answers"
            yield Point("scoring", family.title, "", family.original, same, Verdict.ALIGNED)


def departure(family: Family, tried: int, bad: Sequence[Told], least: Told) -> Point:
    """A family of answers, of which some count otherwise."""
    labels = list(dict.fromkeys(label for each in bad for label in each.labels()))
    named = f": {', '.join(labels[:NAMED])}{', …' if len(labels) > NAMED else ''}" if labels else ""
    theirs = f"another outcome on {len(bad):,} of {tried:,} answers{named}"
    verdict = Verdict.HARMLESS if family.harmless else Verdict.CHANGES
    note = "no model answers so and no file is named so" if family.harmless else ""
    return Point("scoring", family.title, "", family.original, theirs, verdict, note, least.example())


def never_told(tried: Sequence[Told]) -> Iterator[Point]:
    """Counts that are left open each time."""
    for part in QUESTIONS:
        if all(getattr(each.theirs, part) is None and not each.theirs.trouble for each in tried):
            yield silent("scoring", f"the count of the {part}", "", RULE, "what the function returns never tells it")


def repeated(tried: Sequence[Told], scorer: Scorer) -> Iterator[Point]:
    """Some of the answers again, at the very end: a function may throw dice, or remember."""
    some = tried[:: max(1, len(tried) // REPEATED)]
    later = scorer.many([each.case for each in some], again=True)
    pairs = [(one, other) for one, other in zip(some, later, strict=True) if other.tried]
    other = [(one, now) for one, now in pairs if one.theirs[:3] != now[:3]]
    said = "the same outcome each time"
    if other:
        once, now = min(other, key=lambda pair: len(pair[0].case.answer))
        example = once.example() | {"original": str(once.theirs), "theirs": str(now)}
        theirs = f"another outcome than before on {len(other):,} of {len(pairs):,} answers"
        yield Point("scoring", AGAIN, "", said, theirs, Verdict.CHANGES, "", example)
    elif pairs:
        yield Point("scoring", AGAIN, "", said, f"the same on {len(pairs):,} answers", Verdict.ALIGNED)
