"""Finds what a file has that can be tried: by the names of functions and parameters, and by known cases."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.audit import cases
from onprompt.illusion.audit.process import AuditedCode, Call, Reply
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SCENES, SIMPLE, SPLITS, Case, spelling
from onprompt.illusion.scoring import original

NO_FIELD = re.compile("raises IndexError")  # a name that has fewer parts than a function looks for
LONGEST_LABEL = 60  # characters
SURE = 0.75  # agreement of a function whose name does not fit
ALIKE = 0.25  # similarity of a question that is not named for its purpose
TRIES = 48  # ways to pass arguments to one function
SCENE = {"scene", "background", "texture", "bg", "neg"}
SHAPE = {"shape", "class", "object", "category"}
NAMED_SPLITS = {"sin": {"sin", "imagenet"}, "logo": {"logo"}, "icon": {"icon"}, "old_sin": {"old", "conflict"}}
FIELDS = {  # of a sample, by the words in the name of a field: the first that fits
    "scene": sorted(SCENE), "shape": sorted(SHAPE | {"icon", "logo"}),
    "path": ["path", "file", "filename", "image", "img"],
    "split": ["split", "subset", "dataset"], "text": ["question", "prompt", "query"],
    "prediction": ["pred", "prediction", "response", "output", "reply", "completion", "resp", "generated"],
    "label": ["label", "target", "gt", "gold", "truth", "answer", "correct", "solution"],
}  # fmt: skip
SPLIT, DOC = ("split", "subset", "paper"), "doc sample item example row record entry instance d"
ASKED = ("question", "background")
UNKNOWN = {"split": "no such split", "subset": "no such split", "paper": "no such split"}
# What a parameter may be given, by the words in its name: in each role the first line that fits.
PARAMETERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "question": {
        DOC: ("doc",),
        "simple": ("simple", "simple_text"), "complex": ("complex", "complex_text"),
        "background scene texture scenes": ("scenes", "scenes_text"),
        "shape class object shapes icons logos": ("shapes", "shapes_text"),
        "option candidate choice label": ("options", "options_text"),
        "split dataset subset task data name": SPLIT, "question kind type target mode which what": ASKED,
    },
    "score": {
        DOC: ("doc",),
        "scene background texture neg bg": ("scene",),
        "shape class object icon": ("shape", "label"),
        "label gt gold target truth reference correct expected": ("label",),
        "result resp": ("results", "prediction"),
        "pred prediction response output text reply completion generated said raw": ("prediction", "results"),
        "answer": ("prediction", "label"),
        "split dataset subset task": SPLIT, "question kind type mode which": ASKED,
        "": ("prediction", "label", "shape", "scene"),
    },
    "labels": {
        DOC: ("doc",), "split dataset subset task data": SPLIT,
        "path file filename name image img p f": ("path", "file"),
    },
    "totals": {
        "pred prediction answer response": ("predictions",), "shape class": ("shapes",),
        "scene background": ("scenes",), "question kind": ("question",), "": ("hits", "outcomes"),
    },
    "resize": {"image img picture": ("image",), "width w": ("width",), "height h": ("height",), "size": ("size",)},
}  # fmt: skip
ROLES = {  # words in the names of functions that may have a role
    "question": "prompt question text query instruction ask message",
    "score": "score match recall eval evaluate grade process result check correct outcome count classify judge hit",
    "labels": "label gold gt parse class scene shape target truth annotation",
    "totals": "aggregate recall total mean average accuracy summary metric compute rate",
    "resize": "resize load image preprocess prepare",
}


class Use(NamedTuple):
    """A function with the words for what it is given, or a text with placeholders."""

    function: str
    words: tuple[str, ...]
    template: str = ""

    def __str__(self) -> str:
        return f"{self.function}({', '.join(self.words)})" if not self.template else self.function


@dataclass(frozen=True)
class Target:
    """What a re-implementation does: texts and lists, and how its functions are called."""

    questions: Mapping[tuple[str, str], Use] = field(default_factory=dict)  # by split and question
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by split; also scenes, simple and complex
    score: Mapping[str, Use] = field(default_factory=dict)  # by question
    labels: Mapping[str, Use] = field(default_factory=dict)  # by what they return: shape, scene
    totals: Use | None = None
    resize: Use | None = None
    others: Sequence[str] = ()  # functions that look as if they had a role, but were not used


def tokens(name: str) -> list[str]:
    """The words of a name, without plural endings."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [
        word.lower() if word.lower() in ("class", "bus", "loss") else word.lower().rstrip("s") or "s" for word in words
    ]


