"""Every claim of a scene by itself, and what a model's answers to them come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from onprompt.evidence.details import attribute_claim, is_text, relation_claim
from onprompt.evidence.estimates import no_estimate
from onprompt.evidence.image_properties import not_measured
from onprompt.evidence.match import NO_SOURCE
from onprompt.evidence.matches import Match
from onprompt.evidence.observations import Observations, is_animated
from onprompt.evidence.plan import weight_objects
from onprompt.language import parse
from onprompt.types import Check, Claim, Finding, Found, Outcome, Picture, Scene, Seen, Thing

if TYPE_CHECKING:
    from onprompt.settings import Settings

IMAGE = "image"  # the canonical name of the image as a whole


class Reply(NamedTuple):
    """What a model answers to one claim; without a probability of "yes" it is unverifiable."""

    yes: float | None = None
    known: bool = False  # whether the server gave this probability; 1 or 0 is just the model's word
    fault: str = ""  # why there is none: missing, repeated, out_of_order, unreadable, not_asked


Replies = Mapping[str, Reply]  # by the sentence that was asked
NO_REPLY = Reply(fault="not_asked")
MEANS: Mapping[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "geometric": (math.log, math.exp),
    "arithmetic": (float, float),
}


@dataclass(frozen=True, slots=True)
class Atom:
    """One claim: a check without a result yet, and the sentence that a model is asked about."""

    check: Check
    needs: tuple[int, ...] = ()  # the objects that must be there for it to make sense
    target: int | None = None  # the other object of a relation
    sentence: str = ""

    @property
    def asserts_object(self) -> bool:
        """Whether it says that an object is there: its details depend on it."""
        return self.check.claim.kind == "object" and not self.check.claim.negated

    def probability(self, reply: Reply) -> float | None:
        """How likely the claim is true. What the prompt rules out is asked for as if it were there."""
        return reply.yes if reply.yes is None or not self.check.claim.negated else 1 - reply.yes


def scene_atoms(prompt: str, major: Sequence[str], settings: Settings) -> tuple[Scene, list[Atom]]:
    """The scene of a prompt and every claim of it: that each object is there, its number, attributes and relations."""
    scene = with_image(weight_objects(parse(prompt, settings), major, settings))
    return scene, [atom for index in range(len(scene.things)) for atom in thing_atoms(index, scene)]


def with_image(scene: Scene) -> Scene:
    """The scene with the image itself as its last object, which has the properties that the prompt gives the whole."""
    asked = tuple(not_measured(scene, ()))
    whole = (Thing("the image as a whole", IMAGE, attributes=asked),) if asked else ()
    return replace(scene, things=(*scene.things, *whole), properties=())


def thing_atoms(index: int, scene: Scene) -> Iterator[Atom]:
    """The claims about one object; of one that must not be there, only that."""
    thing = scene.things[index]
    if thing.absent:
        kind = "text" if is_text(thing) else "object"
        yield blank_atom(Claim(kind, thing.phrase, "" if kind == "text" else thing.canonical, negated=True), index)
        return
    is_object = not is_text(thing) and thing.canonical != IMAGE
    needs = (index,) if is_object else ()
    if is_object:
        yield blank_atom(Claim("object", thing.phrase, thing.canonical), index, needs)
        if has_number(thing):
            yield blank_atom(Claim("count", name=thing.canonical, count=thing.count), index, needs)
    for attribute in thing.attributes:
        yield blank_atom(attribute_claim(attribute, thing), index, needs)
    for relation in thing.relations:
        target = scene.things[relation.target]
        needed = needs if is_text(target) else (*needs, relation.target)
        atom = blank_atom(relation_claim(relation, thing, scene), index, needed)
        yield replace(atom, target=relation.target)


def has_number(thing: Thing) -> bool:
    """Whether the prompt says how many: "a dog" and "dogs" do not."""
    return thing.count.explicit or bool(thing.count.words and thing.count.low > 1)


def blank_atom(claim: Claim, index: int, needs: tuple[int, ...] = ()) -> Atom:
    """A claim without an answer yet."""
    return Atom(Check(claim, Finding(Found.NOT_ANSWERED), Outcome.UNVERIFIABLE, 0.0, 0.0, NO_SOURCE, index), needs)


def asked_in_turn(atoms: Sequence[Atom], replies: Replies, settings: Settings) -> Iterator[str]:
    """The sentences to ask one by one: objects, then details of those that are not missing by the replies so far."""
    asked = set[str]()
    for atom in sorted(atoms, key=lambda atom: not atom.asserts_object):
        gone = not atom.asserts_object and missing_things(atoms, replies, settings).intersection(atom.needs)
        if not gone and atom.sentence not in asked:
            asked.add(atom.sentence)
            yield atom.sentence


def missing_things(atoms: Sequence[Atom], replies: Replies, settings: Settings) -> set[int]:
    """The objects that are not there by the answers so far."""
    asserted = [atom for atom in atoms if atom.asserts_object]
    return {thing for atom in asserted for thing in atom.needs if is_denied(atom, replies, settings)}


def is_denied(atom: Atom, replies: Replies, settings: Settings) -> bool:
    """Whether a claim is false by its answer."""
    probability = atom.probability(replies.get(atom.sentence, NO_REPLY))
    return probability is not None and probability <= 1 - settings.atoms_sure


def observe_atoms(
    scene: Scene, atoms: Sequence[Atom], replies: Replies, picture: Picture, model: str, settings: Settings
) -> Observations:
    """What the answers say, in the form that rubrics grade; no detector looks at the image."""
    matches, frame = settle(scene, atoms, replies, model, settings), is_animated(picture)
    return Observations(scene, Seen((), {}), (), (), no_estimate, None, 0.0, matches, blank=False, frame=frame)


def settle(scene: Scene, atoms: Sequence[Atom], replies: Replies, model: str, settings: Settings) -> tuple[Match, ...]:
    """The checks of each object by the answers. Details of an object that is not there are not true of anything."""
    missing = missing_things(atoms, replies, settings)
    checks = [settle_one(atom, scene, missing, replies, model, settings) for atom in atoms]
    return tuple(
        Match(thing, (), tuple(check for check in checks if check.thing == index))
        for index, thing in enumerate(scene.things)
    )


def settle_one(
    atom: Atom, scene: Scene, missing: Collection[int], replies: Replies, model: str, settings: Settings
) -> Check:
    """The check of one claim."""
    check, gone = atom.check, [thing for thing in atom.needs if thing in missing]
    if gone and not atom.asserts_object:
        if check.thing in gone:
            finding = Finding(Found.OBJECT_MISSING)
            return replace(check, finding=finding, outcome=Outcome.MISSING, confidence=1.0, source=model)
        return replace(check, finding=Finding(Found.TARGET_MISSING, scene.things[gone[0]].canonical))
    reply = replies.get(atom.sentence, NO_REPLY)
    probability = atom.probability(reply)
    if probability is None:
        return replace(check, finding=Finding(Found.NOT_ANSWERED, notes=(reply.fault,) if reply.fault else ()))
    return answered(replace(check, source=model), probability, probability if reply.known else None, settings)


def answered(check: Check, probability: float, given: float | None, settings: Settings) -> Check:
    """A check by the probability of its claim; `given` if it is the server's."""
    sure, is_object = settings.atoms_sure, check.claim.kind == "object"
    finding = Finding(Found.STATED, "yes" if probability >= 0.5 else "no", probability=given)
    if probability >= sure:
        return replace(check, finding=finding, outcome=Outcome.MATCHED, score=1.0, confidence=probability)
    if probability > 1 - sure:  # an object of low confidence is weighted by it, as a weak sighting is
        score, confidence = (1.0, probability) if is_object else (probability, max(probability, 1 - probability))
        return replace(check, finding=finding, outcome=Outcome.LOW_CONFIDENCE, score=score, confidence=confidence)
    if is_object and not check.claim.negated:
        missing = Finding(Found.MISSING, probability=given)
        return replace(check, finding=missing, outcome=Outcome.MISSING, confidence=1 - probability)
    return replace(check, finding=finding, outcome=Outcome.MISMATCH, confidence=1 - probability)


def mean_probability(scene: Scene, atoms: Sequence[Atom], replies: Replies, settings: Settings) -> float | None:
    """The weighted mean over the claims with an answer, each sentence once; None if there is none.

    What depends on a missing object does not count: that object does.
    """
    missing = missing_things(atoms, replies, settings)
    weights: dict[str, tuple[float, float]] = {}
    for atom in atoms:
        probability = atom.probability(replies.get(atom.sentence, NO_REPLY))
        if probability is not None and (atom.asserts_object or not missing.intersection(atom.needs)):
            weights[atom.sentence] = probability, scene.things[atom.check.thing or 0].importance
    total = sum(weight for _, weight in weights.values())
    if not total:
        return None
    to_number, back = MEANS[settings.atoms_mean]
    floor = settings.atoms_floor if settings.atoms_mean == "geometric" else 0.0
    return back(sum(weight * to_number(max(p, floor)) for p, weight in weights.values()) / total)
