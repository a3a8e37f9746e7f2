"""Step 3: Scene and sightings → checks. For every object asked for: is it there, how many, with which attributes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.evidence.candidates import choose, fit, share_out
from onprompt.evidence.counting import count_check
from onprompt.evidence.details import attribute_check, is_text, relation_check
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
    def verifiable(self) -> bool:
        """Whether anything about the object could be checked: the words on an unknown thing can be read."""
        return any(check.outcome is not Outcome.UNVERIFIABLE for check in self.checks)

    @property
    def details(self) -> tuple[Check, ...]:
        """The checks of attributes and relations."""
        return tuple(check for check in self.checks if check.kind not in ("object", "count"))

    def score(self, settings: Settings) -> float:
        """`match_score`: class, count and attributes with the seed's weights; 0 in all parts where it is missing.

        A sighting of low confidence is worth its confidence, so that one weak sighting can't earn full marks.
        """
        if self.outcome is Outcome.MISSING:
            return 0.0
        sure = self.confidence if self.outcome is Outcome.LOW_CONFIDENCE else 1.0
        if self.thing.absent:
            return self.checks[0].score * sure
        if self.checks[0].kind != "object" or self.outcome is Outcome.UNVERIFIABLE:
            return weighted_mean(self.details)  # words that may stand anywhere, or on a thing that nobody knows
        count = next((check.score for check in self.checks if check.kind == "count"), 1.0)
        attributes = weighted_mean(self.details)
        weights = settings.weight_class, settings.weight_count, settings.weight_attributes
        return sure * sum(w * s for w, s in zip(weights, (self.checks[0].score, count, attributes), strict=True))


def weighted_mean(checks: Sequence[Check]) -> float:
    """The mean score of what is verifiable, 1 where nothing is; a check of low confidence weighs its confidence."""
    verifiable = [check for check in checks if check.outcome is not Outcome.UNVERIFIABLE]
    weights = [check.confidence if check.outcome is Outcome.LOW_CONFIDENCE else 1.0 for check in verifiable]
    total = sum(weights)
    return sum(w * check.score for w, check in zip(weights, verifiable, strict=True)) / total if total else 1.0


def match(scene: Scene, seen: Seen, lines: Sequence[Sighting], settings: Settings) -> tuple[Match, ...]:
    """A match for each object of the scene, in the prompt's order; `lines` are what was read in the picture."""
    candidates = share_out(scene, seen.sightings, settings)
    chosen = [choose(thing, mine, settings) for thing, mine in zip(scene.things, candidates, strict=True)]
    matches = []
    for index, thing in enumerate(scene.things):
        known = seen.known.get(thing.canonical)
        crowd = next((each for each in seen.sightings if each.label == thing.canonical and each.count != (1, 1)), None)
        crowd = None if thing.attributes else crowd  # a range of bottles is none of red bottles
        mine = chosen[index], candidates[index], crowd
        checks = [] if is_text(thing) else presence(index, thing, *mine, known, settings)
        # A claim about an object that is missing is missing too, and one about an unverifiable object unverifiable.
        gone = Outcome.MISSING if known and not chosen[index] else Outcome.UNVERIFIABLE
        blank = Check("", "", "", gone, 0.0, 0.0, "none", index)
        if not thing.absent:
            checks += [attribute_check(blank, each, chosen[index], lines, settings) for each in thing.attributes]
            checks += [relation_check(blank, scene, each, chosen, seen.known, settings) for each in thing.relations]
        matches.append(Match(thing, chosen[index], tuple(checks)))
    return tuple(matches)


def presence(
    index: int,
    thing: Thing,
    chosen: Sequence[Sighting],
    candidates: Sequence[Sighting],
    crowd: Sighting | None,
    known: Known | None,
    settings: Settings,
) -> list[Check]:
    """The check of the object itself and, where it is there and a number was asked for, of its count."""
    asked = asked_words(thing)
    blank = Check(
        "object", asked, "", Outcome.UNVERIFIABLE, 0.0, 0.0, "none", index, None, tuple(chosen), tuple(candidates)
    )
    if known is None:
        return [replace(blank, found=f"no detector here knows the word {thing.canonical!r}")]
    if thing.absent:
        return [absence(blank, thing, candidates, known, settings)]
    if not chosen and thing.count.low == 0:
        return [
            replace(blank, found="none was seen", outcome=Outcome.MATCHED, score=1.0, confidence=1.0, source="detector")
        ]
    if not chosen:
        return [replace(blank, found="MISSING", outcome=Outcome.MISSING, confidence=1.0, source="detector")]
    surest = max(chosen, key=lambda each: each.confidence)
    check = replace(
        blank,
        found=found_words(chosen, known),
        outcome=Outcome.MATCHED if known.closeness == 1 else Outcome.PARTIAL,
        score=known.closeness,
        confidence=surest.confidence,
        source=surest.source,
        box=surest.box,
    )
    if surest.confidence < settings.low_confidence:
        check = replace(check, outcome=Outcome.LOW_CONFIDENCE)
    if not thing.count.words and thing.count.low == 1:
        return [check]
    return [check, count_check(check, thing.count, chosen, candidates, crowd, settings)]


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
    return f"found {len(chosen)}{broader} ({sure}){cut}"
