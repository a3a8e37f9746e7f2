"""The public functions. Each loads the settings in force unless it is given some."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from onprompt import plugins
from onprompt import settings as settings_module
from onprompt.errors import OnpromptError, PromptError, SettingsError, UserError
from onprompt.evidence.plan import names_to_detect
from onprompt.language import edits, parser
from onprompt.language.ontology import name_of
from onprompt.language.spelling import correct_spelling
from onprompt.runs.engines.threads import in_order
from onprompt.settings import Settings
from onprompt.types import (
    FRAME,
    IMAGE,
    NAMES,
    Edit,
    Judge,
    Picture,
    Plan,
    Rubric,
    Sample,
    Scene,
    Seen,
    Sighting,
    Verdict,
    View,
)
from onprompt.vision.detection import detect, detect_many, load_detector
from onprompt.vision.global_properties import medium, properties
from onprompt.vision.image import Source, load_picture, open_picture
from onprompt.vision.matcher import load_matcher
from onprompt.vision.runtime import use_single_core
from onprompt.vision.text import read_text
from onprompt.vision.text_embedding import MAX_LENGTH
from onprompt.vision.vocabulary import COCO

Result = Verdict | OnpromptError
SeeBatch = Callable[[Sequence[Source]], list[list[Sighting] | OnpromptError]]


def in_force(settings: Settings | None) -> Settings:
    """The given settings, or those of file and environment."""
    if settings is None:
        return settings_module.load()
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings is a {type(settings).__name__}; make one by onprompt.Settings(detector='coco')")
    return settings


def parse(prompt: str, *, settings: Settings | None = None) -> Scene:
    """What a prompt asks for."""
    return parser.parse(prompt, in_force(settings))


def parse_edit(instruction: str, *, settings: Settings | None = None) -> tuple[Edit, ...]:
    """What an instruction wants done to a picture, operation by operation."""
    return edits.parse_edit(instruction, in_force(settings))


def see(
    image: Source,
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> list[Sighting]:
    """The sightings of the given names in an image, or of 80 common kinds, the surest first.

    Colours, shapes and postures cost a network's look at each sighting; `attributes=False` does without.
    """
    (found,) = looker(vocabulary, attributes, frame, in_force(settings))([image])
    if isinstance(found, OnpromptError):
        raise found
    return found


def see_many(
    images: Iterable[Source],
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> Iterator[list[Sighting] | OnpromptError]:
    """`see` for many images, in their order, as they get ready: all cores are kept busy.

    In the place of an image that can't be read stands its error: a bad one costs no other.
    """
    chosen = in_force(settings)
    look_at = looker(vocabulary, attributes, frame, chosen)
    windows = in_windows(images, getattr(load_detector(chosen), "batch", 1))
    cores = os.cpu_count() or 1
    return itertools.chain.from_iterable(in_order(look_at, windows, cores, ahead=cores, begin=use_single_core))


def looker(vocabulary: Sequence[str] | None, attributes: bool, frame: int, settings: Settings) -> SeeBatch:
    """A function from some images to what is seen in each, or why it can't be read."""
    wanted = COCO if vocabulary is None else as_names("vocabulary", vocabulary)
    names = [name_of(word) for word in wanted]

    def look_at(window: Sequence[Source]) -> list[list[Sighting] | OnpromptError]:
        read = [picture_or_error(image, settings, frame) for image in window]
        pictures = [picture for picture in read if isinstance(picture, Picture)]
        seen = iter(detect_many(pictures, names, settings, None if attributes else ()) if pictures else [])
        return [asked_for(next(seen), wanted) if isinstance(result, Picture) else result for result in read]

    return look_at


def picture_or_error(image: Source, settings: Settings, frame: int) -> Picture | OnpromptError:
    """A picture, or why there is none."""
    try:
        return load_picture(image, settings, frame)
    except OnpromptError as error:
        return error