def named_splits(name: str) -> list[str]:
    """The splits that a name names."""
    words = tokens(name)
    found = [split for split, known in NAMED_SPLITS.items() if known & set(words)]
    if "old_sin" in found:
        return ["old_sin"]
    return found or (["sin"] if "in" in (*words[:1], *words[-2:]) else [])


def named_questions(name: str) -> list[str]:
    """The questions that a name names; an index where there are two texts."""
    words = set(tokens(name))
    found = [question for question, known in (("shape", SHAPE), ("scene", SCENE)) if known & words]
    return found or [QUESTIONS[int(name[-2])]] if name.endswith(("[0]", "[1]")) or found else []


# ---- what a function is given, and what it returns -------------------------------------------------------------------


def given(words: Sequence[str], split: str, more: Any = None, **known: Any) -> list[Any]:
    """The values of words, for a split and whatever else is known."""
    about = SPLITS[split]
    lists = {"shapes": about.shapes, "scenes": SCENES, "simple": SIMPLE, "complex": COMPLEX, "options": about.options}
    joined = {f"{name}_text": joined_options(name, split, options) for name, options in lists.items()}
    values: dict[str, Any] = {
        "split": split,
        "subset": about.paper.lower() or split,
        "paper": about.paper or split,
        **joined,
    }
    values |= {name: list(options) for name, options in lists.items()} | known | (more or {})
    if question := known.get("question"):
        values["background"] = "background" if question == "scene" else question
    values["doc"] = {"names": FIELDS, "text": "", **{name: values[name] for name in FIELDS if name in values}}
    unknown = [word for word in words if word not in values and word[:1] not in "'\"0123456789"]
    if unknown:
        raise UserError(f"an argument {unknown[0]!r} is not known here; there are {', '.join(sorted(values))}")
    return [values[word] if word in values else ast.literal_eval(word) for word in words]


def joined_options(name: str, split: str, options: Sequence[str]) -> str:
    """Options as the original joins them."""
    separator = "," if (split, name) == ("old_sin", "shapes") else ", "
    if name == "options":
        return f"{joined_options('shapes', split, SPLITS[split].shapes)},{', '.join(SCENES)}"
    return separator.join(options)


def known_of(case: Case) -> dict[str, Any]:
    """What can be told of an answer."""
    path = cases.published_path(case.split, case.shape, case.scene)
    return {
        "question": case.question, "shape": case.shape, "scene": case.scene, "label": case.label, "path": path,
        "prediction": case.answer, "lower_prediction": case.answer.lower(), "results": [case.answer],
    }  # fmt: skip


def texts_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a value, with their names: keys and indices."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_in(item, f"{name}[{key}]")


def read_text(reply: Reply, split: str, question: str) -> str | None:
    """The question in what a function returns, if there is one for this split."""
    texts = list(texts_in(reply.value))
    fitting = [
        text
        for name, text in texts
        if split in (named_splits(name) or [split]) and question in (named_questions(name) or [question])
    ]
    return max(fitting, key=len, default=None)


