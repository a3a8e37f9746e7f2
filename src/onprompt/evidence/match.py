"""Step 3: Scene and sightings → checks. For every object asked for: is it there, how many, with which attributes?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onprompt.evidence.attributes import Measured, measure, measure_text
from onprompt.settings import Settings
from onprompt.types import Attribute, Check, Count, Known, Outcome, Relation, Scene, Seen, Sighting, Thing
from onprompt.vision.geometry import RELATIONS


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

    def score(self, settings: Settings) -> float:
        """`match_score`: class, count and attributes with the seed's weights; 0 in all parts where it is missing.

        A sighting of low confidence is worth its confidence, so that one weak sighting can't earn full marks.
        """
        if self.outcome is Outcome.MISSING:
            return 0.0
        sure = self.confidence if self.outcome is Outcome.LOW_CONFIDENCE else 1.0
        if self.thing.absent or self.checks[0].kind != "object":  # an absence, or text that may stand anywhere
            return self.checks[0].score * sure
        count = next((check.score for check in self.checks if check.kind == "count"), 1.0)
        details = [check for check in self.details if check.outcome is not Outcome.UNVERIFIABLE]
        attributes = weighted_mean(details, default=1.0)
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        return sure * sum(w * s for w, s in zip(weights, (self.checks[0].score, count, attributes), strict=True))

    @property
    def details(self) -> tuple[Check, ...]:
        """The checks of attributes and relations."""
        return tuple(check for check in self.checks if check.kind not in ("object", "count"))


def weighted_mean(checks: Sequence[Check], default: float) -> float:
    """The mean score; a check of low confidence weighs as much as its confidence."""
    weights = [check.confidence if check.outcome is Outcome.LOW_CONFIDENCE else 1.0 for check in checks]
    total = sum(weights)
    return sum(w * check.score for w, check in zip(weights, checks, strict=True)) / total if total else default


def match(scene: Scene, seen: Seen, lines: Sequence[Sighting], settings: Settings) -> tuple[Match, ...]:
    """A match for each object of the scene, in the prompt's order."""
    shared = share_out(scene, seen.sightings, settings)
    chosen = [choose(thing, candidates, settings) for thing, candidates in zip(scene.things, shared, strict=True)]
    matches = []
    for index, thing in enumerate(scene.things):
        known = seen.known.get(thing.canonical)
        checks = [*presence(index, thing, chosen[index], shared[index], known, settings)]
        if not thing.absent:
            checks += [
                attribute_check(index, thing, each, chosen[index], known, lines, settings) for each in thing.attributes
            ]
            checks += [relation_check(index, scene, each, chosen, seen.known, settings) for each in thing.relations]
        matches.append(Match(thing, chosen[index], tuple(checks)))
    return tuple(matches)


# ---- who is who -----------------------------------------------------------------------------------------------------


