"""The tables of cases: answers that tell scorings apart, file names, sums, pictures, and 2,000 plausible answers."""

import random
import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from onprompt.errors import UserError
from onprompt.illusion.gold import gold
from onprompt.illusion.protocol import PUBLISHED, QUESTIONS, SCENES, SPLITS, Case, Split, load_toml

TABLES = load_toml("audit/cases.toml")
ANSWERS = TABLES["answers"]
INSIDE_WORDS, SYNONYMS = (
    dict(entry.split(": ") for entry in " ".join(TABLES["words"][name].split()).split("; "))
    for name in ("inside", "synonyms")
)
FILLER = "There are many small things in the picture and it seems to be drawn with care "
SAMPLE = 2000  # plausible answers
WIDTH, HEIGHT = 40, 24  # that pictures are resized to
ALONE, SEPARATOR = "the option alone, in any letter case", "{} of two words, with another separator"
SHAPE_WORDS, SCENE_WORDS = SEPARATOR.format("shape"), SEPARATOR.format("scene")
SENTENCE, INSIDE, BOTH = "the option in a sentence", "the option inside a longer word", "both shape and scene"
PUNCTUATION, OTHERS, FOREIGN = (
    "punctuation, Markdown, tags or JSON",
    "other options, too",
    "characters that no option has",
)
REPEATED, LONG, DENIED = "the prompt or a chat template repeated", "a long answer", "refusals and negations"
THINNED = 4  # of so many pairs of labels, one is tried with every form of answer
POINTS = {"the option": ALONE, "sentence": SENTENCE, "both": BOTH, "punctuation": PUNCTUATION}


class Pair(NamedTuple):
    """A shape and a scene, and another one of each to name instead."""

    split: Split
    shape: str
    scene: str
    other_shape: str
    other_scene: str


def pairs(split: Split) -> Iterator[Pair]:
    """Each shape and each scene at least once; the scene of a cue conflict is a texture, as the original reads it."""
    textures = [f"{shape}{'1' * (number % 2)}" for number, shape in enumerate(split.shapes)]
    scenes = textures[5:] + textures[:5] if split.name == "old_sin" else list(SCENES)
    for at in range(max(len(split.shapes), len(scenes))):
        shape, other = (split.shapes[(at + step) % len(split.shapes)] for step in (0, 1))
        scene, other_scene = (scenes[(at + step) % len(scenes)] for step in (0, 1))
        yield Pair(split, shape, scene, other, other_scene)


def answers() -> list[Case]:
    """Answers by shape and scene of every split, for both questions."""
    cases = []
    for split in SPLITS.values():
        for at, pair in enumerate(pairs(split)):
            for point, shape, scene, texts in of_pair(pair):
                if at % THINNED and point in (PUNCTUATION, REPEATED, LONG, DENIED):
                    continue  # whose options make no difference
                for text in texts:
                    both = shape.lower() in text.lower() and scene.lower() in text.lower() and point != FOREIGN
                    named = BOTH if both else point
                    cases += [Case(split.name, question, shape, scene, text, named) for question in QUESTIONS]
    return list(dict.fromkeys(cases))


