"""Step 3: which sightings are meant by which object of the prompt."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.evidence.assignment import assign
from onprompt.evidence.attributes import measure
from onprompt.evidence.counting import count_score
from onprompt.language.ontology import name_of
from onprompt.settings import Settings
from onprompt.types import Scene, Sighting, Thing

ITSELF = 0.8  # IoU from which two sightings are one object under two names


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """Mean score of the attributes that can be measured; 1 where there is none."""
    scores = [m.score for attribute in thing.attributes if (m := measure(attribute, sighting, settings))]
    return sum(scores) / len(scores) if scores else 1.0


def share_out(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """Candidates of each thing, every object in the picture for one thing only, so that all get the most.

    Each thing has as many places as were asked for; who gets which object is one problem for all of them. What is left
    over goes where it fits best, since three dogs are not two. What must not be there shares with nobody, nor does one
    of a group ("two cats, one black"): any sighting of its name may be it.
    """
    usable = [each for each in sightings if each.confidence >= settings.missing_below and each.count == (1, 1)]
    objects = one_each(usable)
    alone = {index for index, thing in enumerate(scene.things) if thing.absent or thing.part_of is not None}
    sharing = [index for index in range(len(scene.things)) if index not in alone]
    worth = [[reward(scene.things[index], each, settings) for index in sharing] for each in objects]
    places = [
        k for k, index in enumerate(sharing) for _ in range(min(scene.things[index].count.low, len(objects)) or 1)
    ]
    taken = assign([[row[k] for k in places] for row in worth])
    shares: list[list[Sighting]] = [[] for _ in scene.things]
    for number, each in enumerate(objects if sharing else ()):
        best = places[taken[number]] if number in taken else max(range(len(sharing)), key=worth[number].__getitem__)
        index = sharing[best]
        shares[index].extend(sighting for sighting in each if sighting.label == scene.things[index].canonical)
    for index in alone:
        shares[index].extend(each for each in usable if each.label == scene.things[index].canonical)
    return [tuple(sorted(share, key=lambda each: -each.confidence)) for share in shares]


def one_each(sightings: Sequence[Sighting]) -> list[list[Sighting]]:
    """Sightings by object: those whose boxes are nearly the same are one, if their names can mean the same thing."""
    objects: list[list[Sighting]] = []
    for sighting in sightings:
        for known in objects:
            if all(may_be_one(each, sighting) for each in known):
                known.append(sighting)
                break
        else:
            objects.append([sighting])
    return objects


def may_be_one(one: Sighting, other: Sighting) -> bool:
    """Whether two sightings may be of one object: a man and a person, but not a pizza and its plate."""
    if one.label == other.label or one.box.iou(other.box) < ITSELF:
        return False
    first, second = name_of(one.label), name_of(other.label)
    alike = first.may_be(other.label) or second.may_be(one.label)
    return alike or other.label in first.rivals or one.label in second.rivals


def reward(thing: Thing, names: Sequence[Sighting], settings: Settings) -> float:
    """What an object is worth to a thing: how sure it is one, and how well its attributes fit; 0 where it is none."""
    mine = [each for each in names if each.label == thing.canonical]
    share = settings.weight_class, settings.weight_attributes
    return max((each.confidence * (share[0] + share[1] * fit(thing, each, settings)) for each in mine), default=0.0)


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
