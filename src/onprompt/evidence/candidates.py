"""Step 3: which sightings are meant by which object of the prompt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from onprompt.evidence.attributes import measure
from onprompt.evidence.counting import count_score
from onprompt.language.ontology import name_of
from onprompt.settings import Settings
from onprompt.types import Scene, Sighting, Thing

SAME_OBJECT = 0.8  # IoU from which two sightings are one object under two names


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """Mean score of the attributes that can be measured; 1 where there is none."""
    scores = [m.score for attribute in thing.attributes if (m := measure(attribute, sighting, settings))]
    return sum(scores) / len(scores) if scores else 1.0


def share_out(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """Candidates of each thing, every object in the picture for one thing only, so that the sum of rewards is largest.

    Each thing has as many places as were asked for, so that this is one assignment problem. What is left over goes
    where it fits best, since three dogs are not two. What must not be there shares with nobody, nor does one of a group
    ("two cats, one black"): any sighting of its name may be it.
    """
    usable = [s for s in sightings if s.confidence >= settings.missing_below and s.count == (1, 1)]
    objects = group_same_objects(usable)
    alone = {index for index, thing in enumerate(scene.things) if thing.absent or thing.part_of is not None}
    sharing = [index for index in range(len(scene.things)) if index not in alone]
    shares: list[list[Sighting]] = [[] for _ in scene.things]
    owners = assign_objects(scene, objects, sharing, settings) if objects and sharing else []
    for names, index in zip(objects, owners, strict=False):
        shares[index].extend(sighting for sighting in names if sighting.label == scene.things[index].canonical)
    for index in alone:
        shares[index].extend(s for s in usable if s.label == scene.things[index].canonical)
    return [tuple(sorted(share, key=lambda sighting: -sighting.confidence)) for share in shares]


def assign_objects(
    scene: Scene, objects: Sequence[Sequence[Sighting]], sharing: Sequence[int], settings: Settings
) -> list[int]:
    """For each object in the picture the index of the thing that gets it."""
    rewards = np.array([[reward(scene.things[i], names, settings) for i in sharing] for names in objects])
    places = [k for k, i in enumerate(sharing) for _ in range(min(scene.things[i].count.low, len(objects)) or 1)]
    assigned = rewards.argmax(axis=1)
    rows, columns = linear_sum_assignment(rewards[:, places], maximize=True)
    for row, column in zip(rows, columns, strict=True):
        if rewards[row, places[column]] > 0:
            assigned[row] = places[column]
    return [sharing[k] for k in assigned]


def group_same_objects(sightings: Sequence[Sighting]) -> list[list[Sighting]]:
    """Sightings by object: those whose boxes are nearly the same are one, if their names can mean the same thing."""
    objects: list[list[Sighting]] = []
    for sighting in sightings:
        for known in objects:
            if all(may_be_same(other, sighting) for other in known):
                known.append(sighting)
                break
        else:
            objects.append([sighting])
    return objects


def may_be_same(one: Sighting, other: Sighting) -> bool:
    """Whether two sightings may be of one object: a man and a person, but not a pizza and its plate."""
    if one.label == other.label or one.box.iou(other.box) < SAME_OBJECT:
        return False
    first, second = name_of(one.label), name_of(other.label)
    alike = first.may_be(other.label) or second.may_be(one.label)
    return alike or other.label in first.rivals or one.label in second.rivals


def reward(thing: Thing, names: Sequence[Sighting], settings: Settings) -> float:
    """What an object is worth to a thing: how sure it is one, and how well its attributes fit; 0 where it is none."""
    own = [sighting for sighting in names if sighting.label == thing.canonical]
    by_class, by_fit = settings.weight_class, settings.weight_attributes
    return max((s.confidence * (by_class + by_fit * fit(thing, s, settings)) for s in own), default=0.0)


def choose(thing: Thing, candidates: Sequence[Sighting], settings: Settings) -> tuple[Sighting, ...]:
    """The sightings meant: all that fit equally well, as many such groups as give the best match_score.

    A red and a blue cup answer "a red cup" by the red one. Sightings that fit equally well are never split, so three
    dogs do not pass for one. Weak sightings serve only where there is no sure one.
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
