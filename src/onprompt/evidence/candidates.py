"""Step 3: which sightings are meant by which object of the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.evidence.attributes import measure
from onprompt.evidence.counting import count_score
from onprompt.settings import Settings
from onprompt.types import Scene, Sighting, Thing


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """Mean score of the attributes that can be measured; 1 where there is none."""
    scores = [m.score for attribute in thing.attributes if (m := measure(attribute, sighting, settings))]
    return sum(scores) / len(scores) if scores else 1.0


def share_out(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """Candidates of each thing. Things of one name share theirs: each sighting goes where its attributes fit best.

    What must not be there shares with nobody, nor does one of a group ("two cats, one black"): any sighting of its name
    may be it.
    """
    by_name: dict[str, list[int]] = {}
    for index, thing in enumerate(scene.things):
        if not thing.absent and thing.part_of is None:
            by_name.setdefault(thing.canonical, []).append(index)
    shares: list[list[Sighting]] = [[] for _ in scene.things]
    sightings = [each for each in sightings if each.confidence >= settings.missing_below and each.count == (1, 1)]
    for sighting in sightings:
        rivals = by_name.get(sighting.label, [])
        if not rivals:
            continue
        fits = [fit(scene.things[index], sighting, settings) for index in rivals]
        wanting = [len(shares[index]) < scene.things[index].count.low for index in rivals]
        _, _, best = max(zip(fits, wanting, (-index for index in rivals), strict=True))
        shares[-best].append(sighting)
    for thing, share in zip(scene.things, shares, strict=True):
        if thing.absent or thing.part_of is not None:
            share.extend(sighting for sighting in sightings if sighting.label == thing.canonical)
    return [tuple(share) for share in shares]


def choose(thing: Thing, candidates: Sequence[Sighting], settings: Settings) -> tuple[Sighting, ...]:
    """The sightings meant: all that fit equally well, as many such groups as give the best match_score.

    A red and a blue cup answer "a red cup" by the red one. Sightings that fit equally well are never split, so three
    dogs do not pass for one. Weak sightings serve only where there is no sure one.
    """
    sure = [each for each in candidates if each.confidence >= settings.low_confidence]
    pool = sure or sorted(candidates, key=lambda each: -each.confidence)[:1]
    fits = {each: fit(thing, each, settings) for each in pool}
    groups = [[each for each in pool if fits[each] >= level] for level in sorted(set(fits.values()), reverse=True)]

    def worth(group: list[Sighting]) -> float:
        attributes = sum(fits[each] for each in group) / len(group)
        count = count_score(thing.count, len(group), settings)
        return settings.weight_count * count + settings.weight_attributes * attributes

    best: list[Sighting] = max(groups, key=worth) if groups else []
    return tuple(best)
