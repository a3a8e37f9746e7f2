"""Step 3: scene and sightings → checks. Every claim gets a probability, given that what it depends on is true.

What each measurement is worth was fitted: the numbers are in reliability.toml, with the script that wrote them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onprompt.evidence import attributes, grading
from onprompt.evidence.attributes import Measured
from onprompt.evidence.grading import reliability
from onprompt.evidence.sharing import SAME_OBJECT, Share, fit, share_out
from onprompt.language import is_concrete, name_of
from onprompt.types import (
    Attribute,
    Check,
    Claim,
    Count,
    Detections,
    Finding,
    Found,
    NameMatch,
    Outcome,
    Relation,
    Scene,
    Sighting,
    Trait,
)
from onprompt.vision.geometry import RELATIONS, RelationMeasure, between
from onprompt.vision.people import CHILD, WORDS, traits_said
from onprompt.vision.vocabulary import PROPERTIES

if TYPE_CHECKING:
    from onprompt.settings import Settings

MATCHER, CLASSIFIER, OCR, NO_SOURCE = "matcher", "classifier", "pp-ocr", "none"
SOURCES = {"color": "pixels", "shape": "outline", "action": "joints", "expression": "face"}
MARGIN = 0.02  # the matcher's probabilities are clipped to this distance from 0 and 1
OCCLUDED = 0.9  # an occluded object counts with lower confidence (seed 000, step 7)
RECOGNIZED = 0.1  # probability of a kind from which the classifier saw it
LEAST, EVEN = 1e-4, 0.01  # probability below which the classifier's differences say nothing; which speaks for neither
SHOWN = 0.1  # confidence from which a weak sighting is reported
HOLDS, FAILS = 0.75, 0.25  # probability from which a measured claim is matched, below which it is wrong
FEW, CROWD = 3, 10  # as many still pass for "a dog", as many are a crowd
MANY = 3  # fewer than this are not many
MANY_WORDS = frozenset(
    {"many", "numerous", "countless", "lots of", "a lot of", "plenty of", "dozens of", "hundreds of", "a crowd of"}
)
# What the matcher can't see: numbers, letters, sizes, relative positions, and where something faces.
NOT_ESTIMATED = frozenset({"count", "text", "size", "position", "shape", "sex", "age", "kind"})
PLACES = ("left of", "right of", "above", "below", "in front of", "behind", "between", "facing")
SIDES = (*PLACES[:6], "next to", "near")  # a swapped position is a minor error (seed 000, score 3)
OTHER_TEXT = 0.6  # the probability that what bears other words is the object asked for
INHABITANTS = ("person", "animal", "vehicle")  # what is not to be seen in an empty place

NOT_SHOWN = frozenset({"parameter", "quality"})  # not about what the image shows

Estimate = Callable[[str], float | None]  # how likely a phrase is true of the image, by the matcher


@dataclass(frozen=True, slots=True)
class Image:
    """What is known of an image: sightings, lines of text, properties, and the matcher's estimates."""

    seen: Detections
    lines: tuple[Sighting, ...] | None = ()  # of text; None if nobody looked at the image
    properties: tuple[Trait, ...] = ()
    estimate: Estimate = field(default=lambda _: None)
    classify: Estimate = field(default=lambda _: None)  # how likely it shows a kind, if the classifier knows that
    overall: float | None = None  # the matcher's estimate that it fits the prompt
    artwork: float = 0.0  # the probability that it is drawn or painted
    blank: bool = False

    @property
    def looked(self) -> bool:
        """Whether detectors looked at it."""
        return self.lines is not None


def log_odds(probability: float, margin: float = MARGIN) -> float:
    """The log-odds of a probability, clipped."""
    bounded = min(max(probability, margin), 1 - margin)
    return math.log(bounded / (1 - bounded))


def sigmoid(odds: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + math.exp(-odds))


def believe(scene: Scene, image: Image, settings: Settings) -> tuple[Check, ...]:
    """A check for every claim of a scene, object by object, then of the image as a whole."""
    shares = share_out(scene, image.seen, settings)
    objects = [ObjectBeliefs(index, scene, shares, image, settings) for index in range(len(scene.things))]
    checks = [check for each in objects for check in each.checks()]
    properties = {each.value: each for each in scene.properties if each.kind not in NOT_SHOWN}  # each once
    checks += [property_check(each, image) for each in properties.values()]
    # Of which kind a dog is says nothing about the rest of the image.
    is_open = any(check.outcome is Outcome.UNVERIFIABLE and check.claim.kind != "kind" for check in checks)
    return (*checks, *([whole_check(scene, image, alone=not checks)] if is_open or not checks else []))