def read_score(reply: Reply, question: str) -> dict[str, bool] | None:
    """What an answer counts for: shape, scene, rest, as far as the function says; None if it says nothing of that."""
    value = reply.value
    if isinstance(value, str):
        word = {"texture": "scene", "background": "scene", "none": "rest", "neither": "rest", "other": "rest"}
        kind = word.get(value.lower(), value.lower())
        return (
            {name: name == kind for name in ("shape", "scene", "rest")} if kind in ("shape", "scene", "rest") else None
        )
    if isinstance(value, list) and len(value) in (2, 3):
        value = dict(zip(("shape", "scene", "rest"), value, strict=False))
    if not isinstance(value, dict):
        value = {question: value}
    found = {}
    for name, count in value.items():
        kinds = named_questions(str(name)) or (
            ["rest"] if {"rest", "other", "neither"} & set(tokens(str(name))) else []
        )
        if (kinds or len(value) == 1) and isinstance(count, int | float) and count in (0, 1):
            found[kinds[0] if kinds else question] = bool(count)
    return found or None


def read_labels(reply: Reply, wanted: str) -> str | None:
    """The label of a path."""
    value = reply.value
    if isinstance(value, list) and len(value) >= 2:
        value = value[QUESTIONS.index(wanted)]
    if isinstance(value, dict):
        value = next((item for name, item in value.items() if wanted in named_questions(str(name))), None)
    return value if isinstance(value, str) and len(value) <= LONGEST_LABEL else None


# ---- finding ---------------------------------------------------------------------------------------------------------


def find(code: AuditedCode) -> Target:
    """All that a file has, best first: named for its purpose, not called by another function, close to the original."""
    questions = find_questions(code)
    score = find_by_question(code, "score", agreement_of_scores)
    labels = find_by_question(code, "labels", agreement_of_labels)
    totals = best(code, "totals", agreement_of_totals)
    resize = best(
        code, "resize", lambda _, use, __: float("image" in use.words and bool({"width", "size"} & set(use.words)))
    )
    used = {use.function for use in (*questions.values(), *score.values(), *labels.values()) if use}
    likely = {name for role in ("question", "score") for name in candidates(code, role)}
    others = sorted(name for name in likely - used if not code.functions[name]["used"])
    return Target(questions, find_options(code.values), score, labels, totals, resize, others)


def candidates(code: AuditedCode, role: str) -> list[str]:
    """Functions whose names fit a role."""
    words = set(ROLES[role].split())
    return [name for name in code.functions if words & set(tokens(name))]


def uses(code: AuditedCode, name: str, role: str) -> Iterator[Use]:
    """The ways to call a function in a role: parameters with a default are left alone unless their name is known."""
    choices: list[tuple[str, ...]] = []
    for parameter, has_default in code.functions[name]["parameters"]:
        words, table = set(tokens(parameter)), PARAMETERS[role]
        fitting = next((values for names, values in table.items() if words & set(names.split())), None)
        if fitting is None and has_default:
            break
        if fitting is None and "" not in table:
            return
        choices.append(fitting or table[""])
    for given_words in islice(product(*choices), TRIES):
        if len(set(given_words)) == len(given_words):
            yield Use(name, given_words)


def best(
    code: AuditedCode, role: str, agreement: Callable[[AuditedCode, Use, str], float], question: str = ""
) -> Use | None:
    """The use that agrees best with the original, of the function that is best by its name."""
    found = []
    for name, about in code.functions.items():
        named = named_questions(name)
        fits = bool(set(ROLES[role].split()) & set(tokens(name))) and (
            not question or question in (named or [question])
        )
        tried = [(agreement(code, use, question), use) for use in uses(code, name, role)]
        share, use = max(tried, key=lambda pair: pair[0], default=(0.0, None))
        if use and share >= (0.1 if fits else SURE):
            rank = (not fits, about["used"], name.startswith("_"), named != [question], -round(share, 1))
            found.append(((*rank, len(tokens(name)), name), use))
    return min(found, default=(None, None))[1]


def find_by_question(code: AuditedCode, role: str, agreement: Callable[..., float]) -> dict[str, Use]:
    """A use for each question."""
    found = {question: best(code, role, agreement, question) for question in QUESTIONS}
    return {question: use for question, use in found.items() if use}


