"""Step 3: scene and sightings → checks. For every object: is it there, how many, with which attributes?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.evidence import people
from onprompt.evidence.attributes import measure_text
from onprompt.evidence.candidates import choose, find_candidates, fit
from onprompt.evidence.counting import count_check, count_claim
from onprompt.evidence.details import (
    attribute_check,
    attribute_claim,
    is_text,
    relation_check,
    relation_claim,
    summarize,
)
from onprompt.evidence.estimates import (
    NOTHING_KNOWN,
    Estimate,
    Whole,
    contest,
    estimate_open,
    estimated_presence,
    fused_probability,
    no_estimate,
)
from onprompt.evidence.matches import WEAK, Match
from onprompt.evidence.substitutes import hypernyms, similar_kind, unclaimed
from onprompt.language import is_concrete, name_of
from onprompt.settings import Settings
from onprompt.types import Check, Claim, Finding, Found, Known, Outcome, Relation, Scene, Seen, Sighting, Thing

OCR = "pp-ocr"
NO_SOURCE = "none"  # the source of a claim that nothing could check
OTHER_TEXT = 0.6  # the probability that what bears other words is the object asked for
MIN_LETTERS, CLEARLY_READ, MIN_LETTER_HEIGHT = 3, 0.8, 0.04  # of text that something bears; height of the image


@dataclass(frozen=True, slots=True)
class Case:
    """An object of the prompt, what the detector knows of its name, and the sightings chosen for it."""

    index: int
    thing: Thing
    known: Known | None
    chosen: tuple[Sighting, ...]
    candidates: tuple[Sighting, ...]
    crowd: Sighting | None = None
    probability: float | None = None  # of presence, by detector and matcher
    substitute: Sighting | None = None  # of a similar kind, if it is missing
    read: bool = False  # recognised only by the text that it bears
    bears_text: bool = False  # whether text is asked for on it

    def blank(self, claim: Claim, outcome: Outcome = Outcome.UNVERIFIABLE) -> Check:
        """A check without a result yet."""
        return Check(claim, Finding(Found.NOT_LOCATED), outcome, 0.0, 0.0, NO_SOURCE, self.index)


def match(
    scene: Scene,
    seen: Seen,
    lines: Sequence[Sighting],
    settings: Settings,
    estimate: Estimate = no_estimate,
    whole: Whole = NOTHING_KNOWN,
) -> tuple[Match, ...]:
    """A match for each object of the scene, in order; `lines` are the text in the image."""
    assigned = assign_sightings(scene, seen, settings, estimate, whole)
    cases = [read_on(case, texts_on(case.index, scene), lines, settings) for case in assigned]
    firsts = [absent_text(case, lines, settings) if is_text(case.thing) else presence(case, settings) for case in cases]
    gone = [outcome_of_details(case, first) for case, first in zip(cases, firsts, strict=True)]
    chosen = [case.chosen for case in cases]
    matches = []
    for case, checks in zip(cases, firsts, strict=True):
        details = [] if case.thing.absent else check_details(case, scene, lines, chosen, gone, settings)
        if can_be_seen(case.thing):
            details = [contest(estimate_open(check, estimate), estimate) for check in details]
        matches.append(Match(case.thing, case.chosen, (*checks, *details)))
    return tuple(matches)


def check_details(
    case: Case,
    scene: Scene,
    lines: Sequence[Sighting],
    chosen: Sequence[Sequence[Sighting]],
    gone: Sequence[Outcome | None],
    settings: Settings,
) -> list[Check]:
    """The attributes and relations of an object."""
    thing, outcome = case.thing, gone[case.index] or Outcome.UNVERIFIABLE
    checks = []
    for kind, value in people.contestable(thing):
        if measured := people.measure(kind, value, case.chosen):
            blank = case.blank(Claim(kind, value, thing.canonical))
            checks.append(summarize(replace(blank, source="appearance", box=case.chosen[0].box), measured, settings))
    for attribute in thing.attributes:
        blank = case.blank(attribute_claim(attribute, thing), outcome)
        checks.append(attribute_check(blank, attribute, case.chosen, lines, settings))
    for relation in thing.relations:
        blank = case.blank(relation_claim(relation, thing, scene), outcome)
        check = relation_check(blank, scene, relation, chosen, gone, settings)
        read = case.read and is_text(scene.things[relation.target])
        checks.append(recognized_by_text(check) if read else check)
    return checks


def recognized_by_text(check: Check) -> Check:
    """A claim that is true because the text asked for was read."""
    finding = Finding(Found.RECOGNISED_BY_TEXT)
    return replace(check, finding=finding, outcome=Outcome.MATCHED, score=1.0, confidence=1.0, source=OCR)


def absent_text(case: Case, lines: Sequence[Sighting], settings: Settings) -> list[Check]:
    """The check of text that must not be there; text that should be there is checked as an attribute."""
    if not case.thing.absent:
        return []
    asked = [attribute.value for attribute in case.thing.attributes if attribute.kind == "text"]
    closest = max((measure_text(value, lines, settings) for value in asked), key=lambda result: result.score)
    claim, finding = Claim("text", case.thing.phrase, negated=True), Finding(Found.MEASURED, closest.value)
    present = closest.score == 1
    outcome = Outcome.MISMATCH if present else Outcome.MATCHED
    return [Check(claim, finding, outcome, float(not present), 1.0, OCR, case.index)]


def assign_sightings(scene: Scene, seen: Seen, settings: Settings, estimate: Estimate, whole: Whole) -> list[Case]:
    """The sightings chosen for each object of the prompt; for a missing one, a substitute."""
    candidates = find_candidates(scene, seen.sightings, settings)
    others = unclaimed(scene, seen, settings)
    cases = []
    for index, (thing, own) in enumerate(zip(scene.things, candidates, strict=True)):
        known = known_well(thing, seen.known.get(thing.canonical), own)
        crowd = next((s for s in seen.sightings if s.label == thing.canonical and s.count != (1, 1)), None)
        crowd = None if thing.attributes else crowd  # a range of bottles says nothing about red bottles
        chosen = choose(thing, own, settings)
        detected = max((sighting.confidence for sighting in chosen), default=0.0) if known else None
        guess = estimate(thing.phrase) if can_be_seen(thing) else None
        probability = fused_probability(detected, guess, settings, whole, known is None or known.calibrated)
        case = Case(index, thing, people.recognize(thing, known, chosen), chosen, own, crowd, probability)
        needed = not thing.absent and thing.count.low > 0
        if known and (probability or 0.0) < settings.missing_below:
            case = replace(case, chosen=())
            case = substitute(case, others, settings) if needed else case
            others = [s for s in others if s not in case.chosen and s is not case.substitute]
        cases.append(case)
    return cases


def known_well(thing: Thing, known: Known | None, candidates: Sequence[Sighting]) -> Known | None:
    """What a detector knows of a name; nothing if it found none and knows just one of its kinds.

    A detector of stop signs that finds none says nothing about other signs.
    """
    one_kind = known is not None and len(known.words) == 1 and known.closeness == 1
    if known is None or candidates or not one_kind or known.words[0] in name_of(thing.canonical).same:
        return known
    return None


def texts_on(index: int, scene: Scene) -> list[str]:
    """The texts asked for on an object: "a sign that says …", "a sign with the words …", "the words … on a sign"."""
    thing = scene.things[index]
    own = [scene.things[relation.target] for relation in thing.relations if relation.name == "with"]
    on_it = [other for other in scene.things if any(r == Relation("on", index) for r in other.relations)]
    bearing = [thing, *(text for text in (*own, *on_it) if is_text(text) and not text.absent)]
    return [each.value for part in bearing for each in part.attributes if each.kind == "text" and not each.negated]


def read_on(case: Case, asked: Sequence[str], lines: Sequence[Sighting], settings: Settings) -> Case:
    """An object that no detector knows, recognised by the text that it should bear: what says OPEN is the sign.

    What says something else is likely the sign, too.
    """
    if case.known or is_text(case.thing) or case.thing.absent or not asked:
        return case
    readings = [measure_text(value, lines, settings) for value in asked]
    estimate = case.probability or 0.0
    if any(reading.score < 1 for reading in readings):
        likely = OTHER_TEXT if any(map(is_lettering, lines)) else 0.0
        return replace(case, probability=max(estimate, likely), bears_text=True)
    return replace(case, probability=max(min(r.confidence for r in readings), estimate), read=True)


def is_lettering(line: Sighting) -> bool:
    """Whether a line of text is more than a watermark or a misread pattern."""
    letters = sum(map(str.isalpha, line.text))
    return letters >= MIN_LETTERS and line.confidence >= CLEARLY_READ and line.box.height >= MIN_LETTER_HEIGHT


def can_be_seen(thing: Thing) -> bool:
    """Whether an object is visible and should be there: not an abstraction, not text."""
    return not thing.absent and thing.canonical != "text" and is_concrete(thing.canonical) is True


def substitute(case: Case, others: Sequence[Sighting], settings: Settings) -> Case:
    """A missing object with sightings of a broader kind, or else a similar kind, if there are any."""
    if broader := hypernyms(case.thing, others):
        chosen = choose(case.thing, broader, settings)
        known = Known((broader[0].word,), settings.subtype_score)
        best = max(sighting.confidence for sighting in chosen)
        return replace(case, known=known, chosen=chosen, candidates=tuple(broader), probability=best)
    return replace(case, substitute=similar_kind(case.thing, others, settings))


def outcome_of_details(case: Case, checks: Sequence[Check]) -> Outcome | None:
    """The outcome of the details of an object without sightings: missing or unverifiable; None if it has some."""
    if case.chosen:
        return None
    missing = bool(checks) and checks[0].outcome in (Outcome.MISSING, Outcome.MISMATCH)
    return Outcome.MISSING if missing else Outcome.UNVERIFIABLE


def presence(case: Case, settings: Settings) -> list[Check]:
    """The check of the object itself and, if it is there and a number was asked for, of its count."""
    thing, known = case.thing, case.known
    claim = Claim("object", thing.phrase, thing.canonical, negated=thing.absent)
    candidates = tuple(s for s in case.candidates if s.confidence >= WEAK or s in case.chosen)
    blank = replace(case.blank(claim), chosen=case.chosen, candidates=candidates)
    # An estimate can't prove absence.
    if known is None and (case.probability is None or thing.count.low == 0):
        return [replace(blank, finding=Finding(Found.UNKNOWN_WORD))]
    if known and thing.absent:
        return [absence(blank, thing, case.candidates, known, settings)]
    if not case.chosen and thing.count.low == 0:
        none = Finding(Found.NONE_DETECTED)
        return [replace(blank, finding=none, outcome=Outcome.MATCHED, score=1.0, confidence=1.0, source="detector")]
    return located(blank, case, settings) if case.chosen else not_located(blank, case, settings)


def not_located(blank: Check, case: Case, settings: Settings) -> list[Check]:
    """The checks of an object without sightings: estimated, substituted, or missing."""
    probability = case.probability or 0.0
    if case.read:
        return with_open_count(replace(recognized_by_text(blank), confidence=probability), blank, case.thing)
    if case.known is None or probability >= settings.missing_below:
        check = estimated_presence(blank, probability, settings, undecided=not case.bears_text)
        return with_open_count(check, blank, case.thing)
    missing, confidence = Finding(Found.MISSING), 1 - probability
    check = replace(blank, finding=missing, outcome=Outcome.MISSING, confidence=confidence, source="detector")
    if case.substitute is None:
        return [check]
    finding = Finding(Found.SUBSTITUTE, case.substitute.word, probability=case.substitute.confidence)
    box, score = case.substitute.box, settings.kin_score
    return [replace(check, finding=finding, outcome=Outcome.MISMATCH, score=score, box=box)]


def with_open_count(check: Check, blank: Check, thing: Thing) -> list[Check]:
    """The check of an object without a box, whose number can't be counted if one was asked for."""
    return [check, replace(blank, claim=count_claim(blank.claim, thing.count))] if thing.count.explicit else [check]


