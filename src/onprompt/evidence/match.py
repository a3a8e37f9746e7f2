"""Step 3: Scene and sightings → checks. For every object asked for: is it there, how many, with which attributes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.evidence.attributes import measure_text
from onprompt.evidence.candidates import choose, fit, share_out
from onprompt.evidence.counting import asked_words as count_words
from onprompt.evidence.counting import count_check
from onprompt.evidence.details import attribute_check, is_text, relation_check
from onprompt.evidence.guesses import Guess, by_looks, contested, guessed, likely, nobody
from onprompt.evidence.substitutes import kin, spare, wider
from onprompt.language.ontology import is_concrete
from onprompt.settings import Settings
from onprompt.types import Check, Known, Outcome, Scene, Seen, Sighting, Thing


@dataclass(frozen=True, slots=True)
class Match:
    """What became of one object of the prompt: the sightings chosen for it, and its checks."""

    thing: Thing
    chosen: tuple[Sighting, ...]
    checks: tuple[Check, ...]

    @property
    def outcome(self) -> Outcome:
        """The outcome of the object itself, which is its first check."""
        return self.checks[0].outcome

    @property
    def confidence(self) -> float:
        return self.checks[0].confidence

    @property
    def there(self) -> bool:
        """Whether the object was found, surely or not, and not only something like it."""
        wrong = self.outcome is Outcome.MISMATCH and self.checks[0].kind == "object"
        return self.outcome is not Outcome.MISSING and not wrong

    @property
    def verifiable(self) -> bool:
        """Whether anything about the object could be checked: the words on an unknown thing can be read."""
        return any(check.outcome is not Outcome.UNVERIFIABLE for check in self.checks)

    @property
    def details(self) -> tuple[Check, ...]:
        """The checks of attributes and relations."""
        return tuple(check for check in self.checks if check.kind not in ("object", "count"))

    @property
    def count(self) -> float:
        """The score of the number; 1 where none was asked for or could be told."""
        counts = (check for check in self.checks if check.kind == "count")
        return next((check.score for check in counts if check.outcome is not Outcome.UNVERIFIABLE), 1.0)

    def score(self, settings: Settings, elements_only: bool = False) -> float:
        """`match_score`: class, count and attributes with the seed's weights; 0 in all parts where it is missing.

        A sighting of low confidence is worth its confidence, so that one weak sighting can't earn full marks.
        `elements_only` leaves out what goes on: actions and relations.
        """
        first = self.checks[0]
        if self.outcome is Outcome.MISSING:
            return 0.0
        if self.thing.absent:
            return first.score * first.weight
        if first.kind != "object" or self.outcome is Outcome.UNVERIFIABLE:
            return weighted_mean(self.details)  # words that may stand anywhere, or on a thing that nobody knows
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        return first.weight * sum(w * part for w, part in zip(weights, self.parts(elements_only), strict=True))

    def parts(self, elements_only: bool = False) -> tuple[float, float, float]:
        """The scores of class, count and attributes. What stands in for the object has none of its attributes."""
        if not self.there:
            return self.checks[0].score, float(self.thing.count.low <= 1), 0.0
        counted = [check for check in self.details if not (elements_only and check.goes_on)]
        return self.checks[0].score, self.count, weighted_mean(counted)


def weighted_mean(checks: Sequence[Check]) -> float:
    """The mean score of what is verifiable, 1 where nothing is; a check of low confidence weighs its confidence."""
    verifiable = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    total = sum(check.weight for check in verifiable)
    return sum(check.weight * check.score for check in verifiable) / total if total else 1.0


@dataclass(frozen=True, slots=True)
class Case:
    """One object of the prompt and what it may be: what the detector knows of its name, and the sightings meant."""

    index: int
    thing: Thing
    known: Known | None
    chosen: tuple[Sighting, ...]
    candidates: tuple[Sighting, ...]
    crowd: Sighting | None = None
    chance: float | None = None  # that it is there, by detector and matcher
    instead: Sighting | None = None  # of a close kind, where it is not there


def match(
    scene: Scene, seen: Seen, lines: Sequence[Sighting], settings: Settings, guess: Guess = nobody
) -> tuple[Match, ...]:
    """A match for each object of the scene, in the prompt's order; `lines` are what was read in the picture."""
    cases = settled(scene, seen, settings, guess)
    firsts = [of_words(case, lines, settings) if is_text(case.thing) else presence(case, settings) for case in cases]
    gone = [claims_are(case, first) for case, first in zip(cases, firsts, strict=True)]
    chosen = [case.chosen for case in cases]
    matches = []
    for case, checks in zip(cases, firsts, strict=True):
        blank = Check("", "", "", gone[case.index] or Outcome.UNVERIFIABLE, 0.0, 0.0, "none", case.index)
        details = []
        if not case.thing.absent:
            details += [attribute_check(blank, each, case.chosen, lines, settings) for each in case.thing.attributes]
            details += [relation_check(blank, scene, each, chosen, gone, settings) for each in case.thing.relations]
        if can_be_guessed(case.thing):
            told = [guessed(each, case.thing, guess, settings) for each in details]
            details = [contested(each, case.thing, guess, settings) for each in told]
        matches.append(Match(case.thing, case.chosen, (*checks, *details)))
    return tuple(matches)