PROBES = [
    ("Cat", "Ocean", "Cat"),
    ("Cat", "Ocean", "Ocean"),
    ("Cat", "Ocean", "zebra"),
    ("Cat", "Ocean", "I see a cat here."),
]


def agreement_of_scores(code: AuditedCode, use: Use, question: str) -> float:
    """The share of some plain answers that count as in the original; 0 unless the score depends on the answer."""
    if not {"prediction", "results", "doc"} & set(use.words):
        return 0.0
    tried = [Case("sin", question, *probe) for probe in PROBES]
    calls: list[Call] = [(use.function, given(use.words, case.split, **known_of(case)), {}) for case in tried]
    scores = [read_score(reply, question) for reply in code.call_all(calls)]
    if None in scores or len({str(score) for score in scores}) < 2:
        return 0.0
    right = [original(case.answer, case.shape, case.scene, SPLITS["sin"]) for case in tried]
    hits = [score.get(question) == getattr(is_, question) for score, is_ in zip(scores, right, strict=True) if score]
    return float(max(0.1, sum(hits) / len(hits)))


def agreement_of_labels(code: AuditedCode, use: Use, wanted: str) -> float:
    """The share of some published names with the original's labels, but for their case; 0 if it has no labels."""
    tried = [
        ("sin", "Cat", "Ocean"),
        ("sin", "Dolphin", "City"),
        ("logo", "Nike", "Forest"),
        ("icon", "Music", "Cloud"),
    ]
    calls = [labels_call(use, each[0], cases.published_path(*each)) for each in tried]
    replies = code.call_all(calls)
    found = [read_labels(reply, wanted) for reply in replies]
    if "doc" in use.words or not any(
        label is not None or NO_FIELD.match(reply.error) for label, reply in zip(found, replies, strict=True)
    ):
        return 0.0
    right = [each[1 + QUESTIONS.index(wanted)].lower() for each in tried]
    return max(0.1, sum((label or "").lower() == each for label, each in zip(found, right, strict=True)) / len(right))


def labels_call(use: Use, split: str, path: str) -> Call:
    """How the labels of a path are asked for."""
    return use.function, given(use.words, split, path=path, file=path.rpartition("/")[2]), {}


def agreement_of_totals(code: AuditedCode, use: Use, _: str) -> float:
    """Whether a sum of answers is a number that depends on them."""
    calls = [sums_call(use, name, "shape") for name in cases.SUMS]
    numbers = [reply.value for reply in code.call_all(calls) if isinstance(reply.value, int | float)]
    return 1.0 if len(set(numbers)) > 1 else 0.0


def sums_call(use: Use, name: str, question: str) -> Call:
    """How a recall is asked for."""
    rows = cases.SUMS[name]
    counted = [original(answer, *labels, SPLITS["sin"]) for labels, answer in rows]
    outcomes = ["shape" if each.shape else "scene" if each.scene else "rest" for each in counted]
    known = {
        "outcomes": outcomes, "hits": [int(outcome == question) for outcome in outcomes], "question": question,
        "predictions": [answer for _, answer in rows], "shapes": [labels[0] for labels, _ in rows],
        "scenes": [labels[1] for labels, _ in rows],
    }  # fmt: skip
    return use.function, given(use.words, "sin", **known), {}


