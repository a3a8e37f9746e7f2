"""The cases of an audit: questions, options, answers, paths, sums and pictures, and what the original makes of each."""

import hashlib
import random
import re
import statistics
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from onprompt.illusion import protocol
from onprompt.illusion.protocol import QUESTIONS, SCENES, SPLITS, Split
from onprompt.illusion.scoring import original

DATA = protocol.load_toml("cases.toml")
INSIDE_WORDS, SYNONYMS = DATA["inside"], DATA["synonyms"]
FORMATTER = string.Formatter()
BOTH = "both shape and scene"
FILLER = "There are many small things in the picture and it seems to be drawn with skill " * 80
MOST = 40  # texts of a point that are tried for one image; the next image has others
SAMPLE = 2000  # answers that effects are measured on
SIZE = (40, 24)  # that pictures are resized to


class Case(NamedTuple):
    """A case: what is known of it, and what the original makes of it."""

    slot: str  # what is compared, such as `questions.icon.shape` or `scoring.scene`
    point: str  # what it shows
    shown: str
    wanted: Any
    known: Mapping[str, Any]

    @property
    def table(self) -> str:
        """Questions, options, scoring, labels, totals or images."""
        return self.slot.partition(".")[0]

    @property
    def question(self) -> str:
        """Shape or scene, if the slot is of one."""
        return self.slot.rpartition(".")[2]


def cases(splits: Sequence[Split] = tuple(SPLITS.values())) -> list[Case]:
    """All cases of some splits."""
    lists = {"scenes": SCENES, **{split.name: split.shapes for split in splits}}
    return [
        *(question_case(split, question) for split in splits for question in QUESTIONS),
        *(Case(f"options.{name}", name, f"options of {name}", list(lists[name]), {}) for name in lists),
        *(case for split in splits if split.paper for case in score_cases(split)),
        *(case for split in splits for case in label_cases(split)),
        *(sum_case(name, question) for name in DATA["sums"] for question in QUESTIONS),
        *pictures(),
    ]


def score_cases(split: Split) -> Iterator[Case]:
    """Answers in all forms, about every shape and scene of a split."""
    names = folders(split)
    images = islice(zip(cycle(names), cycle(SCENES), strict=False), max(len(names), len(SCENES)))
    for number, (shape, scene) in enumerate(images):
        said: dict[tuple[str, str], None] = {}
        for (point, patterns), name in product(DATA["answers"].items(), (shape, scene)):
            texts = list(answers(patterns, forms_of(name, shape, scene, split)))
            thinned = 1 + len(texts) // MOST
            for text in texts[number % thinned :: thinned]:
                both = shape.lower() in text.lower() and scene.lower() in text.lower()
                said[text, BOTH if both else point.format(kind="shape" if name == shape else "scene")] = None
        for (text, point), question in product(said, QUESTIONS):
            yield score_case(split, shape, scene, text, point, question)


