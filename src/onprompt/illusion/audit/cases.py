"""The tables of cases: answers that tell scorings apart, file names, sums, pictures, and 2,000 plausible answers."""

import hashlib
import random
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from onprompt.errors import UserError
from onprompt.illusion.gold import gold
from onprompt.illusion.protocol import PUBLISHED, QUESTIONS, SCENES, SPLITS, Case, Split, load_toml
from onprompt.illusion.scoring import original

TABLES = load_toml("audit/cases.toml")
ANSWERS = TABLES["answers"]
INSIDE_WORDS, SYNONYMS = (
    dict(entry.split(": ") for entry in " ".join(TABLES["words"][name].split()).split("; "))
    for name in ("inside", "synonyms")
)
FILLER = "There are many small things in the picture and it seems to be drawn with care "
SAMPLE = 2000  # plausible answers
SIZE = (40, 24)  # that pictures are resized to
SUMS: Mapping[str, Mapping[str, int]] = TABLES["sums"]
UNPUBLISHED = "labels: names that no published file has"
ALONE, SEPARATOR = "the option alone, in any letter case", "{} of two words, with another separator"
SHAPE_WORDS, SCENE_WORDS = SEPARATOR.format("shape"), SEPARATOR.format("scene")
SENTENCE, INSIDE, BOTH = "the option in a sentence", "the option inside a longer word", "both shape and scene"
PUNCTUATION, OTHERS, FOREIGN = (
    "punctuation, Markdown, tags or JSON",
    "other options, too",
    "characters that no option has",
)
REPEATED, LONG, DENIED = "the prompt or a chat template repeated", "a long answer", "refusals and negations"
THINNED = 4  # one of this number of pairs of labels is tried with every form of answer
POINTS = {"the option": ALONE, "sentence": SENTENCE, "both": BOTH, "punctuation": PUNCTUATION}


def pairs(split: Split) -> Iterator[tuple[str, str, str, str]]:
    """Shape and scene, each at least once, and another one of each to name; a cue conflict's scene is a texture."""
    textures = [f"{shape}{'1' * (number % 2)}" for number, shape in enumerate(split.shapes)]
    scenes = textures[5:] + textures[:5] if split.name == "old_sin" else list(SCENES)
    for at in range(max(len(split.shapes), len(scenes))):
        shape, other = (split.shapes[(at + step) % len(split.shapes)] for step in (0, 1))
        scene, other_scene = (scenes[(at + step) % len(scenes)] for step in (0, 1))
        yield shape, scene, other, other_scene


def answers() -> list[Case]:
    """Answers by shape and scene of every split, for both questions."""
    cases = []
    for split in SPLITS.values():
        for at, pair in enumerate(pairs(split)):
            for point, shape, scene, texts in of_pair(split, *pair):
                if at % THINNED and point in (PUNCTUATION, REPEATED, LONG, DENIED):
                    continue  # whose options make no difference
                for text in texts:
                    both = shape.lower() in text.lower() and scene.lower() in text.lower() and point != FOREIGN
                    named = BOTH if both else point
                    cases += [Case(split.name, question, shape, scene, text, named) for question in QUESTIONS]
    return list(dict.fromkeys(cases))


def of_pair(
    split: Split, shape: str, scene: str, other: str, other_scene: str
) -> Iterator[tuple[str, str, str, list[str]]]:
    """A point, the labels and the answers."""
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
    beside = []
    for name, pattern in product(both, ANSWERS["around"]):
        forms = {"no": pattern.format("none"), "yes": pattern.format(name), "another": pattern.format(other)}
        beside += [beside_it.format(name=name, **forms) for beside_it in ANSWERS["beside"]]
    yield PUNCTUATION, shape, scene, [*wrapped, *beside]
    yield REPEATED, shape, scene, each(ANSWERS["echo"])
    fill = [" ".join((FILLER * 80).split()[:count]) for count in ANSWERS["words"]]
    long = [text for name in both for before in fill for text in (f"{before} {name}", f"{name} {before}")]
    yield LONG, shape, scene, [*long, f"{fill[-1]} {shape} {fill[-1]}", f"{'x' * 600} {shape}"]
    yield DENIED, shape, scene, [*ANSWERS["empty"], *each(ANSWERS["denials"])]
    folder = shape.replace("Stationery", "Stationary")  # as the generator spells it
    for label, texture in ((shape.lower(), scene.lower()), (folder, scene), (folder.upper(), scene.upper())):
        spaced = [form.replace("_", " ") for form in (scene, scene.lower()) if "_" in form]
        yield SCENE_WORDS, label, texture, spaced
        texts = [shape, scene, folder, lower[0], f"{shape}, {scene}", scene.lower()]
        yield "labels in other letter case or spelling", label, texture, texts
    letters = [shape.replace("s", "ſ"), shape.lower().replace("k", "\u212a")]
    yield FOREIGN, shape, scene, [*each(ANSWERS["foreign"]), *letters]


def both_named(*names: str) -> list[str]:
    """Two options in one answer."""
    return [pattern.format(*names, *(name.lower() for name in names)) for pattern in ANSWERS["pairs"]]


def respelled(name: str) -> Iterator[str]:
    """An option of several words with other separators."""
    words = re.split(r"[_ ]", name)
    if len(words) > 1:
        for separator in ANSWERS["between"]:
            joined = separator.join(words)
            yield from (joined, joined.lower(), joined.upper(), f"It is a {joined.lower()}.")


