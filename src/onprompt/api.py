"""The public functions. Each loads the settings in force unless it is given some."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from onprompt import plugins
from onprompt import settings as settings_module
from onprompt.errors import OnpromptError, PromptError, SettingsError, UserError
from onprompt.judges import evidence
from onprompt.judges.hybrid import HybridJudge
from onprompt.judges.vlm import VlmJudge
from onprompt.language import edits, parser
from onprompt.language.ontology import name_of
from onprompt.language.spelling import mended
from onprompt.models.client import Plan, planned
from onprompt.runs.engines.threads import in_order
from onprompt.settings import Settings
from onprompt.types import Edit, Judge, Picture, Rubric, Sample, Scene, Seen, Sighting, Verdict, View
from onprompt.vision.detection import detect, detect_many, load_detector
from onprompt.vision.global_properties import medium, properties
from onprompt.vision.image import Source, load_picture, open_picture
from onprompt.vision.matcher import load_matcher
from onprompt.vision.runtime import use_single_core
from onprompt.vision.text import read_text
from onprompt.vision.text_embedding import MAX_LENGTH
from onprompt.vision.vocabulary import COCO

Result = Verdict | OnpromptError
PROMPT = ("image", "prompt", "major", "frame", "id")  # what verify and rate are given
EDIT = ("before", "after", "instruction", "mask", "id")
Looker = Callable[[Sequence[Source]], list[list[Sighting] | OnpromptError]]


def in_force(settings: Settings | None) -> Settings:
    """The given settings, or those of file and environment."""
    if settings is None:
        return settings_module.load()
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings is a {type(settings).__name__}; make one by onprompt.Settings(detector='coco')")
    return settings


def listed(what: str, names: Sequence[str]) -> None:
    """Complain unless these are names in a list."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{what} is a list of names, not {names!r}")


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


def looker(vocabulary: Sequence[str] | None, attributes: bool, frame: int, settings: Settings) -> Looker:
    """A function from some images to what is seen in each, or why it can't be read."""
    listed("vocabulary", vocabulary or ())
    wanted = COCO if vocabulary is None else vocabulary
    names = [name_of(word) for word in wanted]

    def look_at(window: Sequence[Source]) -> list[list[Sighting] | OnpromptError]:
        read = [picture_or_error(image, settings, frame) for image in window]
        pictures = [each for each in read if isinstance(each, Picture)]
        seen = iter(detect_many(pictures, names, settings, None if attributes else ()) if pictures else [])
        return [asked_for(next(seen), wanted) if isinstance(each, Picture) else each for each in read]

    return look_at


def picture_or_error(image: Source, settings: Settings, frame: int) -> Picture | OnpromptError:
    """A picture, or why there is none."""
    try:
        return load_picture(image, settings, frame)
    except OnpromptError as error:
        return error


def asked_for(seen: Seen, names: Sequence[str]) -> list[Sighting]:
    """The sightings of some names, the surest first."""
    return sorted((each for each in seen.sightings if each.label in names), key=lambda each: -each.confidence)


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
    names = evidence.names(parser.parse(prompt, chosen)) if prompt else [name_of(word) for word in COCO]
    seen = detect(picture, names, chosen)
    asked = tuple(each for each in seen.sightings if each.label in seen.known)
    unknown = tuple(name.label for name in names if name.label not in seen.known)
    whole = (*properties(picture), medium(picture, chosen))
    return View(picture, asked, read_text(picture) if text else (), whole, unknown)


def match(image: Source, texts: Iterable[str], *, frame: int = 0, settings: Settings | None = None) -> list[float]:
    """How likely each text describes the image as a whole, and not another one; misspelt words are repaired."""
    texts = [texts] if isinstance(texts, str) else list(texts)
    chosen = in_force(settings)
    wanted = [mended(checked(text)) for text in texts]
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
    chosen = judging(settings, judge, model)
    return judge_of("verify", chosen).judge(prompted(chosen, image, prompt, major, frame))


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
    chosen = judging(settings, judge, model)
    return judge_of("rate", chosen).judge(prompted(chosen, image, prompt, major, frame))


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
    chosen = judging(settings, judge, model)
    return judge_of("edit", chosen).judge(edited(chosen, before, after, instruction, mask, id))


