"""Men, women and children: detectors know only persons, so the rest is told by how a person looks."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.evidence.attributes import Measured
from onprompt.language import name_of
from onprompt.types import Known, Sighting, Thing
from onprompt.vision import CHILD, WORDS, traits_said


def traits_of(thing: Thing) -> tuple[tuple[str, str], ...]:
    """The kinds and values that a word for people says."""
    return traits_said(name_of(thing.canonical))


def measure(kind: str, value: str, chosen: Sequence[Sighting]) -> list[Measured]:
    """Whether each sighting looks like it, as far as that can be told."""
    shown = [trait for sighting in chosen for trait in sighting.traits if trait.kind == kind]
    return [Measured(float(trait.value == value), trait.value, trait.confidence) for trait in shown]


def contestable(thing: Thing) -> list[tuple[str, str]]:
    """The kinds and values that may be contradicted."""
    return [trait for trait in traits_of(thing) if len(traits_of(thing)) == 1 or trait != CHILD]


def recognize(thing: Thing, known: Known | None, chosen: Sequence[Sighting]) -> Known | None:
    """What is known of a name: more than "person" if all that the word says can be told of everyone and is true.

    Nobody who looks like a child is known to be a man or a woman.
    """
    asked = traits_of(thing)
    if known is None or known.closeness == 1 or thing.canonical not in WORDS or not chosen:
        return known
    measured = [measure(*trait, chosen) for trait in asked]
    confirmed = all(len(results) == len(chosen) and all(result.score for result in results) for results in measured)
    too_young = CHILD not in asked and any(result.score for result in measure(*CHILD, chosen))
    return replace(known, closeness=1.0) if confirmed and not too_young else known
