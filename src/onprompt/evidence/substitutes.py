"""What stands in for an object that is not there: a wider kind of it, or another kind that is close to it."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.language.ontology import distance, name_of
from onprompt.settings import Settings
from onprompt.types import Scene, Seen, Sighting, Thing


def spare(scene: Scene, seen: Seen, settings: Settings) -> list[Sighting]:
    """Sure sightings of what nobody asked for."""
    asked = {thing.canonical for thing in scene.things}
    sure = [each for each in seen.sightings if each.confidence >= settings.low_confidence and each.count == (1, 1)]
    taken = [each.box for each in sure if each.label in asked]
    return [each for each in sure if each.label not in asked and all(each.box.iou(box) < 0.5 for box in taken)]


def wider(thing: Thing, others: Sequence[Sighting]) -> list[Sighting]:
    """Those of a kind that what was asked for is one of: people, where a child was asked for."""
    kinds = name_of(thing.canonical).broader
    return [each for each in others if each.word in kinds]


def kin(thing: Thing, others: Sequence[Sighting], settings: Settings) -> Sighting | None:
    """The surest of another kind that is close: a zebra, where a giraffe was asked for."""
    close = [each for each in others if distance(thing.canonical, each.word) <= settings.kin_distance]
    return max(close, key=lambda each: each.confidence, default=None)