def of_pair(pair: Pair) -> Iterator[tuple[str, str, str, list[str]]]:
    """A point, the labels and the answers."""
    split, shape, scene, other, other_scene = pair
    both = (shape, scene)

    def each(patterns: Sequence[str], names: Sequence[str] = both) -> list[str]:
        return [pattern.format(name, name) for name in names for pattern in patterns]

    cased = [form for name in both for form in (name, name.lower(), name.upper(), name.title(), name.swapcase())]
    yield ALONE, shape, scene, [*cased, other, other_scene]
    said, plain = each(ANSWERS["says"]), each(("a photo of {}", "many {}s", "{}es"))
    yield SENTENCE, shape, scene, [*said, *plain]
    lower = [name.lower() for name in both]
    longer = [INSIDE_WORDS.get(name, f"x{name}x") for name in lower]
    yield INSIDE, shape, scene, [*longer, *each(("a{}", "{}ing", "_{}_", "{}2", "#{}"), lower), f"A {longer[0]}."]
    yield SHAPE_WORDS, shape, scene, list(respelled(shape))
    yield SCENE_WORDS, shape, scene, list(respelled(scene))
    synonyms = [word for name in lower for word in SYNONYMS.get(name, "").split(", ") if word]
    parts = [name[:3] for name in lower] + [name[: len(name) // 2] for name in lower] + [name[-4:] for name in lower]
    parts += [word for name in lower for word in re.split(r"[_ ]", name)]
    parts += [name[:2] + name[3:] for name in lower] + [f"{name[:-1]}'s" for name in both if name.endswith("s")]
    spelled = [text for text in parts if not any(name in text for name in lower)]
    yield "a synonym, a part or a misspelling", shape, scene, [*each(("{}", "It is a {}."), synonyms), *spelled]
    yield BOTH, shape, scene, [*both_named(shape, scene), *both_named(scene, shape)]
    listed = [", ".join(option for option in split.options if option != name) for name in (*both, "")]
    pairs_named = [text for name in both for text in (*both_named(name, other), *both_named(name, other_scene))]
    yield OTHERS, shape, scene, [*listed, *pairs_named, f"{other} {other_scene}"]
    wrapped = each(ANSWERS["around"])
    beside = [text for name in both for pattern in ANSWERS["around"] for text in mixed(pattern, name, other)]
    yield PUNCTUATION, shape, scene, [*wrapped, *beside]
    yield REPEATED, shape, scene, each(ANSWERS["echo"])
    fill = [" ".join((FILLER * 80).split()[:count]) for count in ANSWERS["words"]]
    long = [text for name in both for before in fill for text in (f"{before} {name}", f"{name} {before}")]
    yield LONG, shape, scene, [*long, f"{fill[-1]} {shape} {fill[-1]}", f"{'x' * 600} {shape}"]
    yield DENIED, shape, scene, [*ANSWERS["empty"], *each(ANSWERS["denials"])]
    folder = shape.replace("Stationery", "Stationary")  # as the generator spells it
    for label, texture in ((shape.lower(), scene.lower()), (folder, scene), (folder.upper(), scene.upper())):
        spaced = [
            text for text in (scene.replace("_", " "), scene.lower().replace("_", " ")) if text not in (scene, lower[1])
        ]
        yield SCENE_WORDS, label, texture, spaced
        texts = [shape, scene, folder, lower[0], f"{shape}, {scene}", scene.lower()]
        yield "labels in other letter case or spelling", label, texture, texts
    yield (
        FOREIGN,
        shape,
        scene,
        [*each(ANSWERS["foreign"]), shape.replace("s", "ſ"), shape.lower().replace("k", "\u212a")],
    )


def both_named(first: str, second: str) -> list[str]:
    """Two options in one answer."""
    joined = [
        f"{first}{between}{second}" for between in (", ", " ", " or ", " and ", "\n", "/", ". ", "; ", " – ", ": ")
    ]
    return [*joined, f"A {first.lower()} in the {second.lower()}", f"not {first} but {second}", f"{first} ({second})"]


def respelled(name: str) -> Iterator[str]:
    """An option of several words with other separators."""
    words = re.split(r"[_ ]", name)
    if len(words) > 1:
        for separator in ANSWERS["between"]:
            joined = separator.join(words)
            yield from (joined, joined.lower(), joined.upper(), f"It is a {joined.lower()}.")


def mixed(pattern: str, name: str, other: str) -> tuple[str, ...]:
    """An option before or after something that looks like the answer, and the other way around."""
    no, yes, another = pattern.format("none"), pattern.format(name), pattern.format(other)
    return (
        f"{name} {no}",
        f"{no} {name}",
        f"none {yes}",
        f"{yes} none",
        f"{name}, so {another}",
        f"{another}, so {name}",
    )


# ---- file names, sums, pictures --------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A file by its path."""

    split: str
    path: str
    point: str


def paths() -> Iterator[Named]:
    """Every shape and every scene in the file names of every split, as published and otherwise."""
    for split in SPLITS.values():
        old = split.name == "old_sin"
        usual = TABLES["paths"]["icon" if split.name == "icon" else "old_sin" if old else "sin"]
        scenes = cycle(split.shapes[3:] + split.shapes[:3] if old else SCENES)
        shapes = cycle([*split.shapes, "Stationary"] if split.name == "icon" else split.shapes)
        for shape, scene, _ in zip(shapes, scenes, range(22), strict=False):
            for pattern in (*usual, *([] if old else TABLES["paths"]["unusual"])):
                path = pattern.format(shape=shape, lower=shape.lower(), scene=scene)
                point = f"labels: {split.name}" if pattern in usual else "labels: names that no published file has"
                try:
                    gold(path, split)
                except UserError:
                    continue
                yield Named(split.name, path, point)


def published_path(split: str, shape: str, scene: str) -> str:
    """The path of an image as it is published."""
    pattern: str = TABLES["paths"]["icon" if split == "icon" else "sin"][0]
    return pattern.format(shape=shape, lower=shape.lower(), scene=scene)


RIGHT, WRONG = ("Cat", "Ocean"), ("Dog", "City")  # shape and scene
SUMS: dict[str, list[tuple[tuple[str, str], str]]] = {  # the labels, and the answer
    "every answer names an option": [(RIGHT, "Cat")] * 5 + [(RIGHT, "Ocean")] * 3 + [(WRONG, "Dog")] * 2,
    "answers that name no option": [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "a painting")] * 6],
    "answers that name another option": [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "Panda")] * 6],
    "empty answers": [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "")] * 6],
    "answers of several words": [(RIGHT, "Cat"), (RIGHT, "Ocean"), *[(RIGHT, "It is a cat.")] * 6],
    "classes of unequal size": [(RIGHT, "Cat")] * 7 + [(RIGHT, "Ocean")] * 5 + [(WRONG, "none")] * 2,
    "one class alone": [(RIGHT, "Cat")] * 9,
    "nothing found": [(RIGHT, "none")] * 7,
    "the same answer again": [(RIGHT, "Cat")] * 6 + [(WRONG, "City")] * 4,
}


