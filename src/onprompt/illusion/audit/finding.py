"""Finds what a file has that can be tried: by the names of functions and parameters, and by known cases."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, product
from typing import Any, NamedTuple

from onprompt.errors import UserError
from onprompt.illusion.audit import cases
from onprompt.illusion.audit.cases import Trial
from onprompt.illusion.audit.process import AuditedCode, Call, Reply
from onprompt.illusion.protocol import COMPLEX, QUESTIONS, SCENES, SIMPLE, SPLITS, Case, spelling

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
UNKNOWN = dict.fromkeys(SPLIT, "no such split")
CLOSE = 0.0006  # of two recalls, one with three digits or a percentage with one
PLAIN = ("Cat", "Ocean", "zebra", "I see a cat here.")  # answers about a cat in the ocean
KINDS = {"shape": {"shape"}, "scene": {"scene", "texture", "background"}, "rest": {"rest", "none", "neither", "other"}}
LABELLED = [("sin", "Cat", "Ocean"), ("sin", "Dolphin", "City"), ("logo", "Nike", "Forest"), ("icon", "Music", "Cloud")]
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
    """What a re-implementation does: how its functions are called, by role, split and question; and its lists."""

    uses: Mapping[tuple[str, str, str], Use] = field(default_factory=dict)
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by split; also scenes, simple and complex
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


def call(use: Use, trial: Trial, more: Mapping[str, str] | None = None) -> Call:
    """A call, with the values of its words for a trial."""
    background = "background" if trial.question == "scene" else "shape"
    values = {**of_split(trial.split), "question": trial.question, "background": background, **trial.known}
    values |= more or {}
    if "doc" in use.words:
        values["doc"] = {"names": FIELDS, "text": "", **{name: values[name] for name in FIELDS if name in values}}
    for word in use.words:
        if word not in values and word[:1] not in "'\"0123456789":
            raise UserError(f"an argument {word!r} is not known here; there are {', '.join(sorted(values))}, doc")
    return use.function, [values[word] if word in values else ast.literal_eval(word) for word in use.words]


@cache
def of_split(name: str) -> Mapping[str, Any]:
    """What any trial of a split can be given: its names, and its lists of options, also as the original joins them."""
    split = SPLITS[name]
    lists = {"shapes": split.shapes, "scenes": SCENES, "simple": SIMPLE, "complex": COMPLEX, "options": split.options}
    texts = {kind: ", ".join(listed) for kind, listed in lists.items()}
    texts["shapes"] = ("," if name == "old_sin" else ", ").join(split.shapes)
    texts["options"] = f"{texts['shapes']},{texts['scenes']}"
    names = {"split": name, "subset": split.paper.lower() or name, "paper": split.paper or name}
    return {**names, **lists, **{f"{kind}_text": text for kind, text in texts.items()}}


def filled(template: str, split: str) -> str:
    """A text with placeholders such as {shapes} or {icon_string}, filled in as the original joins them."""

    def fill(found: re.Match[str]) -> str:
        words = set(tokens(found[1]))
        for names, (name, *_) in PARAMETERS["question"].items():
            fits = words & set(names.split()) or (name == "shapes" and words & {"icon", "logo", "sin"})
            if fits and f"{name}_text" in of_split(split):
                return str(of_split(split)[f"{name}_text"])
        return found[0]

    return re.sub(r"\{(\w+)\}", fill, template)


def ask(code: AuditedCode, use: Use, trials: Sequence[Trial], again: bool = False) -> list[Reply]:
    """What a function replies in each trial; a text with placeholders is filled in."""
    if use.template:
        return [Reply(filled(use.template, trial.split)) for trial in trials]
    return code.call_all([call(use, trial) for trial in trials], again)


def inside(value: Any, wanted: Callable[[Any], bool], name: str = "") -> Iterator[tuple[str, Any]]:
    """All wanted values in a value, with their names: keys and indices."""
    if wanted(value):
        yield name, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from inside(item, wanted, f"{name}[{key}]")


def is_text(value: Any) -> bool:
    """Whether a value may be a question."""
    return isinstance(value, str)


def is_list(value: Any) -> bool:
    """Whether a value may be a list of options."""
    return isinstance(value, list) and bool(value) and all(map(is_text, value))


def read(role: str, reply: Reply, trial: Trial) -> Any:
    """What a reply says of a trial; None if it says nothing of that."""
    value, question = reply.value, trial.question
    if role == "question":
        fitting = [
            text
            for name, text in inside(value, is_text)
            if trial.split in (named_splits(name) or [trial.split])
            and question in (named_questions(name) or [question])
        ]
        return max(fitting, key=len, default=None)
    if role == "score":
        return read_score(value, question)
    if role == "resize":
        return value if isinstance(value, dict) else None
    if role == "labels" and reply.error.startswith("raises IndexError"):
        return ""  # the name has fewer parts than the function looks for
    if role == "labels" and isinstance(value, list) and len(value) >= 2:
        value = value[QUESTIONS.index(question)]
    if isinstance(value, dict):
        value = next((item for name, item in value.items() if question in named_questions(str(name))), None)
    if role == "labels":
        return value if isinstance(value, str) and len(value) <= LONGEST_LABEL else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value == value else None


def read_score(value: Any, question: str) -> dict[str, bool] | None:
    """What an answer counts for: shape, scene, rest, as far as the function says."""
    if isinstance(value, str):
        kind = next((kind for kind, names in KINDS.items() if value.lower() in names), "")
        return {name: name == kind for name in KINDS} if kind else None
    if isinstance(value, list) and len(value) in (2, 3):
        value = dict(zip(KINDS, value, strict=False))
    if not isinstance(value, dict):
        value = {question: value}
    found = {}
    for name, count in value.items():
        kinds = named_questions(str(name)) or (["rest"] if KINDS["rest"] & set(tokens(str(name))) else [])
        if (kinds or len(value) == 1) and isinstance(count, int | float) and count in (0, 1):
            found[kinds[0] if kinds else question] = bool(count)
    return found or None


def agree(role: str, wanted: Any, found: Any) -> bool:
    """Whether the original and a re-implementation make the same of a trial, as far as both say."""
    if role == "score":
        return all(wanted[name] == counts for name, counts in found.items())
    if role == "totals":
        return bool(abs(wanted - (found / 100 if found > 1 else found)) < CLOSE)
    return bool(wanted == found)


# ---- finding ---------------------------------------------------------------------------------------------------------


def find(code: AuditedCode) -> Target:
    """All that a file has, best first: named for its purpose, not called by another function, close to the original."""
    found: dict[tuple[str, str, str], Use] = find_questions(code)
    for role in ("score", "labels", "totals", "resize"):
        for question in QUESTIONS:
            if use := best(code, role, question):
                found |= {(role, split, question): use for split in SPLITS}
    used = {use.function for (role, *_), use in found.items() if role in ("question", "score", "labels")}
    likely = {name for role in ("question", "score") for name in candidates(code, role)}
    others = sorted(name for name in likely - used if not code.functions[name]["used"])
    return Target(found, find_options(code.values), others)


def candidates(code: AuditedCode, role: str) -> list[str]:
    """Functions whose names fit a role."""
    words = set(ROLES[role].split())
    return [name for name in code.functions if words & set(tokens(name))]


def ways(code: AuditedCode, name: str, role: str) -> Iterator[Use]:
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
    for given in islice(product(*choices), TRIES):
        if len(set(given)) == len(given):
            yield Use(name, given)


def best(code: AuditedCode, role: str, question: str) -> Use | None:
    """The use that agrees best with the original, of the function that is best by its name."""
    found = []
    fitting = candidates(code, role)
    for name, about in code.functions.items():
        named = named_questions(name)
        fits = name in fitting and (role in ("totals", "resize") or question in (named or [question]))
        tried = [(agreement(code, use, role, question), use) for use in ways(code, name, role)]
        share, use = max(tried, key=lambda pair: pair[0], default=(0.0, None))
        if use and share >= (0.1 if fits else SURE):
            rank = (not fits, about["used"], name.startswith("_"), named != [question], -round(share, 1))
            found.append(((*rank, len(tokens(name)), name), use))
    return min(found, default=(None, None))[1]


def agreement(code: AuditedCode, use: Use, role: str, question: str) -> float:
    """The share of some plain trials in which a function does what the original does; 0 if it has another purpose."""
    given = set(use.words)
    if role == "resize":
        return float("image" in given and bool({"width", "size"} & given))
    if (role == "score" and not {"prediction", "results", "doc"} & given) or (role == "labels" and "doc" in given):
        return 0.0
    trials = {
        "score": [cases.score_trial(Case("sin", question, "Cat", "Ocean", answer)) for answer in PLAIN],
        "labels": [cases.label_trial(each[0], cases.published_path(*each), "", question) for each in LABELLED],
        "totals": [cases.sum_trial(name, question) for name in cases.SUMS],
    }[role]
    found = [read(role, reply, trial) for reply, trial in zip(ask(code, use, trials), trials, strict=True)]
    known = [(trial.wanted, value) for trial, value in zip(trials, found, strict=True) if value is not None]
    different = len({str(value) for _, value in known})
    if not known or (role == "score" and len(known) < len(trials)) or (role != "labels" and different < 2):
        return 0.0
    same = [agree(role, wanted, value) or str(wanted).lower() == str(value).lower() for wanted, value in known]
    return max(0.1, sum(same) / len(trials))


def find_questions(code: AuditedCode) -> dict[tuple[str, str, str], Use]:
    """The function or text for each question: named after its split and kind, or given them, if it can be."""
    tries = {name: list(ways(code, name, "question")) for name in candidates(code, "question")}
    tries |= {name: [Use(name, (), text)] for name, text in inside(code.values, is_text) if text.count(" ") > 8}
    found: dict[tuple[str, str], tuple[Any, Use]] = {}
    for name, uses in tries.items():
        splits, asked = named_splits(name), named_questions(name)
        trials = [cases.asked_trial(split, question) for split in splits or SPLITS for question in asked or QUESTIONS]
        chosen, near = Use(name, ()), dict[tuple[str, str], float]()
        for use in uses:
            texts = [
                (trial, read("question", reply, trial))
                for reply, trial in zip(ask(code, use, trials), trials, strict=True)
            ]
            close = {
                (t.split, t.question): similarity(text, t) for t, text in texts if text and "image" in text.lower()
            }
            if not splits and not {*SPLIT, "doc"} & set(use.words):  # which split it is for shows in its text alone
                close = {key: share for key, share in close.items() if key[0] != "old_sin"}
                close = {key: share for key, share in close.items() if share > max(close.values()) - 1e-6}
            elif not splits:
                close = {
                    key: share for key, share in close.items() if key[0] != "old_sin" or knows_it(code, use, key[1])
                }
            if sum(close.values()) > sum(near.values()):
                chosen, near = use, close
        for key, share in near.items():
            vague = 2 - bool(splits or {*SPLIT} & set(chosen.words)) - bool(asked or {*ASKED} & set(chosen.words))
            used = code.functions.get(name, {}).get("used", False)
            rank = (vague, used, len(set(tokens(name))), -round(share, 3))
            if (not vague or share >= ALIKE) and (key not in found or rank < found[key][0]):
                found[key] = rank, chosen
    return {("question", *key): use for key, (_, use) in found.items()}


def knows_it(code: AuditedCode, use: Use, question: str) -> bool:
    """Whether a function asks about cue conflicts something else than about a split that does not exist."""
    trial = cases.asked_trial("old_sin", question)
    known, unknown = (code.call_all([call(use, trial, more)])[0] for more in ({}, UNKNOWN))
    return bool(read("question", known, trial) != read("question", unknown, trial))


def similarity(text: str, trial: Trial) -> float:
    """How alike a text and the original's are."""
    matcher = difflib.SequenceMatcher(None, text.split(), trial.wanted.split(), autojunk=False)
    return matcher.ratio() if text != trial.wanted else 1.0


def find_options(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The lists of options, by what is in them."""
    wanted = {name: split.shapes for name, split in SPLITS.items()}
    wanted |= {"scenes": SCENES, "simple": SIMPLE, "complex": COMPLEX}
    found: dict[str, tuple[float, list[str]]] = {}
    for name, listed in inside(values, is_list):
        own = {spelling(option) for option in listed}
        for kind, options in wanted.items():
            known = {spelling(option) for option in options}
            share = len(own & known) / max(1, len(own | known)) + 0.01 * (kind in named_splits(name))
            if share > max(0.6, found.get(kind, (0.0,))[0]):
                found[kind] = share, listed
    return {kind: listed for kind, (_, listed) in found.items()}
