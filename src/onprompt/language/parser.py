"""From a prompt to a Scene: all the steps in turn."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.language.chunker import Chunker
from onprompt.language.image_properties import bare_adjectives, image_properties, join_names, split_frame
from onprompt.language.interpreter import Interpreter
from onprompt.language.ontology import is_place
from onprompt.language.scene import SceneBuilder
from onprompt.language.spelling import is_english
from onprompt.language.tokens import Prompt, Token, bounded, cut_clauses, defined, normalize_prompt, pieces, sentences
from onprompt.language.tree import Node, dependency_trees
from onprompt.settings import Settings
from onprompt.types import Attribute, Scene

CACHED = 256  # scenes, the latest
BATCH = 64  # prompts that are parsed together, which is faster than one by one


@dataclass(slots=True)
class Segments:
    """A prompt cut into clauses for the dependency parser, and what was taken out on the way."""

    prompt: Prompt
    clauses: list[list[Token]] = field(default_factory=list)
    properties: list[Attribute] = field(default_factory=list)
    unattached: list[Attribute] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    is_definition: bool = False

    @property
    def parsed(self) -> list[list[Token]]:
        """The clauses without their detached phrases."""
        return [[token for token in clause if not token.detached] for clause in self.clauses]


@lru_cache(maxsize=CACHED)
def parse(prompt: str, settings: Settings) -> Scene:
    """The scene that a prompt asks for; runs have many images of one prompt."""
    segments = segment(prompt, settings)
    return build_scene(segments, dependency_trees(segments.parsed))


def parse_many(prompts: Iterable[str], settings: Settings) -> Iterator[Scene | PromptError]:
    """The scene of each prompt, or why it can't be parsed."""
    rest = iter(prompts)
    while batch := [segment_or_error(prompt, settings) for prompt in islice(rest, BATCH)]:
        found = (item for item in batch if isinstance(item, Segments))
        trees = iter(dependency_trees([clause for item in found for clause in item.parsed]))
        for item in batch:
            yield build_scene(item, [next(trees) for _ in item.clauses]) if isinstance(item, Segments) else item


def segment_or_error(prompt: str, settings: Settings) -> Segments | PromptError:
    """A prompt cut into clauses, or why it can't be."""
    try:
        return segment(prompt, settings)
    except PromptError as error:
        return error


def segment(prompt: str, settings: Settings) -> Segments:
    """A prompt cut into chunked clauses, less what it says of the image as a whole."""
    segments = Segments(normalize_prompt(prompt, settings))
    cut = list(sentences(segments.prompt))
    segments.words = [token.word for tokens in cut for token in tokens if token.text is None]
    if len(cut) == 1 and (head := defined(cut[0])):
        cut, segments.is_definition = [head], True
    for tokens in (short for sentence in cut for short in bounded(sentence)):
        parts = join_names(pieces(tokens))
        for clause in cut_clauses(tokens, parts, [part for part in parts if image_properties(part)]):
            adjectives = bare_adjectives(clause)
            left, properties = split_frame(clause) if not adjectives else ([], [])
            segments.unattached += adjectives
            segments.properties += properties
            segments.clauses += [Chunker(left, settings).chunk()] if left else []
    if not segments.clauses and [each.value for each in segments.properties if each.value in lex.DISPLAYED]:
        segments.clauses, segments.properties = [Chunker(cut[0], settings).chunk()], []  # "a poster"
    chunks = (token for clause in segments.clauses for token in clause if token.of_image)
    segments.properties += [attribute for token in chunks for attribute in token.attributes]
    segments.properties += [Attribute("parameter", parameter) for parameter in segments.prompt.parameters]
    return segments


def build_scene(segments: Segments, trees: list[list[Node]]) -> Scene:
    """The scene that the trees of a prompt's clauses describe."""
    scene = SceneBuilder(segments.prompt)
    for at, (clause, nodes) in enumerate(zip(segments.clauses, trees, strict=True)):
        scene.sentence = at
        detached = [(place, token) for place, token in enumerate(clause) if token.detached]
        Interpreter(nodes, [(place - nth, token) for nth, (place, token) in enumerate(detached)], scene).read()
    things = scene.things(segments.unattached)
    flags = {
        "ambiguous quantifier": any("ambiguous quantifier" in thing.flags for thing in things),
        "misspelling repaired": any("misspelt" in thing.flags for thing in things),
        "not English": not is_english(segments.words),
        "definition": segments.is_definition,
        "abstract": bool(scene.concepts),
        "no objects": not things,
    }
    raised = tuple(flag for flag, holds in flags.items() if holds)
    places = [thing for thing in things if not thing.absent and is_place(thing.canonical)]
    properties = [
        *segments.properties,
        *(Attribute("concept", concept) for concept in scene.concepts),
        *(
            Attribute("occupancy", lex.OCCUPANCY[each.value])
            for place in places
            for each in place.attributes
            if each.value in lex.OCCUPANCY and not each.negated
        ),
    ]
    return Scene(segments.prompt.text, things, raised, tuple(dict.fromkeys(properties)))