def pictures(folder: Path) -> Iterator[tuple[str, Path, Image.Image]]:
    """Files with pictures that tell resizes apart."""
    turned = Image.Exif()
    turned[0x0112] = 6  # a quarter turn
    for name, image in (
        ("64 × 48", drawn(64, 48)),
        ("a large picture, 400 × 300", drawn(400, 300)),
        ("a small picture, 16 × 12", drawn(16, 12)),
        ("a picture with EXIF orientation", drawn(64, 48).convert("RGB")),
        ("a gray picture", drawn(64, 48).convert("L")),
        ("a picture with a palette", drawn(64, 48).convert("RGB").quantize(32)),
    ):
        path = folder / f"{re.sub(r'[^a-z0-9]+', '-', name)}.png"
        image.save(path, exif=turned if "EXIF" in name else Image.Exif())
        yield name, path, image


def drawn(width: int, height: int) -> Image.Image:
    """A picture with edges, gradients and a transparent part."""
    data = bytes(
        value & 255
        for y in range(height)
        for x in range(width)
        for value in (x * 4, (x * y) // 3, 255 * ((x // 5 + y // 7) % 2), 255 - 3 * y)
    )
    return Image.frombytes("RGBA", (width, height), data)


# ---- 2,000 plausible answers -----------------------------------------------------------------------------------------


def sample() -> list[Case]:
    """Answers that are right as often as those of the paper's models, on average, in assumed forms."""
    dice, cases = random.Random(4), []  # noqa: S311 no secret
    kinds, splits = TABLES["sample"], [split for split in SPLITS.values() if split.paper]
    weights = [kind["weight"] for kind in kinds.values()]
    rates = {
        split.name: [statistics.mean(by[split.paper][at] for by in PUBLISHED.values()) / 100 for at in (0, 1)]
        for split in splits
    }
    for number in range(SAMPLE):
        split, question = splits[number % len(splits)], QUESTIONS[number // len(splits) % 2]
        shape, scene = dice.choice(split.shapes), dice.choice(SCENES)
        asked, other = (shape, scene) if question == "shape" else (scene, shape)
        wrong = dice.choice([name for name in split.options if name not in (shape, scene)])
        right = dice.random() < rates[split.name][QUESTIONS.index(question)]
        named = asked if right else dice.choice([other, wrong])
        kind = dice.choices(list(kinds), weights)[0]
        spaced = {"s": named.replace("_", " "), "h": re.sub("[_ ]", "-", named)}
        forms = {"l": named.lower(), "o": scene if named != scene else shape} | spaced
        answer = dice.choice(kinds[kind]["forms"]).format(named, **forms)
        words = SHAPE_WORDS if named in split.shapes else SCENE_WORDS
        point = POINTS.get(kind) or (words if re.search("[_ ]", named) else ALONE)
        cases.append(Case(split.name, question, shape, scene, answer, point))
    return cases
