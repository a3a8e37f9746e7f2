"""Which class of test answers does an answer of a model belong to?"""

import re
from collections.abc import Callable, Container, Mapping

from onprompt.illusion.audit.test_answers import CLASSES, Case
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.scoring import DENIAL, options_in

OTHER = "other answers"
LONG = 300  # characters
TAGS = re.compile(r"<\w+>|[`\\\[{]|'\)|\w \(|\) \w")
ECHO = re.compile(r"\[/?INST\]|###|<\||<start_of_turn>|</?s>|<image>|\b(?:Human|Question):")


def classify(case: Case, titles: Container[str]) -> str:
    """The title of the first class that an answer belongs to, among those that showed a difference."""
    matching = (CLASSES[name].title for name, belongs in BELONGS.items() if belongs(case))
    return next((title for title in matching if title in titles), OTHER)


def contains_loosely(label: str, answer: str) -> bool:
    """Whether a label is in an answer with any characters between its words."""
    words = [re.escape(word) for word in re.split(r"[_ -]+", label.lower()) if word]
    return bool(words) and re.search(r"[\W_]*".join(words), answer.lower()) is not None


def respelled(label: str, answer: str) -> bool:
    """Whether a label is in an answer, but with another separator."""
    return label.lower() not in answer.lower() and contains_loosely(label, answer)


def labels_in(case: Case) -> list[str]:
    """The labels that the original finds in an answer."""
    return [label for label in (case.shape, case.scene) if label and label.lower() in case.answer.lower()]


def has_word(case: Case, end: str = r"(?!\w)") -> bool:
    """Whether a label is a word of the answer, or a word with another end."""
    return any(re.search(rf"(?<!\w){re.escape(label.lower())}{end}", case.answer.lower()) for label in labels_in(case))


def is_option(case: Case, answer: str) -> bool:
    """Whether an answer is exactly an option, in any case."""
    return answer.lower() in (option.lower() for option in (case.shape, case.scene, *SPLITS[case.split].options))


# Special classes come first.
BELONGS: Mapping[str, Callable[[Case], bool]] = {
    "no_label": lambda case: not (case.shape and case.scene),
    "empty": lambda case: not case.answer.strip(),
    "marks_inside": lambda case: re.search(r"\w['’]s\b|\b\w\.\w\.", case.answer) is not None,
    "foreign": lambda case: not case.answer.isascii(),
    "long": lambda case: len(case.answer) > LONG,
    "echo": lambda case: ECHO.search(case.answer) is not None,
    "tags": lambda case: TAGS.search(case.answer) is not None,
    "denial": lambda case: DENIAL.search(case.answer.lower()) is not None,
    "colon": lambda case: ":" in case.answer,
    "lines": lambda case: re.search(r"[\r\n]|[.?!]\s+\S", case.answer.strip()) is not None,
    "lower_scene": lambda case: "_" in case.scene and case.scene == case.scene.lower(),
    "both": lambda case: contains_loosely(case.shape, case.answer) and contains_loosely(case.scene, case.answer),
    "shape_separator": lambda case: respelled(case.shape, case.answer),
    "scene_separator": lambda case: respelled(case.scene, case.answer),
    "list": lambda case: case.answer.count(",") > 1,
    "several": lambda case: len(options_in(case.answer, case.split)[0]) > 1,
    "plural": lambda case: has_word(case, end=r"s\b"),
    "inside": lambda case: bool(labels_in(case)) and not has_word(case),
    "sentence": lambda case: (
        has_word(case) and len(case.answer.split()) > max(len(label.split()) for label in labels_in(case))
    ),
    "around": lambda case: (
        not is_option(case, case.answer) and is_option(case, re.sub(r"^[\W_]+|[\W_]+$", "", case.answer))
    ),
    "label_spelling": lambda case: case.shape not in SPLITS[case.split].shapes or case.scene not in SCENES,
    "part": lambda case: (
        not is_option(case, case.answer)
        and any(case.answer.lower() in name.lower() for name in (case.shape, case.scene))
    ),
    "spelling": lambda case: not labels_in(case) and not is_option(case, case.answer),
    "bare": lambda case: case.answer in (case.shape, case.scene, *SPLITS[case.split].options),
    "case": lambda case: is_option(case, case.answer),
}