# ---- what is tried ---------------------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A case of any table: what is known of it, and what the original makes of it."""

    point: str  # what it shows
    shown: str
    split: str
    question: str  # also the label or the recall that is asked for
    wanted: Any
    known: Mapping[str, Any]


def tables(folder: Path) -> dict[str, list[Trial]]:
    """The trials of each role that a function may have."""
    asked = [(split, question) for split in SPLITS for question in QUESTIONS]
    return {
        "question": [asked_trial(*key) for key in asked],
        "score": scores(),
        "labels": [label_trial(*each, question) for each in paths() for question in QUESTIONS],
        "totals": [sum_trial(name, question) for name in SUMS for question in QUESTIONS],
        "resize": pictures(folder),
    }


@cache
def scores() -> list[Trial]:
    """The scores of all answers."""
    return [score_trial(case) for case in answers()]


def asked_trial(split: str, question: str) -> Trial:
    """A question, byte for byte."""
    wanted = SPLITS[split].questions[question]
    known = {"shape": "Cat", "scene": "Ocean", "path": published_path(split, "Cat", "Ocean")}
    return Trial(
        f"question: {split}, {question}", f"the {question} question of {split}", split, question, wanted, known
    )


def score_trial(case: Case) -> Trial:
    """What an answer counts for."""
    known = {
        "shape": case.shape, "scene": case.scene, "label": case.label, "prediction": case.answer,
        "lower_prediction": case.answer.lower(), "results": [case.answer],
        "path": published_path(case.split, case.shape, case.scene),
    }  # fmt: skip
    answer = case.answer if len(case.answer) <= 60 else f"{case.answer[:40]}…{case.answer[-15:]}"
    shown = f"{visible(answer)!r} for {case.shape} in {case.scene}, {case.question} question"
    return Trial(case.point, shown, case.split, case.question, score(case), known)


def score(case: Case) -> dict[str, bool]:
    """What the original counts an answer for."""
    found = original(case.answer, case.shape, case.scene, SPLITS[case.split])
    return {"shape": found.shape, "scene": found.scene, "rest": found.rest}


def label_trial(split: str, path: str, point: str, question: str) -> Trial:
    """A label of a file, by its path."""
    known = {"path": path, "file": path.rpartition("/")[2]}
    return Trial(
        point, f"the {question} of {path}", split, question, getattr(gold(path, SPLITS[split]), question), known
    )


def sum_trial(name: str, question: str) -> Trial:
    """The share of some answers that count for what was asked."""
    rows = [Case("sin", question, *row.split("|")) for row, times in SUMS[name].items() for _ in range(times)]
    outcomes = [next(kind for kind, counts in score(case).items() if counts) for case in rows]
    hits = [int(outcome == question) for outcome in outcomes]
    known = {
        "outcomes": outcomes, "hits": hits, "predictions": [case.answer for case in rows],
        "shapes": [case.shape for case in rows], "scenes": [case.scene for case in rows],
    }  # fmt: skip
    return Trial("recall: how answers are summed up", name, "sin", question, statistics.mean(hits), known)


def visible(text: str) -> str:
    r"""A text with its invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def paths() -> Iterator[tuple[str, str, str]]:
    """Split, path and point: every shape and scene in the file names of every split, as published and otherwise."""
    for split in SPLITS.values():
        old = split.name == "old_sin"
        usual = TABLES["paths"]["icon" if split.name == "icon" else "old_sin" if old else "sin"]
        scenes = cycle(split.shapes[3:] + split.shapes[:3] if old else SCENES)
        shapes = cycle([*split.shapes, "Stationary"] if split.name == "icon" else split.shapes)
        for shape, scene, _ in zip(shapes, scenes, range(22), strict=False):
            for pattern in (*usual, *([] if old else TABLES["paths"]["unusual"])):
                path = pattern.format(shape=shape, lower=shape.lower(), scene=scene)
                with suppress(UserError):
                    gold(path, split)
                    yield split.name, path, f"labels: {split.name}" if pattern in usual else UNPUBLISHED


def published_path(split: str, shape: str, scene: str) -> str:
    """The path of an image as it is published."""
    pattern: str = TABLES["paths"]["icon" if split == "icon" else "sin"][0]
    return pattern.format(shape=shape, lower=shape.lower(), scene=scene)


def pictures(folder: Path) -> list[Trial]:
    """Files with pictures that tell resizes apart: edges, gradients, transparency, and a quarter turn in EXIF."""
    trials = []
    for number, (name, (width, height, mode, turned)) in enumerate(TABLES["pictures"].items()):
        data = bytes(
            value & 255
            for y in range(height)
            for x in range(width)
            for value in (x * 4, (x * y) // 3, 255 * ((x // 5 + y // 7) % 2), 255 - 3 * y)
        )
        image = Image.frombytes("RGBA", (width, height), data)
        image = image.convert("RGB").quantize(32) if mode == "P" else image.convert(mode)
        exif = Image.Exif()
        exif.update({0x0112: 6} if turned else {})
        image.save(path := folder / f"{number}.png", exif=exif)
        pixels = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS).tobytes()
        wanted = {"size": list(SIZE), "mode": "RGB", "sha256": hashlib.sha256(pixels).hexdigest()}
        known = {"image": {"picture": str(path)}, "width": SIZE[0], "height": SIZE[1], "size": list(SIZE)}
        trials.append(Trial("images: resized pixels", name, "sin", "shape", wanted, known))
    return trials


# ---- 2,000 plausible answers -----------------------------------------------------------------------------------------


@cache
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