def answers(patterns: Iterable[str], forms: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Patterns with each form of what they name; one that an option lacks, such as a second word, gives no answer."""
    for pattern in patterns:
        names = [name for _, name, _, _ in FORMATTER.parse(pattern) if name]
        for values in product(*(forms[name] for name in names)):
            yield pattern.format(**dict(zip(names, values, strict=True)))


def forms_of(name: str, shape: str, scene: str, split: Split) -> dict[str, Sequence[str]]:
    """What the placeholders of cases.toml stand for."""
    first, *second = re.split("[_ ]", name)
    kinds = (split.shapes, SCENES) if name == shape else (SCENES, split.shapes)
    alike, unlike = ([option for option in kind if option not in (shape, scene)] for kind in kinds)
    place = kinds[0].index(name) if name in kinds[0] else 0
    wrong, other, lower = alike[place % len(alike)], scene if name == shape else shape, name.lower()
    parts = [lower[:3], lower[: len(name) // 2], lower[-4:], lower[:2] + lower[3:], *re.split("[_ ]", lower)]
    double = [first + between + second[0] for between in DATA["parts"]["separators"]] if second else []
    single = {
        "n": name, "l": lower, "u": name.upper(), "t": name.title(), "w": name.swapcase(), "s": name.replace("_", " "),
        "h": re.sub("[_ ]", "-", name), "in": INSIDE_WORDS.get(lower, f"x{lower}x"), "o": other, "ol": other.lower(),
        "x": wrong, "z": unlike[place % len(unlike)], "fill": FILLER, "all": ", ".join(split.options),
        "rest": ", ".join(option for option in split.options if option != name),
    }  # fmt: skip
    markup = {"m": name, "mx": wrong, "mn": "none"}
    return {
        **{key: [text] for key, text in single.items()},
        **{key: [around.format(text) for around in DATA["parts"]["markup"]] for key, text in markup.items()},
        **{"d": double, "dl": [text.lower() for text in double], "du": [text.upper() for text in double]},
        "y": [*SYNONYMS.get(lower, []), *(part for part in parts if lower not in part)],
    }


def sample() -> Iterator[Case]:
    """Answers that are right as often as those of the paper's models, on average, in assumed forms."""
    dice = random.Random(4)  # noqa: S311 no secret
    points, splits = DATA["sample"], [split for split in SPLITS.values() if split.paper]
    for number in range(SAMPLE):
        split, question = splits[number % len(splits)], QUESTIONS[number // len(splits) % 2]
        shape, scene = dice.choice(split.shapes), dice.choice(SCENES)
        asked, other = (shape, scene) if question == "shape" else (scene, shape)
        wrong = dice.choice([name for name in split.options if name not in (shape, scene)])
        rate = statistics.mean(by[split.paper][QUESTIONS.index(question)] for by in protocol.PUBLISHED.values())
        named = asked if 100 * dice.random() < rate else dice.choice([other, wrong])
        (point,) = dice.choices(list(points), [each["weight"] for each in points.values()])
        forms = forms_of(named, named if named in split.shapes else shape, scene, split)
        (answer,) = answers([dice.choice(points[point]["forms"])], forms)
        kind = "shape" if named in split.shapes else "scene"
        yield score_case(split, shape, scene, answer, point.format(kind=kind), question)


def about(split: Split, question: str) -> dict[str, Any]:
    """What any function may be given: the split by its names, and the question."""
    part = "background" if question == "scene" else "shape"
    paper = split.paper or split.name
    names = {"split": split.name, "subset": paper.lower(), "paper": paper}
    return {**names, "question": question, "asked_part": part}


def question_case(split: Split, question: str) -> Case:
    """A question, byte for byte."""
    lists = {"shapes": split.shapes, "scenes": SCENES, "simple": protocol.SIMPLE, "complex": protocol.COMPLEX}
    texts = {f"{kind}_text": ", ".join(listed) for kind, listed in lists.items()}
    texts["shapes_text"] = ("," if split.name == "old_sin" else ", ").join(split.shapes)
    texts["options_text"] = f"{texts['shapes_text']},{texts['scenes_text']}"
    known = {**about(split, question), **lists, "options": split.options, **texts}
    slot, shown = f"questions.{split.name}.{question}", f"the {question} question of {split.name}"
    return Case(slot, split.name, shown, split.questions[question], known)


def score_case(split: Split, shape: str, scene: str, answer: str, point: str, question: str) -> Case:
    """Whether an answer counts for what is asked."""
    label = shape if question == "shape" else scene
    single = {"shape": shape, "scene": scene, "label": label, "prediction": answer}
    single["lower_prediction"] = answer.lower()
    lists = {"shapes": [shape], "scenes": [scene], "labels": [label], "predictions": [answer], "results": [answer]}
    short = answer if len(answer) <= 60 else f"{answer[:40]}…{answer[-15:]}"
    shown = f"{short!r} for {shape} in {scene}, {question} question"
    wanted = getattr(original(answer, shape, scene, split), question)
    return Case(f"scoring.{question}", point, shown, wanted, {**about(split, question), **single, **lists})


def folders(split: Split) -> list[str]:
    """The folders of a split, one of them in the generator's spelling, too."""
    return [*split.shapes, *(["Stationary"] if split.name == "icon" else [])]


def paths(split: Split, shape: str, scene: str) -> list[str]:
    """The paths of two images as they are published."""
    patterns = DATA["paths"].get(split.name, DATA["paths"]["sin"])
    return [pattern.format(shape=shape, lower=shape.lower(), scene=scene) for pattern in patterns]


def label_cases(split: Split) -> Iterator[Case]:
    """The labels of files that are named as published, with every shape and scene."""
    scenes = protocol.scenes(split)
    images = zip(cycle(folders(split)), cycle(scenes[3:] + scenes[:3]), strict=False)
    for shape, scene in islice(images, 22):
        yield from (label_case(split, path, q) for path, q in product(paths(split, shape, scene), QUESTIONS))


def label_case(split: Split, path: str, question: str) -> Case:
    """A label of a file, by its path."""
    known = {**about(split, question), "path": path, "file": path.rpartition("/")[2], "path_object": Path(path)}
    wanted = getattr(protocol.gold(path, split), question)
    return Case(f"labels.{question}", split.name, f"the {question} of {path}", wanted, known)


def sum_case(name: str, question: str) -> Case:
    """The share of some answers that count for what is asked."""
    rows = [row.split("|") for row, times in DATA["sums"][name].items() for _ in range(times)]
    scores = [original(answer, shape, scene, SPLITS["sin"]) for shape, scene, answer in rows]
    outcomes = [next(kind for kind in ("shape", "scene", "rest") if getattr(each, kind)) for each in scores]
    hits = [int(outcome == question) for outcome in outcomes]
    shapes, scenes, predictions = map(list, zip(*rows, strict=True))
    known = {"question": question, "outcomes": outcomes, "hits": hits, "predictions": predictions}
    known |= {"shapes": shapes, "scenes": scenes, "labels": shapes if question == "shape" else scenes}
    known["docs"] = [dict(zip(("shape", "scene", "prediction"), row, strict=True), question=question) for row in rows]
    return Case(f"totals.{question}", "how answers are summed up", name, float(statistics.mean(hits)), known)


def pictures() -> Iterator[Case]:
    """Pictures that tell resizes apart: edges, gradients and transparency, in several sizes and modes."""
    rings, steps = Image.radial_gradient("L"), Image.linear_gradient("L")
    whole = Image.merge("RGBA", (rings, steps, rings.point(lambda value: 37 * value % 256), steps.rotate(90)))
    for mode, side in product(("RGBA", "L", "P"), (16, 64, 200)):
        image = whole.resize((side, side), Image.Resampling.NEAREST).convert(mode)
        image.save(file := BytesIO(), "PNG")
        known = {"image": file.getvalue(), "width": SIZE[0], "height": SIZE[1], "size": SIZE}
        wanted = pixels(image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS))
        yield Case("images", "resized pixels", f"a picture of {side} × {side}, {mode}", wanted, known)


def pixels(image: Image.Image) -> str:
    """What is compared of a picture, in words."""
    return f"{image.width} × {image.height} {image.mode}, pixels {hashlib.sha256(image.tobytes()).hexdigest()[:12]}"