def of_words(case: Case, lines: Sequence[Sighting], settings: Settings) -> list[Check]:
    """Words that must not be there; those that are wanted are attributes, and checked as such."""
    if not case.thing.absent:
        return []
    asked = [each.value for each in case.thing.attributes if each.kind == "text"]
    likest = max((measure_text(value, lines, settings) for value in asked), key=lambda each: each.score)
    check = Check(
        "text", asked_words(case.thing), f"found {likest.found}", Outcome.MATCHED, 1.0, 1.0, "pp-ocr", case.index
    )
    return [replace(check, outcome=Outcome.MISMATCH, score=0.0) if likest.score == 1 else check]


def settled(scene: Scene, seen: Seen, settings: Settings, guess: Guess) -> list[Case]:
    """For each object of the prompt which sightings are meant; for one that is not there, what stands in for it."""
    candidates = share_out(scene, seen.sightings, settings)
    others = spare(scene, seen, settings)
    cases = []
    for index, (thing, mine) in enumerate(zip(scene.things, candidates, strict=True)):
        known = seen.known.get(thing.canonical)
        crowd = next((each for each in seen.sightings if each.label == thing.canonical and each.count != (1, 1)), None)
        crowd = None if thing.attributes else crowd  # a range of bottles is none of red bottles
        chosen = choose(thing, mine, settings)
        surest = max((each.confidence for each in chosen), default=0.0) if known else None
        chance = likely(surest, guess(thing.phrase) if can_be_guessed(thing) else None, settings)
        case = Case(index, thing, known, chosen, mine, crowd, chance)
        needed = not thing.absent and thing.count.low > 0
        if known and not chosen and needed and (chance or 0.0) < settings.missing_below:
            case = stood_in_for(case, others, settings)
            others = [each for each in others if each not in case.chosen and each is not case.instead]
        cases.append(case)
    return cases


def can_be_guessed(thing: Thing) -> bool:
    """Whether an object is a thing that can be seen, and meant to be there: no zeitgeist, no words."""
    return not thing.absent and thing.canonical != "text" and is_concrete(thing.canonical) is True


def stood_in_for(case: Case, others: Sequence[Sighting], settings: Settings) -> Case:
    """An object that is missing, by a wider kind of it, or beside a close one."""
    if found := wider(case.thing, others):
        chosen = choose(case.thing, found, settings)
        known = Known((found[0].word,), settings.subtype_score)
        return replace(
            case, known=known, chosen=chosen, candidates=tuple(found), chance=max(each.confidence for each in chosen)
        )
    return replace(case, instead=kin(case.thing, others, settings))


def claims_are(case: Case, checks: Sequence[Check]) -> Outcome | None:
    """What claims about an object that can't be looked at are: missing, or unverifiable; None where it can be."""
    if case.chosen:
        return None
    missing = bool(checks) and checks[0].outcome in (Outcome.MISSING, Outcome.MISMATCH)
    return Outcome.MISSING if missing else Outcome.UNVERIFIABLE


