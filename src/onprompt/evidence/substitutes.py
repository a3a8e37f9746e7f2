"""Substitutes for a missing object: a broader kind, or a similar one."""

from collections.abc import Sequence

from onprompt.evidence.matches import Match
from onprompt.language import distance, name_of
from onprompt.settings import Settings
from onprompt.types import Scene, Seen, Sighting, Thing

SAME_PLACE = 0.5  # IoU from which a sighting belongs to a requested object


def unclaimed(scene: Scene, seen: Seen, settings: Settings) -> list[Sighting]:
    """Confident sightings of objects that were not asked for."""
    asked = {thing.canonical for thing in scene.things}
    confident = [s for s in seen.sightings if s.confidence >= settings.low_confidence and s.count == (1, 1)]
    taken = [sighting.box for sighting in confident if sighting.label in asked]
    return [s for s in confident if s.label not in asked and all(s.box.iou(box) < SAME_PLACE for box in taken)]


def hypernyms(thing: Thing, others: Sequence[Sighting]) -> list[Sighting]:
    """Sightings of a broader kind: a person for a child."""
    kinds = name_of(thing.canonical).broader
    return [sighting for sighting in others if sighting.word in kinds]


def similar_kind(thing: Thing, others: Sequence[Sighting], settings: Settings) -> Sighting | None:
    """The most confident sighting of a similar animal: a zebra for a giraffe.

    Things are made for a purpose, and what serves another one is no substitute: a car for a motorcycle, a chair for a
    table.
    """
    if not is_animal(thing.canonical):
        return None
    similar = [s for s in others if is_animal(s.word) and distance(thing.canonical, s.word) <= settings.kin_distance]
    return max(similar, key=lambda sighting: sighting.confidence, default=None)


def is_animal(name: str) -> bool:
    """Whether a name is that of an animal."""
    return "animal" in name_of(name).broader


def extras(scene: Scene, seen: Seen, matches: Sequence[Match], settings: Settings) -> tuple[Sighting, ...]:
    """Confident sightings that were not asked for and substitute nothing. They never lower a score."""
    used = [match.first.box for match in matches]
    used += [sighting.box for match in matches for sighting in match.chosen]
    return tuple(sighting for sighting in unclaimed(scene, seen, settings) if sighting.box not in used)