def find_questions(code: AuditedCode) -> dict[tuple[str, str], Use]:
    """The function or text for each question: named after its split and kind, or given them, if it can be."""
    ways = {name: list(uses(code, name, "question")) for name in candidates(code, "question")}
    ways |= {name: [Use(name, (), text)] for name, text in texts_in(code.values) if text.count(" ") > 8}
    found: dict[tuple[str, str], tuple[Any, Use]] = {}
    for name, tried in ways.items():
        splits, asked = named_splits(name), named_questions(name)
        keys = [(split, question) for split in splits or SPLITS for question in asked or QUESTIONS]
        best: tuple[float, Use | None, dict[tuple[str, str], str]] = 0.0, None, {}
        for use in tried:
            texts = {key: text for key in keys if (text := question_text(code, use, *key)) and "image" in text.lower()}
            if not splits and not {*SPLIT, "doc"} & set(use.words):
                texts = closest(texts)
            likeness = sum(similarity(text, key) for key, text in texts.items())
            best = max(best, (likeness, use, texts), key=lambda each: each[0])
        likeness, chosen, texts = best
        for key, text in texts.items():
            if not chosen or (
                key[0] == "old_sin" and not splits and text == question_text(code, chosen, *key, UNKNOWN)
            ):
                continue  # it does not know this split
            vague = 2 - bool(splits or {*SPLIT} & set(chosen.words)) - bool(asked or {*ASKED} & set(chosen.words))
            used = code.functions.get(name, {}).get("used", False)
            if vague and similarity(text, key) < ALIKE:
                continue
            rank = (vague, used, len(set(tokens(name))), -round(similarity(text, key), 3))
            if key not in found or rank < found[key][0]:
                found[key] = rank, chosen
    return {key: use for key, (_, use) in found.items()}


def closest(texts: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """The questions that a text without a split's name is closest to."""
    near = {key: similarity(text, key) for key, text in texts.items() if key[0] != "old_sin"}
    return {key: texts[key] for key, ratio in near.items() if ratio > max(near.values()) - 1e-6}


def similarity(text: str, key: tuple[str, str]) -> float:
    """How alike a text and the original's are."""
    original_text = SPLITS[key[0]].questions[key[1]]
    matcher = difflib.SequenceMatcher(None, text.split(), original_text.split(), autojunk=False)
    return matcher.ratio() if text != original_text else 1.0


def question_text(
    code: AuditedCode, use: Use, split: str, question: str, more: Mapping[str, str] | None = None
) -> str | None:
    """The text of a question as the model gets it."""
    if use.template:
        return filled(use.template, split)
    known = {
        "question": question,
        "shape": "Cat",
        "scene": "Ocean",
        "path": cases.published_path(split, "Cat", "Ocean"),
    }
    (reply,) = code.call_all([(use.function, given(use.words, split, more, **known), {})])
    return read_text(reply, split, question)


def filled(template: str, split: str) -> str | None:
    """A text with placeholders such as {shapes} or {icon_string}, filled in as the original joins them."""

    def fill(found: re.Match[str]) -> str:
        words = set(tokens(found[1]))
        for names, (name, *_) in PARAMETERS["question"].items():
            fits = words & set(names.split()) or (name == "shapes" and words & {"icon", "logo", "sin"})
            if fits and f"{name}_text" in values:
                return str(values[f"{name}_text"])
        return found[0]

    lists = ("shapes", "scenes", "simple", "complex", "options")
    values = dict(zip(words := [f"{name}_text" for name in lists], given(words, split), strict=True))
    return re.sub(r"\{(\w+)\}", fill, template)


def find_options(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The lists of options, by what is in them."""
    wanted = {
        **{name: split.shapes for name, split in SPLITS.items()},
        "scenes": SCENES,
        "simple": SIMPLE,
        "complex": COMPLEX,
    }
    found: dict[str, tuple[float, list[str]]] = {}
    for name, listed in lists_in(values):
        own = {spelling(option) for option in listed}
        for kind, options in wanted.items():
            known = {spelling(option) for option in options}
            share = len(own & known) / max(1, len(own | known))
            share += 0.01 * (kind in named_splits(name))
            if share > 0.6 and share > found.get(kind, (0.0, []))[0]:
                found[kind] = share, listed
    return {kind: listed for kind, (_, listed) in found.items()}


def lists_in(value: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """All lists of texts in a value; the keys of a table of texts are one, too."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield name, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from lists_in(item, f"{name}[{key}]")