def outcome_of(probability: float, otherwise: float = 0.0, unsure: bool = False) -> Outcome:
    """What a measured claim of this probability comes to; `unsure` if the measurement is."""
    if unsure:
        return Outcome.LOW_CONFIDENCE
    if probability >= HOLDS:
        return Outcome.MATCHED
    if probability > FAILS:
        return Outcome.LOW_CONFIDENCE
    return Outcome.PARTIAL if otherwise >= grading.MINOR else Outcome.MISMATCH


def negate(check: Check) -> Check:
    """The check of the opposite claim."""
    probability = 1 - check.probability
    measured = check.outcome is not Outcome.UNVERIFIABLE
    return replace(
        check, probability=probability, otherwise=0.0, outcome=outcome_of(probability) if measured else check.outcome
    )


class ObjectBeliefs:
    """The claims about one object of a prompt."""

    def __init__(self, index: int, scene: Scene, shares: Sequence[Share], image: Image, settings: Settings) -> None:
        self.index, self.scene, self.shares, self.image, self.settings = index, scene, shares, image, settings
        self.thing, self.share = scene.things[index], shares[index]
        self.chosen = located(self.share)
        self.is_text = attributes.is_text(self.thing)

    def blank(self, claim: Claim, probability: float, finding: Finding | None = None) -> Check:
        """A check of what nothing measures: its prior."""
        found = finding or Finding(Found.NOT_MEASURABLE)
        return Check(claim, found, Outcome.UNVERIFIABLE, round(probability, 4), NO_SOURCE, self.index)

    def checks(self) -> list[Check]:
        """The object's own claim first."""
        if self.thing.absent:
            return [self.absent_text() if self.is_text else self.absence()]
        first = [] if self.is_text else [self.presence()]
        number = self.thing.count
        if self.chosen:
            counts = bool(number.words) or number.low > 1 or number.high != 1
        else:
            counts = number.explicit or (number.low > 1 and not self.image.looked)
        counted = [self.count()] if first and counts else []
        of_kind = self.kinds() if first else []
        attributes = [each for each in self.thing.attributes if not self.is_compared(each)]
        if self.is_text:  # that it is there is that it can be read
            attributes.sort(key=lambda each: each.kind != "text")
        details = [self.attribute(each) for each in attributes]
        ends = [each for each in self.thing.relations if each.name == "between"]  # one claim about both
        related = [self.relation(each) for each in self.thing.relations if each not in ends[1:]]
        return [*first, *counted, *of_kind, *details, *related]

    def is_compared(self, attribute: Attribute) -> bool:
        """Whether a size compares two objects of the prompt: of two books, the small one is the smaller."""
        if attribute.kind != "size":
            return False
        to_it = (r for other in self.scene.things for r in other.relations if r.target == self.index)
        return any(relation.name in SIZES for relation in (*self.thing.relations, *to_it))

    def presence(self) -> Check:
        """That the object is there: by the detector, by the text it bears, or by the matcher alone."""
        thing, share, estimate = self.thing, self.share, self.estimate(self.thing.phrase)
        claim = Claim("object", thing.phrase, thing.canonical)
        read = self.by_text()
        if share.known is None and read is None:
            return self.unknown(claim, estimate)
        occluded = any(map(is_occluded, share.chosen))
        confidence = self.confidence() * (OCCLUDED if occluded else 1)
        probability = 0.0
        if share.known is not None and not self.image.blank:
            calibrated = share.known.calibrated
            probability = detected_presence(confidence, estimate, self.image.artwork, calibrated)
        if read is not None and read >= probability:
            found = Finding(Found.RECOGNISED_BY_TEXT)
            return Check(claim, found, outcome_of(read), round(read, 4), OCR, self.index)
        probability = round(probability, 4)
        candidates = tuple(s for s in share.candidates if s.confidence >= SHOWN or s in share.chosen)
        found, missing = Finding(Found.MISSING), Outcome.MISSING
        check = Check(claim, found, missing, probability, "detector", self.index, candidates=candidates)
        if share.known is not None and confidence >= SHOWN:
            finding = detection(share.chosen, share.known, occluded)
            outcome = outcome_of(probability, unsure=confidence < self.settings.low_confidence)
            box, source = share.chosen[0].box, share.chosen[0].source
            return replace(check, finding=finding, outcome=outcome, source=source, box=box, chosen=share.chosen)
        if share.substitute is not None:
            word = share.substitute.word
            finding = Finding(Found.SUBSTITUTE, word, probability=share.substitute.confidence)
            check = replace(check, finding=finding, outcome=Outcome.MISMATCH, probability=min(probability, FAILS))
            wheeled = all("wheeled vehicle" in name_of(name).broader for name in (thing.canonical, word))
            credit = grading.SAME_PURPOSE if wheeled else grading.KINDRED
            return replace(check, otherwise=credit, box=share.substitute.box)
        if probability > FAILS:
            return replace(check, finding=Finding(Found.NONE_DETECTED), outcome=Outcome.LOW_CONFIDENCE)
        return check

    def unknown(self, claim: Claim, estimate: float | None) -> Check:
        """That an object is there that no detector knows: by the classifier if it recognizes it, or estimated."""
        classified = self.image.classify(self.thing.canonical)
        probability = unknown_presence(estimate, self.image.overall, classified)
        check = self.blank(claim, probability, Finding(Found.UNKNOWN_WORD))
        if classified is not None and classified >= RECOGNIZED:
            found = Finding(Found.CLASSIFIED, probability=round(classified, 4))
            return replace(check, finding=found, outcome=outcome_of(probability), source=CLASSIFIER)
        if estimate is None and classified is None:
            return check
        return replace(check, finding=Finding(Found.ESTIMATED, probability=check.probability), source=MATCHER)

    def confidence(self) -> float:
        """That of the best sighting."""
        return max((sighting.confidence for sighting in self.share.chosen), default=0.0)

    def estimate(self, phrase: str) -> float | None:
        """The matcher's estimate of a phrase; None for what can't be seen."""
        visible = self.thing.canonical != "text" and is_concrete(self.thing.canonical) is True
        return self.image.estimate(phrase) if visible else None

    def by_text(self) -> float | None:
        """How likely the object is there by the text that it should bear: what says OPEN is the sign.

        What says something else is likely the sign, too.
        """
        asked = attributes.texts_on(self.index, self.scene)
        if not asked or self.image.lines is None:
            return None
        readings = [attributes.measure_text(value, self.image.lines) for value in asked]
        if all(reading.score == 1 for reading in readings):
            return min(self.measured(Claim("text"), [reading], OCR).probability for reading in readings)
        return OTHER_TEXT if self.share.known is None and any(map(attributes.is_lettering, self.image.lines)) else None

    def absence(self) -> Check:
        """That an object is not there; only sightings that also fit its attributes and relations contradict it."""
        thing, known = self.thing, self.share.known
        claim = Claim("object", thing.phrase, thing.canonical, negated=True)
        if known is None:
            return self.blank(claim, reliability()["excluded"]["prior"], Finding(Found.UNKNOWN_WORD))
        fitting = [s for s in self.share.candidates if fit(thing, s, self.settings) == 1 and self.is_so_placed(s)]
        surest = max((sighting.confidence for sighting in fitting), default=0.0)
        if surest >= SHOWN and known.closeness < 1:
            return self.blank(claim, 1 - surest / 2, Finding(Found.ONLY_BROADER, fitting[0].word))
        found = Finding(Found.PRESENT, probability=surest) if surest >= SHOWN else Finding(Found.NONE_DETECTED)
        probability = round(1 - max(surest, sigmoid(reliability()["detected"]["silence"])), 4)
        outcome = outcome_of(probability, unsure=SHOWN <= surest < self.settings.low_confidence)
        return Check(claim, found, outcome, probability, "detector", self.index, chosen=tuple(fitting))

    def is_so_placed(self, sighting: Sighting) -> bool:
        """Whether a sighting stands to others as the object must not: "no dog on the sofa" allows one beside it."""
        places = ((RELATIONS.get(each.name), located(self.shares[each.target])) for each in self.thing.relations)
        likely = [best_target(holds, sighting, targets) for holds, targets in places if holds]
        return all(likelihood is None or likelihood >= 0.5 for likelihood in likely)

    def absent_text(self) -> Check:
        """That some text is not to be read."""
        asked = [attribute.value for attribute in self.thing.attributes if attribute.kind == "text"]
        claim = Claim("text", self.thing.phrase, negated=True)
        if self.image.lines is None:
            return self.unmeasured(claim, "attribute")
        measured = [attributes.measure_text(value, self.image.lines) for value in asked]
        closest = max(measured, key=lambda result: result.score)
        return negate(self.measured(claim, [closest], OCR))

    def count(self) -> Check:
        """The number, given that there is one: how likely each number is, and that which is asked for is likelier."""
        count, share = self.thing.count, self.share
        claim = Claim("count", name=self.thing.canonical, count=count)
        if not self.chosen:
            unknown = self.blank(claim, reliability()["count"]["prior"], Finding(Found.NOT_LOCATED))
            return replace(unknown, otherwise=grading.MINOR)
        rest = (s.confidence for s in share.candidates if s not in self.chosen)
        weak = [confidence for confidence in rest if confidence < self.settings.low_confidence]
        # The k-th highest confidence is the probability that there are at least k.
        at_least = [1.0, *sorted([s.confidence for s in self.chosen] + weak, reverse=True)[1:], 0.0]
        fitted, likely = reliability()["count"], dict.fromkeys((0.0, grading.MINOR, 1.0), 0.0)  # by credit
        for number, (first, second) in enumerate(itertools.pairwise(at_least), 1):
            likely[count_credit(count, number)] += first - second
        right = max(likely[1.0], fitted["least"]) * fitted["asked"]
        probability = right / (right + likely[grading.MINOR] + likely[0.0])
        otherwise = grading.MINOR if likely[grading.MINOR] >= likely[0.0] else 0.0
        number, most = len(self.chosen), None
        # Small size and crowding hide at most half as many again. How many bottles says nothing about red bottles.
        crowded = number >= CROWD and not self.thing.attributes and count_credit(count, number) < 1
        if crowded and within(count, (number, round(1.5 * number))):
            probability, most = 0.5, round(1.5 * number)
        found = Finding(Found.COUNTED, number=number, most=most, confidences=tuple(c for c in weak if c >= SHOWN))
        unsure = self.confidence() < self.settings.low_confidence or most is not None
        outcome, best = outcome_of(probability, otherwise, unsure), self.chosen[0]
        return Check(
            claim, found, outcome, round(probability, 4), best.source, self.index, best.box, otherwise=otherwise
        )

    def kinds(self) -> list[Check]:
        """What a narrower word says: an office chair, of which only "chair" is known; a woman, of "person".

        Sex and age are told by how a person looks. What can't be told is never full marks.
        """
        known = self.share.known
        if known is None or known.closeness == 1:
            return []
        asked = traits_said(name_of(self.thing.canonical))
        told = [(kind, value, self.appearance(kind, value)) for kind, value in asked]
        checks = []
        for kind, value, measured in told:
            # "girl" and "boy" are also said of adults, so that age never speaks against them.
            if measured and (len(asked) == 1 or (kind, value) != CHILD or all(m.score for m in measured)):
                checks.append(self.measured(Claim(kind, value, self.thing.canonical), measured, "appearance"))
        too_young = CHILD not in asked and any(m.score for m in self.appearance(*CHILD))
        everything = checks and len(checks) == len(asked) and self.thing.canonical in WORDS and not too_young
        if everything or any(check.probability < FAILS for check in checks):
            return checks
        claim = Claim("kind", self.thing.canonical, known.words[0])
        found = Finding(Found.ONLY_BROADER, known.words[0])
        unknown = self.blank(claim, reliability()["kind"]["prior"], found)
        return [*checks, replace(unknown, otherwise=grading.MINOR)]

    def appearance(self, kind: str, value: str) -> list[Measured]:
        """Whether each chosen person looks like it, as far as that can be told."""
        shown = [trait for sighting in self.chosen for trait in sighting.traits if trait.kind == kind]
        return [Measured(float(trait.value == value), trait.value, trait.confidence) for trait in shown]

    def attribute(self, attribute: Attribute) -> Check:
        """That the object has an attribute, or has it not."""
        claim = Claim(attribute.kind, attribute.value, self.thing.canonical, negated=attribute.negated)
        if attribute.kind == "text":
            lines, source = self.image.lines, OCR
            measured = [] if lines is None else [attributes.measure_text(attribute.value, lines)]
        else:
            plain = replace(attribute, negated=False)
            results = [attributes.measure(plain, sighting, self.settings) for sighting in self.chosen]
            measured, source = [result for result in results if result], SOURCES.get(attribute.kind, "box")
        if not measured:
            return self.unmeasured(claim, "attribute")
        check = self.measured(claim, measured, source)
        return negate(check) if attribute.negated else check

    def measured(self, claim: Claim, results: Sequence[Measured], source: str) -> Check:
        """A claim by the mean of its measurements, as reliable as such measurements are."""
        score = sum(result.score for result in results) / len(results)
        sure = min(result.confidence for result in results)
        right, minor, wrong = reliability()["measured"].get(claim.kind, reliability()["measured"]["action"])
        by_score = right * max(0, 2 * score - 1) + minor * (1 - abs(2 * score - 1)) + wrong * max(0, 1 - 2 * score)
        probability = sure * by_score + (1 - sure) / 2
        otherwise = grading.MINOR if 0 < score < 1 or claim.kind == "position" else 0.0  # a swapped side is minor
        found = Finding(Found.MEASURED, "; ".join(dict.fromkeys(result.value for result in results)))
        outcome = outcome_of(probability, otherwise, sure < self.settings.low_confidence)
        box = self.chosen[0].box if self.chosen else None
        return Check(claim, found, outcome, round(probability, 4), source, self.index, box, otherwise=otherwise)

    def unmeasured(self, claim: Claim, kind: str, finding: Finding | None = None) -> Check:
        """A claim about the object that nothing measures."""
        # Where a detector looked for an object and saw none, its details are even odds.
        prior = reliability()["prior"][kind] if self.chosen or self.share.known is None else 0.5
        if finding is None:
            finding = Finding(Found.NOT_MEASURABLE if self.chosen else Found.NOT_LOCATED)
        seen = not (claim.negated or claim.kind in NOT_ESTIMATED or claim.value.startswith(PLACES))
        guess = self.estimate(claim.phrase) if seen else None
        return replace(estimated(claim, prior, guess, finding), thing=self.index)

    def relation(self, relation: Relation) -> Check:
        """That the object stands to another as it should."""
        target = self.scene.things[relation.target]
        claim = Claim("relation", relation.name, self.thing.canonical, target=target.phrase, negated=relation.negated)
        check = replace(self.related(claim, relation), target=None if attributes.is_text(target) else relation.target)
        measured = check.outcome is not Outcome.UNVERIFIABLE
        return negate(check) if relation.negated and measured else check

    def related(self, claim: Claim, relation: Relation) -> Check:
        """A relation, for each subject with the target that suits it best."""
        subjects, targets = self.chosen, located(self.shares[relation.target])
        target = self.scene.things[relation.target]
        if attributes.is_text(target) and (read := self.by_text()) is not None:
            return self.measured(claim, [Measured(float(read > OTHER_TEXT), "its text")], OCR)
        if relation.name not in RELATIONS and relation.name not in ("between", *SIZES):
            return self.unmeasured(claim, "relation")
        if relation.negated and subjects and not targets and self.shares[relation.target].known is not None:
            missing = self.measured(claim, [Measured(0.0, "")], "detector")  # what is not there is next to nothing
            return replace(missing, finding=Finding(Found.TARGET_MISSING, target.canonical))
        if not subjects or not targets:
            found = Finding(Found.TARGET_NOT_LOCATED, target.canonical) if subjects else Finding(Found.NOT_LOCATED)
            return self.unmeasured(claim, "relation", found)
        others = [[b for b in targets if a.box.iou(b.box) < SAME_OBJECT] for a in subjects]
        if not any(others):
            check = self.measured(claim, [Measured(0.0, "")], "boxes")
            return replace(check, finding=Finding(Found.SAME_OBJECT))
        if relation.name == "between":
            ends = [located(self.shares[r.target]) for r in self.thing.relations if r.name == "between"]
            each = [best_between(subject, ends) for subject in subjects]
        else:
            holds = SIZES.get(relation.name) or RELATIONS[relation.name]
            each = [best_target(holds, subject, near) for subject, near in zip(subjects, others, strict=True)]
        known = [likelihood for likelihood in each if likelihood is not None]
        if not known:
            why = Found.NO_PAIR if relation.name == "between" else Found.UNDECIDABLE
            return self.unmeasured(claim, "relation", Finding(why))
        likelihood = sum(known) / len(known)
        right, _, wrong = reliability()["measured"]["relation"]
        probability = wrong + (right - wrong) * likelihood
        otherwise = grading.MINOR if claim.value.startswith(SIDES) else 0.0
        found, outcome = Finding(Found.RELATED, probability=round(likelihood, 4)), outcome_of(probability, otherwise)
        box = subjects[0].box
        return Check(claim, found, outcome, round(probability, 4), "boxes", self.index, box, otherwise=otherwise)


