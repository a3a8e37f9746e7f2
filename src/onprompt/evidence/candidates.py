"""Step 3: assign sightings to the objects of the prompt."""

from collections.abc import Sequence

import numpy as np

from onprompt.evidence.assignment import best_assignment
from onprompt.evidence.attributes import measure
from onprompt.evidence.counting import count_score
from onprompt.language import OTHER, distance, name_of
from onprompt.settings import Settings
from onprompt.types import Scene, Sighting, Thing

SAME_OBJECT = 0.8  # IoU from which two sightings are one object with two names
SAME_PLACE, OUTVOTING = 0.5, 0.8  # IoU and confidence from which a sighting outvotes a weak one


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """The mean score of the measurable attributes; 1 if there is none."""
    scores = [m.score for attribute in thing.attributes if (m := measure(attribute, sighting, settings))]
    return sum(scores) / len(scores) if scores else 1.0


def find_candidates(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """The candidates of each thing: every object in the image goes to one thing only, for the largest sum of rewards.

    A thing has as many places as were asked for, which makes this an assignment problem. Objects left over go where
    they fit best, since three dogs are not two. Things that must not be there, and parts of a group ("two cats, one
    black"), do not compete: any sighting of their name is a candidate.
    """
    single = [s for s in sightings if s.confidence >= settings.faintest and s.count == (1, 1)]
    sure = [s for s in single if s.confidence >= OUTVOTING]
    usable = [s for s in single if not any(outvotes(other, s, settings) for other in sure)]
    objects = group_same_objects(usable)
    names = [thing.canonical for thing in scene.things]
    competing = [i for i, thing in enumerate(scene.things) if not thing.absent and thing.part_of is None]
    candidates = [[] if i in competing else [s for s in usable if s.label == name] for i, name in enumerate(names)]
    owners = assign_objects(scene, objects, competing, settings) if objects and competing else []
    for sightings_of_one, owner in zip(objects, owners, strict=False):
        candidates[owner].extend(sighting for sighting in sightings_of_one if sighting.label == names[owner])
    return [tuple(sorted(own, key=lambda sighting: -sighting.confidence)) for own in candidates]


def assign_objects(
    scene: Scene, objects: Sequence[Sequence[Sighting]], competing: Sequence[int], settings: Settings
) -> list[int]:
    """For each object in the image, the index of the thing that gets it."""
    rewards = np.array([[reward(scene.things[i], names, settings) for i in competing] for names in objects])
    places = [k for k, i in enumerate(competing) for _ in range(min(scene.things[i].count.low, len(objects)) or 1)]
    assigned = rewards.argmax(axis=1)
    for row, column in best_assignment(rewards[:, places]):
        if rewards[row, places[column]] > 0:
            assigned[row] = places[column]
    return [competing[k] for k in assigned]


def group_same_objects(sightings: Sequence[Sighting]) -> list[list[Sighting]]:
    """Sightings by object: nearly the same box, and names that may mean the same thing."""
    objects: list[list[Sighting]] = []
    for sighting in sightings:
        for known in objects:
            if all(may_be_same(other, sighting) for other in known):
                known.append(sighting)
                break
        else:
            objects.append([sighting])
    return objects


def may_be_same(first: Sighting, second: Sighting) -> bool:
    """Whether two sightings may be of one object: a man and a person, but not a pizza and its plate."""
    if first.label == second.label or first.box.iou(second.box) < SAME_OBJECT:
        return False
    pairs = ((name_of(first.label), second.label), (name_of(second.label), first.label))
    return any(name.may_be(label) or label in name.rivals for name, label in pairs)


def outvotes(other: Sighting, sighting: Sighting, settings: Settings) -> bool:
    """Whether a weak sighting is of what a sure one says is of a similar kind: what may be a bed is a sofa."""
    if sighting.confidence >= settings.low_confidence:
        return False
    if sighting.box.iou(other.box) < SAME_PLACE or name_of(sighting.label).may_be(other.word):
        return False
    return OTHER <= distance(sighting.label, other.word) <= settings.kin_distance


def reward(thing: Thing, names: Sequence[Sighting], settings: Settings) -> float:
    """The reward of assigning an object to a thing: by confidence and attributes; 0 if it is of another class."""
    own = [sighting for sighting in names if sighting.label == thing.canonical]
    by_class, by_fit = settings.weight_class, settings.weight_attributes
    return max((s.confidence * (by_class + by_fit * fit(thing, s, settings)) for s in own), default=0.0)


def choose(thing: Thing, candidates: Sequence[Sighting], settings: Settings) -> tuple[Sighting, ...]:
    """The sightings that are meant: groups of equal fit, as many as give the best match_score.

    Of a red and a blue cup, "a red cup" is the red one. Sightings of equal fit are never split, so three dogs do not
    pass for one. Weak sightings count only if there is no confident one.
    """
    confident = [sighting for sighting in candidates if sighting.confidence >= settings.low_confidence]
    pool = confident or sorted(candidates, key=lambda sighting: -sighting.confidence)[:1]
    fits = {sighting: fit(thing, sighting, settings) for sighting in pool}
    groups = [[s for s in pool if fits[s] >= level] for level in sorted(set(fits.values()), reverse=True)]

    def worth(group: list[Sighting]) -> float:
        attributes = sum(fits[sighting] for sighting in group) / len(group)
        count = count_score(thing.count, len(group), settings)
        return settings.weight_count * count + settings.weight_attributes * attributes

    best: list[Sighting] = max(groups, key=worth) if groups else []
    return tuple(best)
