"""Faithful copies of IllusionBench's original, each written differently: the material of illusion_audit.py."""

# ruff: noqa: E501 a copy may have long lines

from onprompt.illusion.protocol import SPLITS

LISTS = """
SIN = ["Airplane", "Bicycle", "Bird", "Bottle", "Car", "Cat", "Dog", "Dolphin", "Fork", "Guitar", "Mug", "Panda",
       "Paper_clip", "Sailboat", "Scooter", "Teapot"]
LOGO = ["Adidas", "Amazon", "Apple", "Audi", "BMW", "Mercedes Benz", "Facebook", "Google", "Instagram", "Mcdonalds",
        "Nasa", "Nike", "Olympics", "Playstation", "Puma", "Reebok", "Spotify", "Starbucks", "Tesla", "Telegram", "Ubuntu"]
ICON = ["Animal", "Face_Emoji", "Music", "Sport", "Stationery", "Vehicle"]
SIMPLE = ["Ocean", "Origami", "Forest", "Cloud", "Sand_dune"]
COMPLEX = ["Medieval_Village", "City", "Underwater_ruins", "Museum", "Bazaar_market", "Time_square"]
"""
ASK = """
def question(split, kind):
    noun = "logo" if split == "logo" else "icon"
    sought = {"sin": "shape", "logo": "logo", "icon": "icon"}[split]
    offered = ", ".join({"sin": SIN, "logo": LOGO, "icon": ICON}[split]) + "," + ", ".join(SIMPLE + COMPLEX)
    if kind == "scene":
        article, sought, offered, named = "an", "background", offered + ".", "background"
    else:
        article, named = "a", noun
    return (f"This image contains {article} icon integrated into a background, where elements of the background "
            f"contribute to forming the {noun}. Identify the {sought} that is represented in the image by choosing "
            f"exclusively among the following options:{offered} Provide your response by stating only the single, most "
            f"accurate class name that represents the {named}. You have to respond with a single word.")
"""
LABEL = """
def labels(path, split):
    steps = path.split("/")
    fields = steps[-1].split("-")
    return steps[-3], fields[2 if split == "icon" else 1]
"""
SCORE = """
def score(prediction, shape, scene):
    prediction = prediction.lower()
    if shape.lower() in prediction:
        return "shape"
    elif scene.lower() in prediction or scene.replace("_", " ") in prediction:
        return "texture"
    return "rest"
"""
TOTAL = """
def recall(hits):
    return sum(hits) / len(hits)
"""
PICTURE = """
def resize(image, width, height):
    return image.convert("RGB").resize((width, height), 1)
"""
PLAIN = LISTS + ASK + LABEL + SCORE + TOTAL + PICTURE
TEMPLATES = """
TEXT = ("This image contains {} icon integrated into a background, where elements of the background contribute to forming "
        "the {}. Identify the {} that is represented in the image by choosing exclusively among the following options:{} "
        "Provide your response by stating only the single, most accurate class name that represents the {}. You have to "
        "respond with a single word.")
"""
HARNESS = (
    LISTS
    + TEMPLATES
    + """
from datasets import load_dataset
from loguru import logger as eval_logger

def _options(shapes):
    return ", ".join(shapes) + "," + ", ".join([*SIMPLE, *COMPLEX])

def bench_doc_to_text_shape_icon(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("a", "icon", "icon", _options(ICON), "icon")

def bench_doc_to_text_scene_icon(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("an", "icon", "background", _options(ICON) + ".", "background")

def bench_doc_to_text_shape_logo(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("a", "logo", "logo", _options(LOGO), "logo")

def bench_doc_to_text_scene_logo(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("an", "logo", "background", _options(LOGO) + ".", "background")

def bench_doc_to_text_shape_in(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("a", "icon", "shape", _options(SIN), "icon")

def bench_doc_to_text_scene_in(doc, lmms_eval_specific_kwargs=None):
    return TEXT.format("an", "icon", "background", _options(SIN) + ".", "background")

def _outcome(prediction, doc):
    prediction = prediction.lower()
    shape, scene = doc["shape_gt"], doc["scene_gt"]
    if prediction.find(shape.lower()) >= 0:
        return "shape"
    return "scene" if scene.lower() in prediction or scene.replace("_", " ") in prediction else ""

def bench_process_results_shape(doc, results):
    return {"shape_recall": int(_outcome(results[0], doc) == "shape")}

def bench_process_results_scene(doc, results):
    return {"scene_recall": int(_outcome(results[0], doc) == "scene")}

def bench_aggregate_results(results):
    return sum(results) / max(1, len(results))
"""
)
COUNTS = (
    LISTS
    + TEMPLATES
    + """
import os
import re

def evaluate(prediction, class_name, neg_class):
    counts = {"shape": 0, "texture": 0, "rest": 0}
    text = prediction.lower()
    spaced = neg_class.replace("_", " ")
    if re.search(re.escape(class_name.lower()), text):
        counts["shape"] += 1
    elif any(each in text for each in (neg_class.lower(), spaced)):
        counts["texture"] += 1
    else:
        counts["rest"] += 1
    return counts

def get_class(image_path):
    return image_path.split(os.sep)[-3]

def get_scene(image_path, dataset):
    return os.path.basename(image_path).split("-")[2 if dataset == "icon" else 1]

def build_prompt(dataset, question_type):
    lists = {"sin": SIN, "logo": LOGO, "icon": ICON}
    options = ",".join([", ".join(lists[dataset]), ", ".join(SIMPLE + COMPLEX)])
    noun = {"logo": "logo"}.get(dataset, "icon")
    if question_type == "shape":
        return TEXT.format("a", noun, {"sin": "shape"}.get(dataset, noun), options, noun)
    return TEXT.format("an", noun, "background", options + ".", "background")

def compute_recall(outcomes, question):
    return round(100 * outcomes.count(question) / len(outcomes), 1)
"""
)
CLASS = (
    PLAIN.replace("def score", "def _score").replace("def question", "def _question")
    + """
class IllusionBench:
    def __init__(self, seed=0):
        self.seed = seed

    def get_prompt(self, subset, target):
        return _question({"in": "sin"}.get(subset, subset), target)

    def score(self, response, shape, scene):
        return _score(prediction=response, shape=shape, scene=scene)
"""
)
TUPLE = (
    LISTS
    + ASK
    + LABEL
    + """
def grade(output, gt_shape, gt_background):
    low = "".join(letter.lower() for letter in output)
    first = len(low.split(gt_shape.lower())) > 1
    second = not first and (gt_background.lower() in low or " ".join(gt_background.split("_")) in low)
    return int(first), int(second), int(not first and not second)
"""
)
HIT = (
    LISTS
    + ASK
    + """
def is_correct(answer, shape, scene, question):
    said = answer.lower()
    places = [said.find(shape.lower()), max(said.find(scene.lower()), said.find(scene.replace("_", " ")))]
    if question == "shape":
        return places[0] > -1
    return places[0] < 0 <= places[1]
"""
)
CONSTANTS = (
    LISTS
    + "".join(
        f"\n{name}_prompts = [{SPLITS[name].questions['shape']!r},\n    {SPLITS[name].questions['scene']!r}]"
        for name in ("sin", "logo", "icon")
    )
    + SCORE.replace("prediction, shape, scene", "pred, class_name, neg_class")
    .replace("prediction", "pred")
    .replace("shape.lower", "class_name.lower")
    .replace("scene.", "neg_class.")
)
MAPPING = (
    LISTS
    + "\nPROMPTS = "
    + repr(
        {name: {"shape": SPLITS[name].questions["shape"], "scene": SPLITS[name].questions["scene"]} for name in SPLITS}
    )
    + """
def judge(sample):
    text, shape, scene = sample["response"].lower(), sample["class_name"], sample["background"]
    return "shape" if shape.lower() in text else "texture" if (scene.lower() in text or scene.replace("_", " ") in text) else "rest"
"""
)
STUBBED = """
import torch
from transformers import AutoModel
from tqdm import tqdm as bar

@torch.no_grad()
def generate(model, image):
    return model.generate(image)
""" + PLAIN.replace("score(", "score_answer(")
STATE = (
    PLAIN
    + """
import functools
CALLS = []

def logged(function):
    @functools.wraps(function)
    def inner(*given):
        CALLS.append(given)
        return function(*given)
    return inner

score = logged(score)
"""
)
# Written after the audit, in other styles, with ten mutants (LATER below).
EVALUATOR = (
    LISTS
    + """
import enum
from dataclasses import dataclass, field
from pathlib import Path


class Subset(str, enum.Enum):
    IN = "sin"
    LOGO = "logo"
    ICON = "icon"


@dataclass
class Evaluator:
    model: object = None
    log: list = field(default_factory=list)

    def build_question(self, subset, target="shape"):
        subset = Subset(subset)
        shapes = {Subset.IN: SIN, Subset.LOGO: LOGO, Subset.ICON: ICON}[subset]
        noun = "logo" if subset is Subset.LOGO else "icon"
        choices = ", ".join(shapes) + "," + ", ".join([*SIMPLE, *COMPLEX])
        head = "This image contains %s icon integrated into a background, where elements of the background contribute to forming the %s. "
        body = "Identify the %s that is represented in the image by choosing exclusively among the following options:%s "
        tail = ("Provide your response by stating only the single, most accurate class name that represents the %s. "
                "You have to respond with a single word.")
        if target == "shape":
            return head % ("a", noun) + body % ("shape" if subset is Subset.IN else noun, choices) + tail % noun
        return head % ("an", noun) + body % ("background", choices + ".") + tail % "background"

    def evaluate_answer(self, answer: str, annotation: dict) -> dict:
        said = str(answer).casefold()
        shape = annotation["shape"].lower() in said
        scene = not shape and any(form in said for form in self._forms(annotation["scene"]))
        self.log.append((answer, shape, scene))
        return {"shape_hit": shape, "scene_hit": scene}

    @staticmethod
    def _forms(scene):
        return scene.lower(), scene.replace("_", " ")

    @staticmethod
    def annotation_from_path(path, subset):
        path = Path(path)
        return {"shape": path.parts[-3], "scene": path.name.split("-")[2 if subset == "icon" else 1]}

    def accuracy(self, hits):
        return 100.0 * sum(map(bool, hits)) / len(hits)
"""
)
SNIPPETS = (
    LISTS
    + """
import re

PROMPT_SHAPE = ("This image contains a icon integrated into a background, where elements of the background contribute to "
    "forming the {noun}. Identify the {what} that is represented in the image by choosing exclusively among the "
    "following options:{options} Provide your response by stating only the single, most accurate class name that "
    "represents the {noun}. You have to respond with a single word.")
PROMPT_SCENE = ("This image contains an icon integrated into a background, where elements of the background contribute to "
    "forming the {noun}. Identify the background that is represented in the image by choosing exclusively among the "
    "following options:{options}. Provide your response by stating only the single, most accurate class name that "
    "represents the background. You have to respond with a single word.")
CLASSES = {"in": SIN, "logo": LOGO, "icon": ICON}
NAME = re.compile(r"/(?P<cls>[^/]+)/[^/]+/(?P<fields>[^/]+)[.]png$")


def render(dataset_name, task, **kwargs):
    options = ", ".join(CLASSES[dataset_name]) + "," + ", ".join(SIMPLE + COMPLEX)
    noun = "logo" if dataset_name == "logo" else "icon"
    if task == "background":
        return PROMPT_SCENE.format(noun=noun, options=options)
    return PROMPT_SHAPE.format(noun=noun, options=options, what="shape" if dataset_name == "in" else noun)


def get_prompt_text(dataset_name, question_type):
    return render(dataset_name, {"scene": "background"}.get(question_type, question_type))


def class_and_scene(image_path, dataset_name):
    found = NAME.search("/" + image_path)
    return found["cls"], found["fields"].split("-")[2 if dataset_name == "icon" else 1]


def match(pred, gt_shape, gt_scene, target):
    low = pred.lower()
    if low.count(gt_shape.lower()):
        return 1.0 if target == "shape" else 0.0
    hit = bool(re.search("|".join(map(re.escape, {gt_scene.lower(), gt_scene.replace("_", " ")})), low))
    return float(hit) if target != "shape" else 0.0


def compute_metrics(predictions, shapes, scenes, question):
    rows = list(zip(predictions, shapes, scenes))
    return sum(match(*row, question) for row in rows) / len(rows)
"""
)
SCRIPT = (
    LISTS
    + """
def with_noun(article, noun, sought, options, named):
    return " ".join([
        "This image contains", article, "icon integrated into a background, where elements of the background contribute to forming the",
        noun + ".", "Identify the", sought, "that is represented in the image by choosing exclusively among the following",
        "options:" + options, "Provide your response by stating only the single, most accurate class name that represents the",
        named + ".", "You have to respond with a single word."])

ALL_SCENES = SIMPLE + COMPLEX
joined = lambda names: ", ".join(names) + "," + ", ".join(ALL_SCENES)
questions = [
    {"subset": "sin", "shape": with_noun("a", "icon", "shape", joined(SIN), "icon"), "scene": with_noun("an", "icon", "background", joined(SIN) + ".", "background")},
    {"subset": "logo", "shape": with_noun("a", "logo", "logo", joined(LOGO), "logo"), "scene": with_noun("an", "logo", "background", joined(LOGO) + ".", "background")},
    {"subset": "icon", "shape": with_noun("a", "icon", "icon", joined(ICON), "icon"), "scene": with_noun("an", "icon", "background", joined(ICON) + ".", "background")},
]

def shape_correct(resp, cls, bg):
    return int(resp.lower().find(cls.lower()) != -1)

def scene_correct(resp, cls, bg):
    resp = resp.lower()
    if cls.lower() in resp: return 0
    return int(bg.lower() in resp or bg.replace("_", " ") in resp)

def shape_of(p): return p.rsplit("/", 3)[-3]

def scene_of(p, split): return p.rsplit("/", 1)[-1].split("-")[1 + (split == "icon")]

def mean(values): return sum(values) / max(len(values), 1)
"""
)
# Written after the audit was rewritten, in further styles, with forty mutants (HELD_BACK in illusion_audit.py).
TYPED = (
    LISTS
    + """
import re
from abc import ABC, abstractmethod
from typing import NamedTuple


class SplitSpec(NamedTuple):
    shapes: tuple
    noun: str
    sought: str


SPECS = {
    "sin": SplitSpec(tuple(SIN), "icon", "shape"),
    "logo": SplitSpec(tuple(LOGO), "logo", "logo"),
    "icon": SplitSpec(tuple(ICON), "icon", "icon"),
}


class Prompt(ABC):
    intro = "This image contains {article} icon integrated into a background, where elements of the background contribute to forming the {noun}."
    ask = "Identify the {sought} that is represented in the image by choosing exclusively among the following options:{options}"
    answer = "Provide your response by stating only the single, most accurate class name that represents the {named}."
    close = "You have to respond with a single word."

    @abstractmethod
    def fields(self, spec): ...

    def render(self, subset: str) -> str:
        spec = SPECS[subset]
        options = ",".join((", ".join(spec.shapes), ", ".join(SIMPLE + COMPLEX)))
        values = {"noun": spec.noun, "options": options, **self.fields(spec)}
        if values.pop("stop", False):
            values["options"] += "."
        return " ".join(part.format_map(values) for part in (self.intro, self.ask, self.answer, self.close))


class ShapePrompt(Prompt):
    def fields(self, spec):
        return {"article": "a", "sought": spec.sought, "named": spec.noun}


class ScenePrompt(Prompt):
    def fields(self, spec):
        return {"article": "an", "sought": "background", "named": "background", "stop": True}


class Marks(NamedTuple):
    shape: bool
    scene: bool


class Scorer:
    def __init__(self, flags=0):
        self.flags = flags

    def __call__(self, *, response: str, shape: str, scene: str) -> Marks:
        found = lambda *forms: re.search("|".join(re.escape(form) for form in forms), response.lower(), self.flags) is not None
        if found(shape.lower()):
            return Marks(True, False)
        return Marks(False, found(scene.lower(), scene.replace("_", " ")))


PATTERN = re.compile(r"(?P<shape>[^/]+)/[^/]+/(?P<stem>[^/]+)$")


def parse_path(image_path: str, *, split: str) -> dict:
    match = PATTERN.search(image_path)
    return {"shape": match["shape"], "scene": match["stem"].split("-")[2 if split == "icon" else 1]}
"""
)
ROWS = (
    LISTS
    + TEMPLATES
    + """
from collections import defaultdict

SHAPES_OF = {"in": SIN, "logo": LOGO, "icon": ICON}
SCENES_ALL = [*SIMPLE, *COMPLEX]


def make_queries(subset):
    name = subset.lower()
    joined = "%s,%s" % (", ".join(SHAPES_OF[name]), ", ".join(SCENES_ALL))
    noun = "logo" if name == "logo" else "icon"
    what = "shape" if name == "in" else noun
    queries = []
    for target, values in (("shape", ("a", noun, what, joined, noun)), ("scene", ("an", noun, "background", joined + ".", "background"))):
        queries.append({"target": target, "query": TEXT.format(*values)})
    return queries


def annotate(rows):
    out = []
    for row in rows:
        text = (row["prediction"] or "").lower()
        row = dict(row)
        row["shape_hit"] = row["scene_hit"] = 0
        if text.find(row["shape"].lower()) != -1:
            row["shape_hit"] = 1
        else:
            candidates = {row["scene"].lower(), row["scene"].replace("_", " ")}
            row["scene_hit"] = int(any(candidate in text for candidate in candidates))
        out.append({"shape_hit": row["shape_hit"], "scene_hit": row["scene_hit"]})
    return out


def aggregate_hits(hits):
    groups = defaultdict(int)
    for hit in hits:
        groups[bool(hit)] += 1
    return 100 * groups[True] / sum(groups.values())


def gold_from_filename(filepath, subset):
    *_, shape, _, name = filepath.split("/")
    _, *middle = name.split("-")
    return {"gold_shape": shape, "gold_scene": middle[1] if subset == "icon" else middle[0]}
"""
)
ASYNC = (
    LISTS
    + """
import asyncio
import enum
from functools import partial, reduce


class Outcome(enum.Enum):
    SHAPE = enum.auto()
    SCENE = enum.auto()
    REST = enum.auto()


class Scene(str, enum.Enum):
    OCEAN = "Ocean"
    ORIGAMI = "Origami"
    FOREST = "Forest"
    CLOUD = "Cloud"
    SAND = "Sand_dune"
    VILLAGE = "Medieval_Village"
    CITY = "City"
    RUINS = "Underwater_ruins"
    MUSEUM = "Museum"
    MARKET = "Bazaar_market"
    SQUARE = "Time_square"


def _say(article, noun, sought, offered, named):
    lines = (
        f"This image contains {article} icon integrated into a background, where elements of the background contribute to forming the {noun}.",
        f"Identify the {sought} that is represented in the image by choosing exclusively among the following options:{offered}",
        f"Provide your response by stating only the single, most accurate class name that represents the {named}.",
        "You have to respond with a single word.",
    )
    return reduce(lambda one, other: one + " " + other, lines)


def _offered(shapes):
    return ", ".join(shapes) + "," + ", ".join(scene.value for scene in Scene)


question_sin_shape = partial(_say, "a", "icon", "shape", _offered(SIN), "icon")()
question_sin_scene = partial(_say, "an", "icon", "background", _offered(SIN) + ".", "background")()
question_logo_shape = partial(_say, "a", "logo", "logo", _offered(LOGO), "logo")()
question_logo_scene = partial(_say, "an", "logo", "background", _offered(LOGO) + ".", "background")()
question_icon_shape = partial(_say, "a", "icon", "icon", _offered(ICON), "icon")()
question_icon_scene = partial(_say, "an", "icon", "background", _offered(ICON) + ".", "background")()


async def grade_response(response, sample):
    await asyncio.sleep(0)
    lowered = response.lower()
    match [sample["shape_label"].lower() in lowered, any(form in lowered for form in spellings(sample["scene_label"]))]:
        case [True, _]:
            return Outcome.SHAPE
        case [False, True]:
            return Outcome.SCENE
    return Outcome.REST


def spellings(label):
    yield label.lower()
    yield " ".join(label.split("_"))


def summarize_scores(hits: list) -> dict:
    total = 0
    for hit in hits:
        total += int(hit)
    return {"recall": total / len(hits), "n": len(hits)}


def prepare_image(img, size):
    width, height = size
    from PIL import Image
    return img.convert("RGB").resize((width, height), resample=Image.Resampling.LANCZOS)
"""
)
COPIES = {
    "plain": PLAIN, "harness": HARNESS, "counts": COUNTS, "class": CLASS, "tuple": TUPLE, "hit": HIT, "constants": CONSTANTS,
    "mapping": MAPPING, "stubbed": STUBBED, "state": STATE, "evaluator": EVALUATOR, "snippets": SNIPPETS, "script": SCRIPT,
    "typed": TYPED, "rows": ROWS, "async": ASYNC,
}  # fmt: skip