def located(share: Share) -> tuple[Sighting, ...]:
    """The sightings that are meant, if they are more than a trace: only of these are details known."""
    return share.chosen if share.chosen and share.chosen[0].confidence >= SHOWN else ()


def detected_presence(confidence: float, estimate: float | None, artwork: float, calibrated: bool = True) -> float:
    """How likely an object is there that a detector knows.

    Its confidence is calibrated on whatever photos show; what a prompt asks for is there more often. In artwork, and
    for words outside of the classes that it was calibrated on, that nothing was detected says less.
    """
    fitted = reliability()["detected"]
    likely = 0.0 if estimate is None else log_odds(estimate)
    silence = fitted["silence"] + (fitted["artwork"] - fitted["silence"]) * (artwork if calibrated else 1.0)
    silent = sigmoid(silence + fitted["silence_matcher"] * likely)
    if confidence <= 0:
        return silent
    return max(sigmoid(fitted["base"] + fitted["slope"] * log_odds(confidence) + fitted["matcher"] * likely), silent)


def unknown_presence(estimate: float | None, overall: float | None, classified: float | None = None) -> float:
    """How likely an object is there that no detector knows.

    By the classifier alone if it recognizes one; else by the matcher, of the phrase and of the whole prompt, less if
    the classifier knows the kind.
    """
    fitted = reliability()["unknown"]
    odds: float = fitted["base"]
    if classified is not None:
        odds += fitted["class"] * math.log10(max(classified, LEAST) / EVEN)
        if classified >= RECOGNIZED:
            return sigmoid(odds)
    phrase = 0.0 if estimate is None else fitted["phrase"] * log_odds(estimate)
    return sigmoid(odds + phrase + (0.0 if overall is None else fitted["whole"] * math.log(max(overall, MARGIN))))