def presence(case: Case, settings: Settings) -> list[Check]:
    """The check of the object itself and, where it is there and a number was asked for, of its count."""
    thing, known = case.thing, case.known
    blank = Check(
        "object",
        asked_words(thing),
        "",
        Outcome.UNVERIFIABLE,
        0.0,
        0.0,
        "none",
        case.index,
        None,
        case.chosen,
        case.candidates,
    )
    # A guess is no proof that something is not there.
    if known is None and (case.chance is None or thing.count.low == 0):
        return [replace(blank, found=f"no detector here knows the word {thing.canonical!r}")]
    if known and thing.absent:
        return [absence(blank, thing, case.candidates, known, settings)]
    if not case.chosen and thing.count.low == 0:
        return [
            replace(blank, found="none was seen", outcome=Outcome.MATCHED, score=1.0, confidence=1.0, source="detector")
        ]
    if not case.chosen:
        return not_located(blank, case, settings)
    return located(blank, case, settings)


def not_located(blank: Check, case: Case, settings: Settings) -> list[Check]:
    """An object without a sighting: by its looks all the same, another kind instead, or missing."""
    chance = case.chance or 0.0
    if case.known is None or chance >= settings.missing_below:
        check = by_looks(blank, chance, settings)
        uncounted = replace(
            blank, kind="count", asked=count_words(case.thing.count), found="not located, so it can't be counted"
        )
        return [check, uncounted] if case.thing.count.explicit and check.outcome is not Outcome.MISSING else [check]
    check = replace(blank, found="MISSING", outcome=Outcome.MISSING, confidence=1 - chance, source="detector")
    if case.instead is None:
        return [check]
    found = f"{case.instead.word} ({case.instead.confidence:.2f}) instead"
    return [replace(check, found=found, outcome=Outcome.MISMATCH, score=settings.kin_score, box=case.instead.box)]


def located(blank: Check, case: Case, settings: Settings) -> list[Check]:
    """An object with sightings, and how many there are."""
    known, count = case.known or Known(()), case.thing.count
    surest = max(case.chosen, key=lambda each: each.confidence)
    sure = surest.confidence if case.chance is None else case.chance
    check = replace(
        blank,
        found=found_words(case.chosen, known),
        outcome=Outcome.MATCHED if known.closeness == 1 else Outcome.PARTIAL,
        score=known.closeness,
        confidence=sure,
        source=surest.source if sure == surest.confidence else f"{surest.source} + matcher",
        box=surest.box,
    )
    if sure < settings.low_confidence:
        check = replace(check, outcome=Outcome.LOW_CONFIDENCE)
    if not count.words and count.low == 1:
        return [check]
    return [check, count_check(check, count, case.chosen, case.candidates, case.crowd, settings)]


def asked_words(thing: Thing) -> str:
    """The object in the prompt's words; an absence with its "no"."""
    return f"no {thing.phrase.removeprefix('a ').removeprefix('an ')}" if thing.absent else thing.phrase


def absence(blank: Check, thing: Thing, candidates: Sequence[Sighting], known: Known, settings: Settings) -> Check:
    """Something that must not be there: only a sighting that fits its attributes too would be one."""
    fitting = [each for each in candidates if fit(thing, each, settings) == 1]
    surest = max((each.confidence for each in fitting), default=0.0)
    check = replace(blank, source="detector", chosen=tuple(fitting))
    if surest and known.closeness < 1:
        return replace(check, found=f"there is a {fitting[0].word}, and more can't be told")
    if surest >= settings.low_confidence:
        return replace(check, found=f"it is there ({surest:.2f})", outcome=Outcome.MISMATCH, confidence=surest)
    outcome = Outcome.LOW_CONFIDENCE if surest else Outcome.MATCHED
    found = f"it may be there ({surest:.2f})" if surest else "none was seen"
    return replace(check, found=found, outcome=outcome, score=1.0, confidence=1 - surest)


def found_words(chosen: Sequence[Sighting], known: Known) -> str:
    """`found 2 (0.97, 0.91)`, with the detector's word where it is a broader one."""
    sure = ", ".join(f"{each.confidence:.2f}" for each in chosen[:4]) + (", …" if len(chosen) > 4 else "")
    broader = f" as {chosen[0].word!r}, which is all that can be told" if known.closeness < 1 else ""
    cut = "; the picture's edge cuts it" if len(chosen) == 1 and chosen[0].truncated else ""
    covered = "; partly hidden" if len(chosen) == 1 and hidden(chosen[0]) else ""
    return f"found {len(chosen)}{broader} ({sure}){cut}{covered}"


def hidden(sighting: Sighting) -> bool:
    """Whether something in front hides part of it."""
    return any(trait.value == "occluded" for trait in sighting.traits)