def asked_for(seen: Seen, names: Sequence[str]) -> list[Sighting]:
    """The sightings of some names, the surest first."""
    return sorted((s for s in seen.sightings if s.label in names), key=lambda sighting: -sighting.confidence)


def in_windows(items: Iterable[Source], size: int) -> Iterator[list[Source]]:
    """As many at a time; the last ones may be fewer."""
    rest = iter(items)
    return iter(lambda: list(itertools.islice(rest, size)), [])


def view(
    image: Source, prompt: str = "", *, frame: int = 0, text: bool = True, settings: Settings | None = None
) -> View:
    """What an image holds of what a prompt names, or of 80 common kinds; its text; what is true of it as a whole."""
    chosen = in_force(settings)
    picture = load_picture(image, chosen, frame)
    names = names_to_detect(parser.parse(prompt, chosen)) if prompt else [name_of(word) for word in COCO]
    seen = detect(picture, names, chosen)
    asked = tuple(sighting for sighting in seen.sightings if sighting.label in seen.known)
    unknown = tuple(name.label for name in names if name.label not in seen.known)
    whole = (*properties(picture), medium(picture, chosen))
    return View(picture, asked, read_text(picture) if text else (), whole, unknown)


def match(image: Source, texts: Iterable[str], *, frame: int = 0, settings: Settings | None = None) -> list[float]:
    """How likely each text describes the image as a whole, and not another one; misspelt words are repaired."""
    texts = [texts] if isinstance(texts, str) else list(texts)
    chosen = in_force(settings)
    wanted = [correct_spelling(checked(text)) for text in texts]
    return load_matcher(chosen).probabilities(load_picture(image, chosen, frame), wanted)


def checked(text: str) -> str:
    """A text that says something, and not too much."""
    if not isinstance(text, str):
        raise PromptError(f"a text is a string, not {text!r}")
    if not text.strip():
        raise PromptError("a text is empty")
    if len(text) > MAX_LENGTH:
        raise PromptError(f"a text has {len(text):,} characters; {MAX_LENGTH:,} are read at most")
    return text


def verify(
    image: Source,
    prompt: str,
    *,
    judge: str = "",
    model: str = "",
    major: Sequence[str] = (),
    frame: int = 0,
    settings: Settings | None = None,
) -> Verdict:
    """Does this image show what the prompt asks for? A score of 0 to 4, and evidence; `major` objects weigh more."""
    item = {"image": image, "prompt": prompt, "major": major, "frame": frame}
    return judge_one("verify", item, judge=judge, model=model, settings=settings)


def rate(
    image: Source,
    prompt: str,
    *,
    judge: str = "",
    model: str = "",
    major: Sequence[str] = (),
    frame: int = 0,
    settings: Settings | None = None,
) -> Verdict:
    """How well does this image fit the prompt? A score of 1 to 5, `summary` with the reason in at most 20 words."""
    item = {"image": image, "prompt": prompt, "major": major, "frame": frame}
    return judge_one("rate", item, judge=judge, model=model, settings=settings)


def edit(
    before: Source,
    after: Source,
    instruction: str,
    mask: Source | None = None,
    *,
    id: str = "",  # noqa: A002 it is what the protocol calls it
    judge: str = "",
    model: str = "",
    settings: Settings | None = None,
) -> Verdict:
    """Does the edited image carry out the instruction? Alignment, completeness and plausibility, each 1 to 7."""
    item = {"before": before, "after": after, "instruction": instruction, "mask": mask, "id": id}
    return judge_one("edit", item, judge=judge, model=model, settings=settings)


def judge_one(
    rubric: str, item: Mapping[str, Any], *, judge: str = "", model: str = "", settings: Settings | None = None
) -> Verdict:
    """The verdict by any rubric; `item` has its inputs by name."""
    chosen = judging(settings, judge, model)
    return judge_of(rubric, chosen).judge(sample_of(rubric_named(rubric), chosen, item))