def detection(chosen: Sequence[Sighting], known: NameMatch, occluded: bool) -> Finding:
    """How many were detected, with the detector's word if it is a broader one."""
    word = chosen[0].word if known.closeness < 1 else ""
    notes = tuple(note for note, holds in (("truncated", chosen[0].truncated), ("occluded", occluded)) if holds)
    confidences = tuple(sighting.confidence for sighting in chosen)
    return Finding(Found.DETECTED, word, len(chosen), confidences=confidences, notes=notes)


def is_occluded(sighting: Sighting) -> bool:
    """Whether something in front covers a part of it."""
    return any(trait.kind == "visibility" and trait.value == "occluded" for trait in sighting.traits)


def count_credit(count: Count, number: int) -> float:
    """1 within the range asked for; a minor error where it is off by one; "a dog" is met by two or three dogs."""
    if within(count, (number, number)):
        return grading.MINOR if count.words in MANY_WORDS and number < MANY else 1.0
    if not count.explicit and count.high == 1:
        return 1.0 if number <= FEW else grading.MINOR if number < CROWD else 0.0
    near = count.low if number < count.low else count.high or 0
    return grading.MINOR if abs(number - near) == 1 else 0.0


def within(count: Count, numbers: tuple[int, int]) -> bool:
    """Whether a range of numbers may be what was asked for."""
    return count.low <= numbers[1] and (count.high is None or numbers[0] <= count.high)


