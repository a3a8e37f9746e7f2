"""From a prompt to a Scene: all the steps in turn."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.language.chunker import Chunker
from onprompt.language.image_properties import bare_adjectives, image_properties, split_frame, take_credits
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
    flags: dict[str, bool] = field(default_factory=dict)

    @property
    def parsed(self) -> list[list[Token]]:
        """The clauses without their detached phrases."""
        return [[token for token in clause if not token.detached] for clause in self.clauses]


@lru_cache(maxsize=CACHED)
def parse(prompt: str, settings: Settings) -> Scene:
    """The scene that a prompt asks for; runs have many images of one prompt."""
    (scene,) = parse_many([prompt], settings)
    if isinstance(scene, PromptError):
        raise scene
    return scene


def parse_many(prompts: Iterable[str], settings: Settings) -> Iterator[Scene | PromptError]:
    """The scene of each prompt, or why it can't be parsed."""
    rest = iter(prompts)
    while batch := [segment(prompt, settings) for prompt in islice(rest, BATCH)]:
        found = (each for each in batch if isinstance(each, Segments))
        trees = iter(dependency_trees([clause for each in found for clause in each.parsed]))
        for each in batch:
            yield build_scene(each, [next(trees) for _ in each.clauses]) if isinstance(each, Segments) else each


def segment(text: str, settings: Settings) -> Segments | PromptError:
    """A prompt cut into chunked clauses, less what it says of the image as a whole; or why it can't be read."""
    try:
        segments = Segments(normalize_prompt(text, settings))
    except PromptError as error:
        return error
    cut = list(sentences(segments.prompt))
    words = [token.word for tokens in cut for token in tokens if token.text is None]
    if head := defined(cut[0]) if len(cut) == 1 else []:
        cut = [head]
    segments.flags = {"not English": not is_english(words), "definition": bool(head)}
    for tokens, credited in map(take_credits, (short for sentence in cut for short in bounded(sentence))):
        segments.properties += credited
        parts = pieces(tokens)
        for clause in cut_clauses(tokens, parts, [part for part in parts if image_properties(part)]):
            if properties := image_properties(clause):
                segments.properties += properties
            elif adjectives := bare_adjectives(clause):
                segments.unattached += adjectives
            else:
                left, properties = split_frame(clause)
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
        **segments.flags,
        "abstract": bool(scene.concepts),
        "no objects": not things,
    }
    places = (thing for thing in things if not thing.absent and is_place(thing.canonical))
    said = (each.value for place in places for each in place.attributes if not each.negated)
    properties = [
        *segments.properties,
        *(Attribute("concept", concept) for concept in scene.concepts),
        *(Attribute("occupancy", lex.OCCUPANCY[value]) for value in said if value in lex.OCCUPANCY),
    ]
    raised = tuple(flag for flag, holds in flags.items() if holds)
    return Scene(segments.prompt.text, things, raised, tuple(dict.fromkeys(properties)))
