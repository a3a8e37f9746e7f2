"""Step 1: from a prompt to a Scene."""

from __future__ import annotations

from onprompt.language import framing
from onprompt.language.drafts import Drafts
from onprompt.language.gather import Gatherer
from onprompt.language.grammar import Sentence
from onprompt.language.mentions import Reader
from onprompt.language.prompt import clean
from onprompt.language.tongue import is_english
from onprompt.language.tree import trees
from onprompt.language.units import Unit, bounded, clauses, is_tag_soup, pieces, sentences, sights, tags
from onprompt.settings import Settings
from onprompt.types import Attribute, Scene


def parse(prompt: str, settings: Settings) -> Scene:
    """What the prompt asks for."""
    cleaned = clean(prompt, settings)
    parts, properties, words, loose = [], [], [], []
    for units in sentences(cleaned):
        words += [unit.word for unit in units if unit.text is None]
        for part in (part for short in bounded(units) for seen in sights(short) for part in split(seen)):
            if tags := framing.loose(part):
                loose += tags
                continue
            left, said = framing.unframed(part)
            properties += said
            if left:
                parts.append(Gatherer(left, settings).gather())
    properties += [each for part in parts for unit in part if unit.whole for each in unit.attributes]
    properties += [Attribute("parameter", each) for each in cleaned.parameters]
    drafts = Drafts()
    reader = Reader(cleaned, drafts)
    trunks = [[unit for unit in part if not unit.aside] for part in parts]
    for at, nodes in enumerate(trees(trunks, settings.parser)):
        reader.sentence = at
        Sentence(nodes, asides(parts[at]), reader).read()
    drafts.settle(loose)
    things = drafts.things()
    flags = {
        "ambiguous quantifier": any("ambiguous quantifier" in thing.flags for thing in things),
        "misspelling repaired": any("misspelt" in thing.flags for thing in things),
        "not English": not is_english(words),
        "no objects": not things,
    }
    return Scene(
        cleaned.text, things, tuple(flag for flag, holds in flags.items() if holds), tuple(dict.fromkeys(properties))
    )


def asides(units: list[Unit]) -> list[tuple[int, Unit]]:
    """What the tree does not see, with the place in the tree where it stood."""
    found, at = [], 0
    for unit in units:
        if unit.aside:
            found.append((at, unit))
        else:
            at += 1
    return found


def split(units: list[Unit]) -> list[list[Unit]]:
    """A list of tags is read tag by tag; else a sentence falls into its clauses, less what speaks of the picture."""
    parts = pieces(units)
    if is_tag_soup(parts):
        about = [part for part in parts if framing.property_of(part)]
        return [*tags([part for part in parts if part not in about]), *about]
    apart = [part for part in parts if framing.property_of(part)]
    taken = {unit.start for part in apart for unit in part}
    return [*clauses([unit for unit in units if unit.start not in taken]), *apart]
