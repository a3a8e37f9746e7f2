"""The cases of an audit: questions, options, answers and paths, and what the original makes of each."""

import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.illusion import protocol
from onprompt.illusion.protocol import QUESTIONS, SCENES, SPLITS, Split
from onprompt.illusion.scoring import original

DATA = protocol.load_toml("cases.toml")
INSIDE_WORDS, SYNONYMS = DATA["inside"], DATA["synonyms"]
FORMATTER = string.Formatter()
BOTH = "both shape and scene"
FILLER = "There are many small things in the picture and it seems to be drawn with skill " * 80
MOST = 40  # texts of a point that are tried for one image; the next image has others


class Case(NamedTuple):
    """A case: what is known of it, and what the original makes of it."""

    slot: str  # what is compared, such as `questions.icon.shape` or `scoring.scene`
    point: str  # what it shows
    shown: str
    wanted: Any
    known: Mapping[str, Any]

    @property
    def table(self) -> str:
        """Questions, options, scoring or labels."""
        return self.slot.partition(".")[0]

    @property
    def question(self) -> str:
        """Shape or scene, if the slot is of one."""
        return self.slot.rpartition(".")[2]


def cases() -> list[Case]:
    """All cases of the splits that are published."""
    splits = [split for split in SPLITS.values() if split.paper]
    lists = {"scenes": SCENES, **{split.name: split.shapes for split in splits}}
    return [
        *(question_case(split, question) for split in splits for question in QUESTIONS),
        *(Case(f"options.{name}", name, f"options of {name}", list(lists[name]), {}) for name in lists),
        *(case for split in splits for case in score_cases(split)),
        *(case for split in splits for case in label_cases(split)),
    ]


def score_cases(split: Split) -> Iterator[Case]:
    """Answers in all forms, about every shape and scene of a split."""
    folders = [*split.shapes, *(["Stationary"] if split.name == "icon" else [])]  # the generator's spelling
    images = islice(zip(cycle(folders), cycle(SCENES), strict=False), max(len(folders), len(SCENES)))
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
        "n": name, "l": lower, "u": name.upper(), "t": name.title(), "w": name.swapcase(),
        "in": INSIDE_WORDS.get(lower, f"x{lower}x"), "o": other, "ol": other.lower(), "x": wrong,
        "z": unlike[place % len(unlike)], "fill": FILLER, "all": ", ".join(split.options),
        "rest": ", ".join(option for option in split.options if option != name),
    }  # fmt: skip
    markup = {"m": name, "mx": wrong, "mn": "none"}
    return {
        **{key: [text] for key, text in single.items()},
        **{key: [around.format(text) for around in DATA["parts"]["markup"]] for key, text in markup.items()},
        **{"d": double, "dl": [text.lower() for text in double], "du": [text.upper() for text in double]},
        "y": [*SYNONYMS.get(lower, []), *(part for part in parts if lower not in part)],
    }


def about(split: Split, question: str) -> dict[str, Any]:
    """What any function may be given: the split by its names, and the question."""
    part = "background" if question == "scene" else "shape"
    names = {"split": split.name, "subset": split.paper.lower(), "paper": split.paper}
    return {**names, "question": question, "asked_part": part}


def question_case(split: Split, question: str) -> Case:
    """A question, byte for byte."""
    lists = {"shapes": split.shapes, "scenes": SCENES, "simple": protocol.SIMPLE, "complex": protocol.COMPLEX}
    texts = {f"{kind}_text": ", ".join(listed) for kind, listed in lists.items()}
    texts["options_text"] = f"{texts['shapes_text']},{texts['scenes_text']}"
    known = {**about(split, question), **lists, "options": split.options, **texts}
    slot, shown = f"questions.{split.name}.{question}", f"the {question} question of {split.name}"
    return Case(slot, split.name, shown, split.questions[question], known)


def score_case(split: Split, shape: str, scene: str, answer: str, point: str, question: str) -> Case:
    """Whether an answer counts for what is asked."""
    label = shape if question == "shape" else scene
    single = {"shape": shape, "scene": scene, "label": label, "prediction": answer}
    lists = {"shapes": [shape], "scenes": [scene], "labels": [label], "predictions": [answer], "results": [answer]}
    short = answer if len(answer) <= 60 else f"{answer[:40]}…{answer[-15:]}"
    shown = f"{short!r} for {shape} in {scene}, {question} question"
    wanted = getattr(original(answer, shape, scene, split), question)
    return Case(f"scoring.{question}", point, shown, wanted, {**about(split, question), **single, **lists})


def label_cases(split: Split) -> Iterator[Case]:
    """The labels of files that are named as published, with every shape and scene."""
    shapes = cycle([*split.shapes, "Stationary"] if split.name == "icon" else split.shapes)
    patterns = DATA["paths"].get(split.name, DATA["paths"]["sin"])
    for shape, scene in islice(zip(shapes, cycle(SCENES), strict=False), 22):
        for pattern, question in product(patterns, QUESTIONS):
            path = pattern.format(shape=shape, lower=shape.lower(), scene=scene)
            known = {**about(split, question), "path": path, "file": path.rpartition("/")[2], "path_object": Path(path)}
            wanted = getattr(protocol.gold(path, split), question)
            yield Case(f"labels.{question}", split.name, f"the {question} of {path}", wanted, known)