def located(blank: Check, case: Case, settings: Settings) -> list[Check]:
    """The checks of an object with sightings, and of its count."""
    known, count = case.known or Known(()), case.thing.count
    surest = max(case.chosen, key=lambda sighting: sighting.confidence)
    confidence = surest.confidence if case.probability is None else case.probability
    check = replace(
        blank,
        finding=detection(case.chosen, known),
        outcome=Outcome.MATCHED if known.closeness == 1 else Outcome.PARTIAL,
        score=known.closeness,
        confidence=confidence,
        source=f"{surest.source} + matcher" if settings.matcher else surest.source,
        box=surest.box,
    )
    if confidence < settings.low_confidence:
        check = replace(check, outcome=Outcome.LOW_CONFIDENCE)
    if not count.words and count.low == 1:
        return [check]
    return [check, count_check(check, count, case.chosen, case.candidates, case.crowd, settings)]


def absence(blank: Check, thing: Thing, candidates: Sequence[Sighting], known: Known, settings: Settings) -> Check:
    """The check of an object that must not be there; only sightings that also fit its attributes contradict it."""
    fitting = [s for s in candidates if s.confidence >= WEAK and fit(thing, s, settings) == 1]
    surest = max((sighting.confidence for sighting in fitting), default=0.0)
    check = replace(blank, source="detector", chosen=tuple(fitting))
    if surest and known.closeness < 1:
        return replace(check, finding=Finding(Found.ONLY_BROADER, fitting[0].word))
    present = Finding(Found.PRESENT, probability=surest)
    if surest >= settings.low_confidence:
        return replace(check, finding=present, outcome=Outcome.MISMATCH, confidence=surest)
    outcome = Outcome.LOW_CONFIDENCE if surest else Outcome.MATCHED
    finding = present if surest else Finding(Found.NONE_DETECTED)
    return replace(check, finding=finding, outcome=outcome, score=1.0, confidence=1 - surest)


def detection(chosen: Sequence[Sighting], known: Known) -> Finding:
    """How many were detected, with the detector's word if it is a broader one."""
    word = chosen[0].word if known.closeness < 1 else ""
    alone = chosen[0] if len(chosen) == 1 else None
    notes = {"truncated": alone and alone.truncated, "occluded": alone and is_occluded(alone)}
    return Finding(
        Found.DETECTED,
        word,
        number=len(chosen),
        confidences=tuple(sighting.confidence for sighting in chosen),
        notes=tuple(note for note, holds in notes.items() if holds),
    )


def is_occluded(sighting: Sighting) -> bool:
    """Whether something hides part of it."""
    return any(trait.value == "occluded" for trait in sighting.traits)