def larger(subject: Sighting, target: Sighting) -> float:
    """The area is larger: .5 where they are equal, certain where one is half as large again."""
    return min(1.0, max(0.0, 0.5 + math.log(max(subject.box.area, 1e-9) / max(target.box.area, 1e-9)) / math.log(2.25)))


SIZES: dict[str, RelationMeasure] = {
    "larger than": larger,
    "smaller than": lambda subject, target: larger(target, subject),
}


def best_target(holds: RelationMeasure, subject: Sighting, targets: Sequence[Sighting]) -> float | None:
    """How likely a relation holds with the target that suits best; None where it can't be determined for any."""
    known = [likelihood for target in targets if (likelihood := holds(subject, target)) is not None]
    return max(known) if known else None if targets else 0.0


def best_between(subject: Sighting, ends: Sequence[Sequence[Sighting]]) -> float | None:
    """How likely it is between a sighting of each end, or between two of the same; None if there are no two."""
    first, second = ends[0], ends[-1]
    pairs = [(a, b) for a in first for b in second if a is not b and subject is not a and subject is not b]
    return max((between(subject, a, b) for a, b in pairs), default=None)


def estimated(claim: Claim, prior: float, guess: float | None, finding: Finding) -> Check:
    """A claim that nothing measures: its prior, moved a little by the matcher's guess if it has one."""
    if guess is None:
        return Check(claim, finding, Outcome.UNVERIFIABLE, round(prior, 4), NO_SOURCE)
    probability = sigmoid(log_odds(prior) + reliability()["matcher"]["weight"] * log_odds(guess))
    found = Finding(Found.ESTIMATED, probability=guess)
    return Check(claim, found, Outcome.UNVERIFIABLE, round(probability, 4), MATCHER)