def share_out(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """Candidates of each thing. Things of one name share theirs: each sighting goes where its attributes fit best."""
    shares: list[list[Sighting]] = [[] for _ in scene.things]
    for sighting in sightings:
        rivals = [index for index, thing in enumerate(scene.things) if thing.canonical == sighting.label]
        if rivals:

            def rank(index: int, sighting: Sighting = sighting) -> tuple[float, bool]:
                thing = scene.things[index]
                return fit(thing, sighting, settings), len(shares[index]) < thing.count.low

            shares[max(rivals, key=rank)].append(sighting)
    return [tuple(share) for share in shares]


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """Mean score of the attributes that can be measured; 1 where there is none."""
    scores = [m.score for attribute in thing.attributes if (m := measure(attribute, sighting, settings))]
    return sum(scores) / len(scores) if scores else 1.0


def choose(thing: Thing, candidates: Sequence[Sighting], settings: Settings) -> tuple[Sighting, ...]:
    """The sightings meant: all that fit equally well, as many such groups as give the best match_score.

    A red and a blue cup answer "a red cup" by the red one. Sightings that fit equally well are never split, so three
    dogs do not pass for one. Weak sightings serve only where there is no sure one.
    """
    sure = [each for each in candidates if each.confidence >= settings.low_confidence]
    pool = sure or sorted(candidates, key=lambda each: -each.confidence)[:1]
    by_fit: dict[float, list[Sighting]] = {}
    for each in pool:
        by_fit.setdefault(fit(thing, each, settings), []).append(each)
    best: tuple[float, list[Sighting]] = (-1.0, [])
    chosen: list[Sighting] = []
    for level in sorted(by_fit, reverse=True):
        chosen = [*chosen, *by_fit[level]]
        attributes = sum(fit(thing, each, settings) for each in chosen) / len(chosen)
        score = (
            settings.weight_count * count_score(thing.count, len(chosen), settings)
            + settings.weight_attributes * attributes
        )
        best = max(best, (score, chosen), key=lambda pair: pair[0])
    return tuple(best[1])


def is_text(thing: Thing) -> bool:
    """Whether the prompt asks for words and names nothing that bears them: the words are the object then."""
    return thing.canonical == "text" and any(attribute.kind == "text" for attribute in thing.attributes)


# ---- the object and its number ---------------------------------------------------------------------------------------


def presence(
    index: int,
    thing: Thing,
    chosen: Sequence[Sighting],
    candidates: Sequence[Sighting],
    known: Known | None,
    settings: Settings,
) -> list[Check]:
    """The check of the object itself and, where it is there and a number was asked for, of its count."""
    if is_text(thing):
        return []
    blank = Check(
        "object", thing.phrase, "", Outcome.UNVERIFIABLE, 0.0, 0.0, "detector", index, candidates=tuple(candidates)
    )
    if known is None:
        return [replace(blank, found=f"no detector here knows the word {thing.canonical!r}")]
    surest = max((each.confidence for each in chosen), default=0.0)
    if thing.absent:
        return [absence(blank, surest, settings)]
    if not chosen:
        return [replace(blank, found="MISSING", outcome=Outcome.MISSING, confidence=1.0)]
    first = max(chosen, key=lambda each: each.confidence)
    outcome = Outcome.MATCHED if known.closeness == 1 else Outcome.PARTIAL
    if surest < settings.low_confidence:
        outcome = Outcome.LOW_CONFIDENCE
    check = replace(
        blank,
        found=found_words(chosen, known),
        outcome=outcome,
        score=known.closeness,
        confidence=surest,
        source=first.source,
        box=first.box,
    )
    return [check, *count_check(check, thing, chosen, candidates, settings)]


def absence(blank: Check, surest: float, settings: Settings) -> Check:
    """Something that must not be there."""
    asked = f"no {blank.asked.removeprefix('a ').removeprefix('an ')}"
    if surest >= settings.low_confidence:
        return replace(
            blank, asked=asked, found=f"it is there ({surest:.2f})", outcome=Outcome.MISMATCH, confidence=surest
        )
    if surest:
        return replace(
            blank,
            asked=asked,
            found=f"it may be there ({surest:.2f})",
            outcome=Outcome.LOW_CONFIDENCE,
            score=1.0,
            confidence=1 - surest,
        )
    return replace(blank, asked=asked, found="none was seen", outcome=Outcome.MATCHED, score=1.0, confidence=1.0)


def found_words(chosen: Sequence[Sighting], known: Known) -> str:
    """`found 2 (0.97, 0.91)`, with the detector's word where it is another one."""
    sure = ", ".join(f"{each.confidence:.2f}" for each in chosen[:4]) + (", …" if len(chosen) > 4 else "")
    word = chosen[0].word
    broader = f" as {word!r}, which is all that can be told" if known.closeness < 1 else ""
    cut = "; the picture's edge cuts it" if len(chosen) == 1 and chosen[0].truncated else ""
    return f"found {len(chosen)}{broader} ({sure}){cut}"


def count_check(
    check: Check, thing: Thing, chosen: Sequence[Sighting], candidates: Sequence[Sighting], settings: Settings
) -> list[Check]:
    """How many there are against how many were asked for; weak sightings that could make it up leave it open."""
    if not thing.count.words:
        return []
    number, weak = (
        len(chosen),
        [each for each in candidates if each not in chosen and each.confidence < settings.low_confidence],
    )
    score = count_score(thing.count, number, settings)
    outcome = (
        Outcome.MATCHED if score == 1 else Outcome.PARTIAL if score >= settings.article_surplus else Outcome.MISMATCH
    )
    found, confidence = f"found {number}", min(each.confidence for each in chosen)
    if number < thing.count.low and weak:
        likeliest = weak[0].confidence
        better = count_score(thing.count, number + min(len(weak), thing.count.low - number), settings)
        score, outcome, confidence = (
            score + likeliest * (better - score),
            Outcome.LOW_CONFIDENCE,
            max(likeliest, 1 - likeliest),
        )
        found += f" and {len(weak)} less sure ({likeliest:.2f})"
    elif check.outcome is Outcome.LOW_CONFIDENCE:
        outcome = Outcome.LOW_CONFIDENCE
    return [
        replace(
            check,
            kind="count",
            asked=asked_count(thing.count),
            found=found,
            outcome=outcome,
            score=score,
            confidence=confidence,
        )
    ]


def asked_count(count: Count) -> str:
    """The number asked for, in figures."""
    if count.exact is not None:
        return str(count.exact)
    return f"{count.low} or more" if count.high is None else f"{count.low} to {count.high}"


def count_score(count: Count, number: int, settings: Settings) -> float:
    """1 within the range asked for; else the ratio to its nearer end, to a power (the seed's partial penalty)."""
    if number < count.low:
        return float((number / count.low) ** settings.count_steepness)
    if count.high is None or number <= count.high:
        return 1.0
    if not count.explicit and count.high == 1:
        return settings.article_surplus  # "a dog" is not "just one dog"
    return float((count.high / number) ** settings.count_steepness)


# ---- attributes and relations ----------------------------------------------------------------------------------------


def attribute_check(
    index: int,
    thing: Thing,
    attribute: Attribute,
    chosen: Sequence[Sighting],
    known: Known | None,
    lines: Sequence[Sighting],
    settings: Settings,
) -> Check:
    """One attribute over all chosen sightings."""
    blank = Check(attribute.kind, attribute.value, "", Outcome.UNVERIFIABLE, 0.0, 0.0, "none", index)
    if attribute.kind == "text":
        return graded(replace(blank, source="pp-ocr"), [measure_text(attribute.value, lines, settings)], settings)
    if known is None:
        return replace(blank, found=f"{thing.canonical} itself can't be looked for")
    if not chosen:
        return replace(blank, found="not there to be looked at", outcome=Outcome.MISSING, confidence=1.0)
    measured = [m for each in chosen if (m := measure(attribute, each, settings))]
    if not measured:
        return replace(blank, found=f"nothing here measures {attribute.kind}")
    return graded(
        replace(blank, source="pixels" if attribute.kind == "color" else "box", box=chosen[0].box), measured, settings
    )


def graded(check: Check, measured: Sequence[Measured], settings: Settings) -> Check:
    """A check with the mean of what was measured."""
    score = sum(each.score for each in measured) / len(measured)
    confidence = min(each.confidence for each in measured)
    outcome = (
        Outcome.MATCHED
        if score >= (1 + settings.minor_score) / 2
        else Outcome.PARTIAL
        if score >= settings.minor_score / 2
        else Outcome.MISMATCH
    )
    if confidence < settings.low_confidence:
        outcome = Outcome.LOW_CONFIDENCE
    found = "; ".join(dict.fromkeys(each.found for each in measured))
    return replace(check, found=f"found {found}", outcome=outcome, score=score, confidence=confidence)


def relation_check(
    index: int,
    scene: Scene,
    relation: Relation,
    chosen: Sequence[Sequence[Sighting]],
    known: Mapping[str, Known],
    settings: Settings,
) -> Check:
    """A relation holds for a subject if it holds for the target that suits it best."""
    subject, target = scene.things[index], scene.things[relation.target]
    blank = Check("relation", f"{relation.name} {target.phrase}", "", Outcome.UNVERIFIABLE, 0.0, 0.0, "boxes", index)
    holds = RELATIONS.get(relation.name)
    if holds is None:
        return replace(blank, found=f"nothing here measures {relation.name!r}", source="none")
    for each in (subject, target):
        if each.canonical not in known:
            return replace(blank, found=f"{each.canonical} can't be looked for")
    if not chosen[index]:
        return replace(blank, found="not there to be looked at", outcome=Outcome.MISSING, confidence=1.0)
    if not chosen[relation.target]:
        return replace(blank, found=f"{target.canonical} is missing", outcome=Outcome.MISMATCH, confidence=1.0)
    likely = [max(holds(a.box, b.box) for b in chosen[relation.target]) for a in chosen[index]]
    mean = sum(likely) / len(likely)
    check = replace(blank, confidence=max(mean, 1 - mean), box=chosen[index][0].box)
    if mean >= settings.relation_sure:
        return replace(check, found=f"it is ({mean:.2f})", outcome=Outcome.MATCHED, score=1.0)
    if mean >= settings.relation_unsure:
        return replace(check, found=f"hard to tell ({mean:.2f})", outcome=Outcome.LOW_CONFIDENCE, score=mean)
    return replace(check, found=f"it is not ({mean:.2f})", outcome=Outcome.MISMATCH)