def judge_many(
    rubric: str,
    items: Iterable[Mapping[str, Any]],
    *,
    judge: str = "",
    model: str = "",
    settings: Settings | None = None,
) -> Iterator[Verdict | OnpromptError]:
    """`verify`, `rate` or `edit` for many items, in their order, as they get ready; many are under way at a time.

    An item holds what the function is given: `{"image": "a.png", "prompt": "a cat"}`. In the place of one that gets no
    verdict stands its error: a bad one costs no other.
    """
    chosen = judging(settings, judge, model)
    one = judge_of(rubric, chosen)

    def by(judge: Callable[[Sample], Result | None]) -> Callable[[Mapping[str, Any]], Any]:
        def verdict_or_error(item: Mapping[str, Any]) -> Result | None:
            try:
                return judge(sample_of(rubric, chosen, **item))
            except OnpromptError as error:
                return error

        return verdict_or_error

    known = by(one.judge_known) if isinstance(one, VlmJudge) and not chosen.record else None
    asker = getattr(one, "asker", None)
    return in_order(
        by(one.judge), items, one.slots, begin=use_single_core, at_once=known, stop=asker.stop if asker else None
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
    chosen = judging(settings, judge, model)
    one = judge_of(rubric, chosen)
    if not isinstance(one, VlmJudge | HybridJudge):
        raise UserError(f"the judge {chosen.judged_by!r} asks no model")
    return planned(one.asker, items, lambda item: one.questions(sample_of(rubric, chosen, **item)))


def judging(settings: Settings | None, judge: str, model: str) -> Settings:
    """The settings in force, with a judge and a model where they are named; a model alone is asked by itself."""
    chosen = in_force(settings)
    named = {"judge": judge or ("vlm" if model else ""), "model": model}
    return chosen.model_copy(update={name: value for name, value in named.items() if value})


def judge_of(rubric: str, settings: Settings) -> Judge:
    """The judge of the settings, for a rubric by its name."""
    wanted: Rubric = plugins.load("rubrics", rubric).RUBRIC
    judge: Judge = plugins.load("judges", settings.judged_by).load(settings, wanted)
    return judge


def sample_of(rubric: str, settings: Settings, **item: Any) -> Sample:
    """A sample by what the function of the rubric is given."""
    fields = EDIT if rubric == "edit" else PROMPT
    if strange := item.keys() - fields:
        raise UserError(f"{rubric} knows no {', '.join(sorted(strange))}; it is given {', '.join(fields)}")
    if missing := [name for name in fields[: 3 if rubric == "edit" else 2] if name not in item]:
        raise UserError(f"{rubric} needs {' and '.join(missing)}")
    return edited(settings, **item) if rubric == "edit" else prompted(settings, **item)


def prompted(
    settings: Settings,
    image: Source,
    prompt: str,
    major: Sequence[str] = (),
    frame: int = 0,
    id: str = "",  # noqa: A002
) -> Sample:
    """An image and what it should show."""
    listed("major", major)
    picture = open_picture(image, settings, frame)
    return Sample(id or last(picture.name), prompt, picture, tuple(major))


def edited(
    settings: Settings,
    before: Source,
    after: Source,
    instruction: str,
    mask: Source | None = None,
    id: str = "",  # noqa: A002
) -> Sample:
    """An image before and after, and what should have been done."""
    first, then = open_picture(before, settings), open_picture(after, settings)
    area = None if mask is None else open_picture(mask, settings)
    return Sample(id or last(then.name), instruction, then, (), first, area)


def last(path: str) -> str:
    """A file's name without its folders, which are the user's own."""
    return path.replace("\\", "/").rpartition("/")[2]
