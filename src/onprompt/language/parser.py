"""Step 1: from a prompt to a Scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from onprompt.errors import PromptError
from onprompt.language import image_properties as framing
from onprompt.language.chunker import Gatherer
from onprompt.language.grammar import Sentence
from onprompt.language.language_id import is_english
from onprompt.language.nodes import Node
from onprompt.language.noun_phrases import Reader
from onprompt.language.prompt import Prompt, clean
from onprompt.language.scene_builder import Drafts
from onprompt.language.tree import trees
from onprompt.language.units import Unit, bounded, clauses, is_tag_soup, pieces, sentences, sights, tags
from onprompt.settings import Settings
from onprompt.types import Attribute, Scene

AT_ONCE = 64  # prompts whose trees are made together, which is faster than one by one


@dataclass(slots=True)
class Cut:
    """A prompt cut into the parts that trees are made of, and what was taken out on the way."""

    prompt: Prompt
    parts: list[list[Unit]] = field(default_factory=list)
    properties: list[Attribute] = field(default_factory=list)
    loose: list[Attribute] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def trunks(self) -> list[list[Unit]]:
        """What the trees are made of: the parts without their asides."""
        return [[unit for unit in part if not unit.aside] for part in self.parts]


def parse(prompt: str, settings: Settings) -> Scene:
    """What the prompt asks for."""
    cut = prepared(prompt, settings)
    return read(cut, trees(cut.trunks, settings.parser))


def parse_many(prompts: Iterable[str], settings: Settings) -> Iterator[Scene | PromptError]:
    """What each prompt asks for, or why it can't be read."""
    waiting: list[Cut | PromptError] = []
    for prompt in prompts:
        try:
            waiting.append(prepared(prompt, settings))
        except PromptError as error:
            waiting.append(error)
        if len(waiting) == AT_ONCE:
            yield from read_all(waiting, settings)
            waiting = []
    yield from read_all(waiting, settings)


def read_all(cuts: list[Cut | PromptError], settings: Settings) -> Iterator[Scene | PromptError]:
    """The scenes of several prompts, their trees made together."""
    grown = iter(trees([trunk for cut in cuts if isinstance(cut, Cut) for trunk in cut.trunks], settings.parser))
    for cut in cuts:
        yield read(cut, [next(grown) for _ in cut.parts]) if isinstance(cut, Cut) else cut


def prepared(prompt: str, settings: Settings) -> Cut:
    """The prompt, cut and its phrases gathered; what it says of the picture as a whole is taken out."""
    cut = Cut(clean(prompt, settings))
    for units in sentences(cut.prompt):
        cut.words += [unit.word for unit in units if unit.text is None]
        for part in (part for short in bounded(units) for seen in sights(short) for part in split(seen)):
            if adjectives := framing.loose(part):
                cut.loose += adjectives
                continue
            left, said = framing.unframed(part)
            cut.properties += said
            if left:
                cut.parts.append(Gatherer(left, settings).gather())
    cut.properties += [each for part in cut.parts for unit in part if unit.whole for each in unit.attributes]
    cut.properties += [Attribute("parameter", each) for each in cut.prompt.parameters]
    return cut


def read(cut: Cut, grown: list[list[Node]]) -> Scene:
    """The scene that the trees tell of."""
    drafts = Drafts()
    reader = Reader(cut.prompt, drafts)
    for at, (part, nodes) in enumerate(zip(cut.parts, grown, strict=True)):
        reader.sentence = at
        Sentence(nodes, asides(part), reader).read()
    drafts.settle(cut.loose)
    things = drafts.things()
    flags = {
        "ambiguous quantifier": any("ambiguous quantifier" in thing.flags for thing in things),
        "misspelling repaired": any("misspelt" in thing.flags for thing in things),
        "not English": not is_english(cut.words),
        "no objects": not things,
    }
    held = tuple(flag for flag, holds in flags.items() if holds)
    return Scene(cut.prompt.text, things, held, tuple(dict.fromkeys(cut.properties)))


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
