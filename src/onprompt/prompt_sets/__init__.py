"""Compositional prompts of our own, with the scenes that they were made from, and the files they are written to."""

import itertools
import json
import random
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onprompt.errors import UserError
from onprompt.language import canonical
from onprompt.report.document import scene_objects
from onprompt.types import Attribute, Count, Relation, Scene, Thing

NUMBERS = ("", "a", "two", "three", "four")
MOST = len(NUMBERS) - 1  # GenEval counts to four as well
MAX_OBJECTS = 5
RELATIONS = {  # as a prompt says it: GenEval has these four and no others
    "left of": ("to the left of", "left of"),
    "right of": ("to the right of", "right of"),
    "above": ("above",),
    "below": ("below",),
}
WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("objects.toml").read_text(encoding="utf-8"))
FEATURES = ("colors", "counts", "relations")
TRIES = 100  # at a new prompt, before the words are taken to be used up


@dataclass(frozen=True, slots=True)
class Made:
    """A prompt, the scene that it was made from, and the features that it has, as its category."""

    number: int
    scene: Scene
    category: str
    classes: tuple[str, ...]  # GenEval's name of each object

    @property
    def prompt(self) -> str:
        """The text."""
        return self.scene.prompt


def make(number: int, objects: int = 2, features: Sequence[str] = (), seed: int = 0) -> Iterator[Made]:
    """Different prompts with some objects and features."""
    if not 1 <= objects <= MAX_OBJECTS:
        raise UserError(f"prompts have 1 to {MAX_OBJECTS} objects, not {objects}")
    if "relations" in features and objects < 2:
        raise UserError("a relation needs two objects")
    chance = random.Random(seed)  # noqa: S311 not for secrets
    sizes = range(len(features) + 1)
    subsets = [subset for size in sizes for subset in itertools.combinations(sorted(features), size)]
    seen: set[str] = set()
    for index in range(number):
        subset = subsets[index % len(subsets)]
        for _ in range(TRIES):
            made = make_one(index, objects, subset, chance)
            if made.prompt not in seen:
                break
        else:
            raise UserError(f"no new prompt was found after {len(seen):,}; ask for fewer, or for more features")
        seen.add(made.prompt)
        yield made


def make_one(number: int, objects: int, features: Sequence[str], chance: random.Random) -> Made:
    """A prompt with the given features."""
    usable = [name for name in WORDS["names"] if "colors" not in features or name not in WORDS["without_colour"]]
    names = chance.sample(usable, objects)
    colours = chance.sample(WORDS["colours"], objects) if "colors" in features else [""] * objects
    counts = [chance.randint(1, MOST) if "counts" in features else 1 for _ in names]
    if "counts" in features and max(counts) == 1:
        counts[chance.randrange(objects)] = chance.randint(2, MOST)
    relation = chance.choice(list(RELATIONS)) if "relations" in features else ""
    phrases = [phrase(*each) for each in zip(names, colours, counts, strict=True)]
    things = tuple(
        Thing(
            text,
            canonical(name),
            Count(count, count, NUMBERS[count], count > 1),
            (Attribute("color", colour),) if colour else (),
            (Relation(relation, 1),) if relation and not index else (),
        )
        for index, (text, name, colour, count) in enumerate(zip(phrases, names, colours, counts, strict=True))
    )
    text = chance.choice(("a photo of {}", "{}")).format(
        join(phrases if not relation else phrases[:2], relation, chance)
    )
    if relation and objects > 2:  # a sentence of their own: "above a vase and a bear" would be above both
        text += f". There {'are' if counts[2] > 1 else 'is'} also {join(phrases[2:], '', chance)}."
    classes = tuple(WORDS["geneval"].get(name, name) for name in names)
    return Made(number, Scene(text, things), "+".join(features) or "objects", classes)


def phrase(name: str, colour: str, count: int) -> str:
    """`two red benches`, `an orange cup`."""
    noun = WORDS["plurals"].get(name, f"{name}s") if count > 1 else name
    described = f"{colour} {noun}".strip()
    article = "an" if described[0] in "aeiou" else "a"
    return f"{NUMBERS[count] if count > 1 else article} {described}"


def join(phrases: Sequence[str], relation: str, chance: random.Random) -> str:
    """The objects in a list, or two of them in a relation."""
    if relation:
        return f"{phrases[0]} {chance.choice(RELATIONS[relation])} {phrases[1]}"
    return " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def geneval_metadata(made: Made) -> dict[str, Any]:
    """A prompt as GenEval's judge and generators read it."""
    things = made.scene.things
    order = [1, 0, *range(2, len(things))] if things[0].relations else list(range(len(things)))
    include: list[dict[str, Any]] = []
    for index in order:
        thing = things[index]
        entry: dict[str, Any] = {"class": made.classes[index], "count": thing.count.low}
        if thing.attributes:
            entry["color"] = thing.attributes[0].value
        if thing.relations:  # the target comes first in the list, as GenEval has it
            entry["position"] = [thing.relations[0].name, order.index(thing.relations[0].target)]
        include.append(entry)
    counted = [entry for entry in include if "counts" in made.category.split("+")]
    exclude = [{"class": entry["class"], "count": entry["count"] + 1} for entry in counted]
    return {
        "tag": geneval_tag(made),
        "include": include,
        **({"exclude": exclude} if exclude else {}),
        "prompt": made.prompt,
    }


def geneval_tag(made: Made) -> str:
    """GenEval's name of a category that it has, or else ours."""
    one, two = len(made.classes) == 1, len(made.classes) == 2
    theirs = {
        "objects": "single_object" if one else "two_object" if two else "",
        "colors": "colors" if one else "color_attr" if two else "",
        "counts": "counting" if one else "",
        "relations": "position" if two else "",
    }
    return theirs.get(made.category) or made.category


TABLE, GENEVAL, TEXTS = "prompts.jsonl", "evaluation_metadata.jsonl", "prompts.txt"


def write(made: Sequence[Made], folder: Path) -> None:
    """Three files, line by line the same prompts; the table says where each image is expected."""
    tables = {
        TABLE: [json.dumps(row(each), ensure_ascii=False) for each in made],
        GENEVAL: [json.dumps(geneval_metadata(each)) for each in made],
        TEXTS: [each.prompt for each in made],
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if existing := [name for name in tables if (folder / name).exists()]:
            raise UserError(f"{folder / existing[0]} exists already; choose another folder with --out")
        for name, lines in tables.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UserError(f"can't write to {folder}: {error.strerror or error}") from error


def row(made: Made) -> dict[str, object]:
    """A line of the table that `onprompt run` reads once the images are there."""
    name = f"{made.number:05}"
    about = {"id": name, "image": f"images/{name}.png", "prompt": made.prompt, "category": made.category}
    return about | {"objects": scene_objects(made.scene)}