def judge_many(
    rubric: str,
    items: Iterable[Mapping[str, Any]],
    *,
    judge: str = "",
    model: str = "",
    settings: Settings | None = None,
) -> Iterator[Verdict | OnpromptError]:
    """Verdicts on many items by a rubric, in their order, as they get ready; many are in progress at a time.

    An item holds the rubric's inputs: `{"image": "a.png", "prompt": "a cat"}`. In place of a verdict stands the error
    where there is none: a bad item costs no other.
    """
    chosen = judging(settings, judge, model)
    judging_by, protocol = judge_of(rubric, chosen), rubric_named(rubric)

    def by(method: Callable[[Sample], Result | None]) -> Callable[[Mapping[str, Any]], Any]:
        def verdict_or_error(item: Mapping[str, Any]) -> Result | None:
            try:
                return method(sample_of(protocol, chosen, item))
            except OnpromptError as error:
                return error

        return verdict_or_error

    recall = by(judging_by.recall) if judging_by.bound_by != "cores" else None
    return in_order(
        by(judging_by.judge),
        items,
        judging_by.slots,
        begin=use_single_core,
        at_once=recall,
        stop=judging_by.stop,
    )


def plan(
    rubric: str,
    items: Iterable[Mapping[str, Any]],
    *,
    judge: str = "",
    model: str = "",
    settings: Settings | None = None,
) -> Plan:
    """How many calls of a model, tokens and dollars `judge_many` would take; nothing is asked."""
    chosen, protocol = judging(settings, judge, model), rubric_named(rubric)
    found = judge_of(rubric, chosen).plan(partial(sample_of, protocol, chosen, item) for item in items)
    if found is None:
        raise UserError(f"the judge {chosen.judged_by!r} asks no model")
    return found


def judging(settings: Settings | None, judge: str, model: str) -> Settings:
    """The settings in force, with a judge and a model where they are named; a model alone means the judge `vlm`."""
    chosen = in_force(settings)
    named = {"judge": judge or ("vlm" if model else ""), "model": model}
    return chosen.model_copy(update={name: value for name, value in named.items() if value})


def rubric_named(name: str) -> Rubric:
    """A rubric by its name."""
    rubric: Rubric = plugins.load("rubrics", name).RUBRIC
    return rubric


def judge_of(rubric: str, settings: Settings) -> Judge:
    """The judge of the settings, for a rubric by its name."""
    judge: Judge = plugins.load("judges", settings.judged_by).load(settings, rubric_named(rubric))
    return judge


def sample_of(rubric: Rubric, settings: Settings, item: Mapping[str, Any]) -> Sample:
    """A sample by the inputs of a rubric."""
    kinds = {each.name: each.kind for each in rubric.inputs}
    if unknown := item.keys() - {*kinds, "id"}:
        known = ", ".join([*kinds, "id"])
        raise UserError(f"{rubric.name} has no input {', '.join(sorted(unknown))}; its inputs are {known}")
    if missing := [name for name in rubric.required if item.get(name) is None]:
        raise UserError(f"{rubric.name} needs {' and '.join(missing)}")
    given = {name: item[name] for name in kinds if item.get(name) is not None}
    frame = next((given.pop(name) for name, kind in kinds.items() if kind == FRAME and name in given), 0)
    pictures: dict[str, Picture] = {}
    options: dict[str, Any] = {}
    for name, value in given.items():
        if kinds[name] == IMAGE:
            pictures[name] = open_picture(value, settings, frame if name == rubric.picture else 0)
        else:
            options[name] = as_names(name, value) if kinds[name] == NAMES else value
    picture, prompt = pictures.pop(rubric.picture), options.pop(rubric.prompt, "")
    return Sample(item.get("id") or file_name(picture.name), prompt, picture, pictures, options)


def as_names(what: str, names: Sequence[str]) -> list[str]:
    """A list of names, checked."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{what} must be a list of names, not {names!r}")
    return list(names)


def file_name(path: str) -> str:
    """A file's name without its folders, which are the user's own."""
    return path.replace("\\", "/").rpartition("/")[2]
