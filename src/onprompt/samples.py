"""From names and inputs to what judges work with: rubrics, judges and samples."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from onprompt import plugins
from onprompt.errors import UserError
from onprompt.settings import Settings
from onprompt.types import FRAME, IMAGE, NAMES, Asks, Judge, Picture, Rubric, Sample
from onprompt.vision.image import open_picture


def load_rubric(name: str) -> Rubric:
    """A rubric by its name."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    return rubric


def load_judge(rubric: Rubric, settings: Settings) -> Judge:
    """The judge of the settings, for a rubric."""
    judge: Judge = plugins.load("judges", settings.judged_by).load(settings, rubric)
    return judge


def asks(judge: str) -> Asks:
    """How many models a judge asks."""
    return getattr(plugins.load("judges", judge), "ASKS", Asks.NONE)


class Judges:
    """Judges by rubric and settings: calls with the same ones share connections, cached answers and a budget."""

    def __init__(self) -> None:
        self.lock, self.kept = threading.Lock(), dict[tuple[str, Settings], Judge]()

    def get(self, rubric: Rubric, settings: Settings) -> Judge:
        """The judge, made once."""
        key = rubric.name, settings
        with self.lock:
            if key not in self.kept:
                self.kept[key] = load_judge(rubric, settings)
            return self.kept[key]

    def drop(self, judge: Judge) -> None:
        """Stop a judge's work; later calls get another."""
        with self.lock:
            self.kept = {key: kept for key, kept in self.kept.items() if kept is not judge}
        judge.stop()

    def close(self) -> None:
        """Close all judges; they are made anew on demand."""
        with self.lock:
            while self.kept:
                self.kept.popitem()[1].close()


def make_sample(rubric: Rubric, settings: Settings, item: Mapping[str, Any]) -> Sample:
    """A sample from the inputs of a rubric."""
    kinds = {given.name: given.kind for given in rubric.inputs}
    if unknown := item.keys() - {*kinds, "id"}:
        known = ", ".join([*kinds, "id"])
        raise UserError(f"{rubric.name} has no input {', '.join(sorted(unknown))}; its inputs are {known}")
    if missing := [name for name in rubric.required if item.get(name) is None]:
        raise UserError(f"{rubric.name} needs {' and '.join(missing)}")
    values = {name: item[name] for name in kinds if item.get(name) is not None}
    frame = next((values.pop(name) for name, kind in kinds.items() if kind == FRAME and name in values), 0)
    pictures: dict[str, Picture] = {}
    options: dict[str, Any] = {}
    for name, value in values.items():
        if kinds[name] == IMAGE:
            pictures[name] = open_picture(value, settings, frame if name == rubric.picture else 0)
        else:
            options[name] = check_names(name, value) if kinds[name] == NAMES else value
    options = {name: value for name, value in options.items() if value != []}
    picture, prompt = pictures.pop(rubric.picture), options.pop(rubric.prompt, "")
    file_name = picture.name.replace("\\", "/").rpartition("/")[2]  # folders are the user's own
    return Sample(item.get("id") or file_name, prompt, picture, pictures, options)


def check_names(what: str, names: Sequence[str]) -> list[str]:
    """A list of names."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{what} must be a list of names, not {names!r}")
    return list(names)