def whole_check(scene: Scene, image: Image, alone: bool) -> Check:
    """That the image as a whole is what the prompt describes, which stands for all that nothing measures.

    `alone` if the prompt holds no other claim.
    """
    overall, source, found = image.overall, NO_SOURCE, Finding(Found.NOT_MEASURABLE)
    if overall is not None:
        source, found = MATCHER, Finding(Found.ESTIMATED, probability=round(overall, 4))
    whole = 1.0 if overall is None else sigmoid(log_odds(overall))
    probability = unknown_presence(overall, overall) if alone else whole
    return Check(Claim("whole", scene.prompt), found, Outcome.UNVERIFIABLE, round(probability, 4), source)


def property_check(asked: Attribute, image: Image) -> Check:
    """A property of the image, by what measures it."""
    claim = Claim("property", asked.value, negated=asked.negated)
    kind, value = PROPERTIES.get(asked.value, ("", ""))
    trait = next((trait for trait in image.properties if trait.kind == kind), None)
    if asked.value == "empty" and image.looked:
        check = emptiness(claim, image)
    elif trait is None:
        guess = image.estimate(asked.value)
        check = estimated(claim, reliability()["prior"]["property"], guess, Finding(Found.NOT_MEASURABLE))
    else:
        holds = trait.confidence if trait.value == value else 1 - trait.confidence
        fitted = reliability()["property"]
        probability = round(sigmoid(fitted["base"] + fitted["slope"] * log_odds(holds)), 4)
        otherwise = grading.MINOR if asked.value == "photo" else 0.0  # most prompts say so of any image
        found, outcome = Finding(Found.MEASURED, trait.value), outcome_of(probability, otherwise)
        check = Check(claim, found, outcome, probability, "pixels", otherwise=otherwise)
    return negate(check) if asked.negated else check


def emptiness(claim: Claim, image: Image) -> Check:
    """That a place is empty: no person, animal or vehicle in it."""
    found = [s for s in image.seen.sightings if any(kind in (s.word, *name_of(s.word).broader) for kind in INHABITANTS)]
    surest = max(found, key=lambda sighting: sighting.confidence, default=None)
    present = surest.confidence if surest else sigmoid(reliability()["detected"]["silence"])
    probability = round(1 - present, 4)
    seen = Finding(Found.PRESENT, surest.word, probability=present) if surest else Finding(Found.NONE_DETECTED)
    return Check(claim, seen, outcome_of(probability), probability, "detector", box=surest.box if surest else None)
