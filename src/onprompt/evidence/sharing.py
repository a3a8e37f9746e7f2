"""Step 3: which sighting belongs to which object of the prompt. A sighting belongs to at most one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onprompt.evidence.attributes import measure
from onprompt.language import OTHER, distance, name_of
from onprompt.settings import Settings
from onprompt.types import Detections, NameMatch, Scene, Sighting, Thing
from onprompt.vision.people import traits_said

SAME_OBJECT = 0.8  # IoU from which two sightings are one object with two names
SAME_PLACE = 0.5  # IoU from which a sighting is of what a surer one of a similar kind shows
SAME_BOX = 0.7  # … of any other kind
WEAK = 0.25  # confidence below which something else may be in its place
SURE = 0.8  # confidence from which a sighting explains a weak one
KINDRED = 0.75  # distance in the ontology up to which kinds are similar: giraffe and zebra, car and bicycle
MAIN = 0.2  # share of the image from which something may stand in the place of what was asked for (seed 000: large)


@dataclass(frozen=True, slots=True)
class Share:
    """The sightings of one object of the prompt."""

    candidates: tuple[Sighting, ...] = ()  # the most confident first
    chosen: tuple[Sighting, ...] = ()  # those that are meant
    known: NameMatch | None = None  # how the detector understands the name; None if it does not
    substitute: Sighting | None = None  # something of a similar kind in its place


def share_out(scene: Scene, seen: Detections, settings: Settings) -> list[Share]:
    """The share of each object of the prompt, in order."""
    candidates = find_candidates(scene, seen.sightings, settings)
    others = unclaimed(scene, seen, settings)
    shares: list[Share] = []
    parts: list[Sighting] = []  # what parts of a group took: one car is not both the blue and the red one
    for thing, own in zip(scene.things, candidates, strict=True):
        if thing.part_of is not None:
            own = tuple(sighting for sighting in own if sighting not in parts)
        known = known_well(thing, seen.known.get(thing.canonical), own)
        share = Share(own, choose(thing, own, settings), known)
        found = own[0].confidence if own else 0.0
        if known and found < WEAK and not thing.absent and thing.count.low > 0:
            share = substitute(share, thing, others, settings)
            others = [s for s in others if s not in share.chosen and s is not share.substitute]
        parts += share.chosen if thing.part_of is not None else ()
        shares.append(share)
    return shares


def known_well(thing: Thing, known: NameMatch | None, candidates: Sequence[Sighting]) -> NameMatch | None:
    """What a detector knows of a name; nothing if it found none and knows just one of its kinds.

    A detector of stop signs that finds none says nothing about other signs.
    """
    one_kind = known is not None and len(known.words) == 1 and known.closeness == 1
    if known is None or candidates or not one_kind or known.words[0] in name_of(thing.canonical).same:
        return known
    return None


def find_candidates(scene: Scene, sightings: Sequence[Sighting], settings: Settings) -> list[tuple[Sighting, ...]]:
    """The candidates of each thing: every object in the image goes to one thing only.

    The thing with the most attributes chooses first, and takes as many as were asked for; objects left over go where
    they fit best, since three dogs are not two. Things that must not be there, and parts of a group ("two cats, one
    black"), do not compete: any sighting of their name is a candidate.
    """
    likely = [s for s in sightings if s.confidence >= settings.min_confidence]
    sure = [s for s in likely if s.confidence >= SURE]
    usable = [s for s in likely if not any(explains(other, s, settings) for other in sure)]
    competing = [i for i, thing in enumerate(scene.things) if not thing.absent and thing.part_of is None]
    names = [thing.canonical for thing in scene.things]
    candidates = [[] if i in competing else [s for s in usable if s.label == name] for i, name in enumerate(names)]
    free = group_same_objects(usable)
    for i in sorted(competing, key=lambda i: -len(scene.things[i].attributes)):
        ranked = sorted(free, key=lambda group: -reward(scene.things[i], group, settings))
        for group in ranked[: max(1, scene.things[i].count.low)]:
            if reward(scene.things[i], group, settings) > 0:
                candidates[i] += [sighting for sighting in group if sighting.label == names[i]]
                free.remove(group)
    for group in free:
        owner = max(competing, key=lambda i: reward(scene.things[i], group, settings), default=None)
        if owner is not None:
            candidates[owner] += [sighting for sighting in group if sighting.label == names[owner]]
    return [tuple(sorted(own, key=lambda sighting: -sighting.confidence)) for own in candidates]


def explains(other: Sighting, sighting: Sighting, settings: Settings) -> bool:
    """Whether a weak sighting is of what a sure one shows: what may be a bed is a sofa."""
    if sighting.confidence >= settings.low_confidence or name_of(sighting.label).may_be(other.word):
        return False
    apart = distance(sighting.label, other.word)
    overlap = sighting.box.iou(other.box)
    return apart >= OTHER and overlap >= (SAME_PLACE if apart <= KINDRED else SAME_BOX)


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


def fit(thing: Thing, sighting: Sighting, settings: Settings) -> float:
    """The mean score of the measurable attributes, with the sex and age that a word says; 1 if there is none."""
    scores = [
        1 - m.score if attribute.negated else m.score
        for attribute in thing.attributes
        if (m := measure(replace(attribute, negated=False), sighting, settings))
    ]
    shown = {trait.kind: trait.value for trait in sighting.traits}
    scores += [float(shown[kind] == value) for kind, value in traits_said(name_of(thing.canonical)) if kind in shown]
    return sum(scores) / len(scores) if scores else 1.0


def reward(thing: Thing, group: Sequence[Sighting], settings: Settings) -> float:
    """The reward of giving an object to a thing: by confidence and attributes; 0 if it is of another class."""
    own = [sighting for sighting in group if sighting.label == thing.canonical]
    by_class, by_fit = settings.weight_class, settings.weight_attributes
    return max((s.confidence * (by_class + by_fit * fit(thing, s, settings)) for s in own), default=0.0)


def choose(thing: Thing, candidates: Sequence[Sighting], settings: Settings) -> tuple[Sighting, ...]:
    """The sightings that are meant: groups of equal fit, as many as give the best match_score.

    Of a red and a blue cup, "a red cup" is the red one. Sightings of equal fit are never split, so three dogs do not
    pass for one. Weak sightings count only if there is no confident one.
    """
    confident = [sighting for sighting in candidates if sighting.confidence >= settings.low_confidence]
    pool = confident or candidates[:1]
    fits = {sighting: fit(thing, sighting, settings) for sighting in pool}
    if thing.part_of is not None:  # "one blue" of two cars: whichever is bluest
        return tuple(sorted(pool, key=lambda sighting: -fits[sighting])[: max(1, thing.count.low)])
    groups = [[s for s in pool if fits[s] >= level] for level in sorted(set(fits.values()), reverse=True)]

    def worth(group: list[Sighting]) -> float:
        attributes = sum(fits[sighting] for sighting in group) / len(group)
        right = thing.count.low <= len(group) <= (thing.count.high or len(group))
        return settings.weight_count * right + settings.weight_attributes * attributes

    best: list[Sighting] = max(groups, key=worth) if groups else []
    return tuple(best)


def unclaimed(scene: Scene, seen: Detections, settings: Settings) -> list[Sighting]:
    """Confident sightings of objects that were not asked for."""
    asked = {thing.canonical for thing in scene.things}
    confident = [s for s in seen.sightings if s.confidence >= settings.low_confidence]
    taken = [sighting.box for sighting in confident if sighting.label in asked]
    return [s for s in confident if s.label not in asked and all(s.box.iou(box) < SAME_PLACE for box in taken)]


def substitute(share: Share, thing: Thing, others: Sequence[Sighting], settings: Settings) -> Share:
    """A missing object with sightings of a broader kind (a person for a child), or with a similar kind in its place."""
    name = name_of(thing.canonical)
    if broader := sorted((s for s in others if s.word in name.broader), key=lambda sighting: -sighting.confidence):
        known = NameMatch((broader[0].word,), settings.subtype_score)
        return replace(share, known=known, chosen=choose(thing, broader, settings), candidates=tuple(broader))
    animal, vehicle = "animal" in name.broader, "vehicle" in name.broader  # of vehicles only a large one
    similar = [s for s in others if animal or (vehicle and s.box.area >= MAIN)]
    similar = [s for s in similar if OTHER <= distance(thing.canonical, s.word) <= KINDRED]
    return replace(share, substitute=max(similar, key=lambda sighting: sighting.confidence, default=None))


def extras(scene: Scene, seen: Detections, shares: Sequence[Share], settings: Settings) -> tuple[Sighting, ...]:
    """Confident sightings that were not asked for and stand in the place of nothing. They never lower a score."""
    used = [s.box for share in shares for s in (*share.chosen, *filter(None, [share.substitute]))]
    return tuple(sighting for sighting in unclaimed(scene, seen, settings) if sighting.box not in used)
