"""The public functions. Each uses the settings of file and environment unless it is given some."""

from __future__ import annotations

import atexit
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from onprompt import language
from onprompt import settings as settings_module
from onprompt.errors import OnpromptError, PromptError, SettingsError, UserError
from onprompt.evidence.observe import names_to_detect
from onprompt.rubrics import DEFAULT
from onprompt.runs.engines.threads import in_order
from onprompt.runs.reading import Run
from onprompt.samples import Judges, check_names, load_rubric, make_sample
from onprompt.settings import Settings
from onprompt.types import Edit, Flag, JudgePlan, Rubric, Scene, Sighting, Usage, Verdict, View
from onprompt.vision.detection import detect
from onprompt.vision.global_properties import medium, properties
from onprompt.vision.image import Source, load_picture
from onprompt.vision.matchers import load_matcher
from onprompt.vision.matchers.small import MAX_LENGTH
from onprompt.vision.ocr import read_text
from onprompt.vision.runtime import available_cores, use_single_core
from onprompt.vision.vocabulary import COCO

Result = Verdict | OnpromptError
judges = Judges()  # of this module's functions
atexit.register(judges.close)


def resolve_settings(settings: Settings | None) -> Settings:
    """The given settings, or those of file and environment."""
    if settings is None:
        return settings_module.load()
    if not isinstance(settings, Settings):
        raise SettingsError(f"settings must be an onprompt.Settings, not a {type(settings).__name__}")
    return settings


def parse(prompt: str, *, settings: Settings | None = None) -> Scene:
    """What a prompt asks for."""
    return language.parse(prompt, resolve_settings(settings))


def parse_edit(instruction: str, *, settings: Settings | None = None) -> tuple[Edit, ...]:
    """The operations that an instruction asks for."""
    return language.parse_edit(instruction, resolve_settings(settings))


def see(
    image: Source,
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> list[Sighting]:
    """The sightings of the given names in an image, or of 80 common kinds, the most confident first.

    Colors, shapes and postures take another network for each sighting; `attributes=False` skips them.
    """
    return finder(vocabulary, attributes, frame, resolve_settings(settings))(image)


def see_many(
    images: Iterable[Source],
    vocabulary: Sequence[str] | None = None,
    *,
    attributes: bool = True,
    frame: int = 0,
    settings: Settings | None = None,
) -> Iterator[list[Sighting] | OnpromptError]:
    """`see` for many images on all cores, in order, as results get ready.

    For an unreadable image there is its error: it affects no other.
    """
    find = finder(vocabulary, attributes, frame, resolve_settings(settings))

    def attempt(image: Source) -> list[Sighting] | OnpromptError:
        try:
            return find(image)
        except OnpromptError as error:
            return error

    cores = available_cores()
    return in_order(attempt, images, cores, begin=use_single_core)


def finder(
    vocabulary: Sequence[str] | None, attributes: bool, frame: int, settings: Settings
) -> Callable[[Source], list[Sighting]]:
    """A function from an image to the sightings in it."""
    labels = COCO if vocabulary is None else check_names("vocabulary", vocabulary)
    names = [language.name_of(word) for word in labels]

    def find(image: Source) -> list[Sighting]:
        seen = detect(load_picture(image, settings, frame), names, settings, None if attributes else ())
        return sorted((s for s in seen.sightings if s.label in labels), key=lambda sighting: -sighting.confidence)

    return find


def view(image: Source, prompt: str = "", *, frame: int = 0, settings: Settings | None = None) -> View:
    """What an image shows of the objects that a prompt names, or of 80 common kinds; its text and its properties."""
    resolved = resolve_settings(settings)
    picture = load_picture(image, resolved, frame)
    names = names_to_detect(language.parse(prompt, resolved)) if prompt else [language.name_of(word) for word in COCO]
    seen = detect(picture, names, resolved)
    asked = tuple(sighting for sighting in seen.sightings if sighting.label in seen.known)
    unknown = tuple(name.label for name in names if name.label not in seen.known)
    traits = (*properties(picture), medium(picture, resolved))
    return View(picture, asked, read_text(picture, resolved), traits, unknown)


def match(image: Source, texts: Iterable[str], *, frame: int = 0, settings: Settings | None = None) -> list[float]:
    """The probability that each text describes the image as a whole; spelling is corrected."""
    texts = [texts] if isinstance(texts, str) else list(texts)
    resolved = resolve_settings(settings)
    corrected = [language.correct_spelling(check_text(text)) for text in texts]
    return load_matcher(resolved).probabilities(load_picture(image, resolved, frame), corrected)


def check_text(text: str) -> str:
    """A text that is neither empty nor too long."""
    if not isinstance(text, str):
        raise PromptError(f"a text must be a string, not {text!r}")
    if not text.strip():
        raise PromptError("a text is empty")
    if len(text) > MAX_LENGTH:
        raise PromptError(f"a text has {len(text):,} characters; the limit is {MAX_LENGTH:,}")
    return text


def verify(
    image: Source,
    prompt: str,
    *,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    major: Sequence[str] = (),
    frame: int = 0,
    settings: Settings | None = None,
) -> Verdict:
    """Does this image show what the prompt asks for? A score of 0 to 4, and evidence; `major` objects weigh more."""
    item = {"image": image, "prompt": prompt, "major": major, "frame": frame}
    return judge_one("verify", item, judge_settings(settings, judge, model, models))


def rate(
    image: Source,
    prompt: str,
    *,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    major: Sequence[str] = (),
    frame: int = 0,
    settings: Settings | None = None,
) -> Verdict:
    """How well does this image fit the prompt? A score of 1 to 5, with the reason in `summary`, at most 20 words."""
    item = {"image": image, "prompt": prompt, "major": major, "frame": frame}
    return judge_one("rate", item, judge_settings(settings, judge, model, models))


def edit(
    before: Source,
    after: Source,
    instruction: str,
    mask: Source | None = None,
    *,
    id: str = "",  # noqa: A002 the protocol's own name
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> Verdict:
    """Does the edited image carry out the instruction? Alignment, completeness and plausibility, each 1 to 7."""
    item = {"before": before, "after": after, "instruction": instruction, "mask": mask, "id": id}
    return judge_one("edit", item, judge_settings(settings, judge, model, models))


def judge_one(rubric: str | Rubric, item: Mapping[str, Any], settings: Settings) -> Verdict:
    """The verdict by any rubric; `item` has its inputs by name."""
    protocol = load_rubric(rubric) if isinstance(rubric, str) else rubric
    judge = judges.get(protocol, settings)
    try:
        return judge.judge(make_sample(protocol, settings, item))
    except KeyboardInterrupt:
        judges.drop(judge)
        raise


def judge_many(
    rubric: str,
    items: Iterable[Mapping[str, Any]],
    *,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> Iterator[Result]:
    """Verdicts on many items by a rubric, in order, as they get ready; many are in progress at a time.

    An item holds the rubric's inputs: `{"image": "a.png", "prompt": "a cat"}`. For an item without a verdict there is
    its error: it affects no other.
    """
    resolved, protocol = judge_settings(settings, judge, model, models), load_rubric(rubric)
    loaded = judges.get(protocol, resolved)

    def attempt(item: Mapping[str, Any]) -> Result:
        try:
            return loaded.judge(make_sample(protocol, resolved, item))
        except OnpromptError as error:
            return error

    rest = iter(items)
    first = list(itertools.islice(rest, 2))
    return in_order(
        attempt,
        itertools.chain(first, rest),
        loaded.slots,
        begin=use_single_core if len(first) > 1 else None,  # a single one has all cores
        stop=partial(judges.drop, loaded),
    )


def missing_reason(result: Result) -> str:
    """Why there is nothing to count: an error, or that nothing could be checked; empty if there is a verdict."""
    if isinstance(result, OnpromptError):
        return str(result) or type(result).__name__
    return "nothing in the prompt could be checked (not_verifiable)" if Flag.NOT_VERIFIABLE in result.flags else ""


class Candidate(NamedTuple):
    """One of several images: its place among those given, and its verdict, or the error that stands in its place."""

    image: Source
    number: int
    result: Result

    @property
    def value(self) -> float | None:
        """What it is ranked by; None without a verdict, or if nothing could be checked."""
        return self.result.value if isinstance(self.result, Verdict) and not missing_reason(self.result) else None

    @property
    def reason(self) -> str:
        """Why it is where it is, in words."""
        return self.result.summary if isinstance(self.result, Verdict) else str(self.result)


def best(
    images: Iterable[Source],
    prompt: str,
    *,
    rubric: str = DEFAULT,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> list[Candidate]:
    """Images of one prompt, the best first, each with its verdict and the reason; what can't be ranked comes last."""
    sources = list(images)
    items = [{"image": image, "prompt": prompt} for image in sources]
    return ranked(sources, judge_many(rubric, items, judge=judge, model=model, models=models, settings=settings))


def best_edit(
    before: Source,
    edited: Iterable[Source],
    instruction: str,
    mask: Source | None = None,
    *,
    judge: str = "",
    model: str = "",
    models: Sequence[str] = (),
    settings: Settings | None = None,
) -> list[Candidate]:
    """Edits of one image by one instruction, the best first, as `best` ranks images of one prompt."""
    sources = list(edited)
    given = {"before": before, "instruction": instruction, "mask": mask}
    items = [given | {"after": after} for after in sources]
    return ranked(sources, judge_many("edit", items, judge=judge, model=model, models=models, settings=settings))


def ranked(sources: Sequence[Source], results: Iterable[Result]) -> list[Candidate]:
    """Images with their results, the best first."""
    found = [Candidate(*each) for each in zip(sources, range(len(sources)), results, strict=True)]
    return sorted(found, key=lambda candidate: math.inf if candidate.value is None else -candidate.value)


def plan(rubric: str, items: Iterable[Mapping[str, Any]], *, settings: Settings | None = None) -> JudgePlan:
    """The calls to a model, tokens and dollars that `judge_many` would take; nothing is asked."""
    resolved, protocol = resolve_settings(settings), load_rubric(rubric)
    planned = judges.get(protocol, resolved).plan(partial(make_sample, protocol, resolved, item) for item in items)
    return JudgePlan("", 0, 0, Usage(cost=0.0), again=False) if planned is None else planned


def load_run(path: str | os.PathLike[str], configuration: int = 0) -> Run:
    """The results in a run file: rows, verdicts, a pandas DataFrame."""
    return Run(os.fspath(path), configuration)


def judge_settings(
    settings: Settings | None = None, judge: str = "", model: str = "", models: Sequence[str] = ()
) -> Settings:
    """The settings with the given judge and models; one model implies the judge `vlm`, several a jury."""
    if model and models:
        raise UserError("choose `model` or `models`, not both")
    chosen = model_settings(judge, check_names("models", models) or [model])
    return resolve_settings(settings).model_copy(update=chosen)


def model_settings(judge: str, models: Sequence[str]) -> dict[str, Any]:
    """The settings for a judge and the models that were named; empty where neither was. Models imply a judge."""
    named = tuple(name for name in models if name)
    if not named:
        return {"judge": judge} if judge else {}
    one = len(named) == 1
    return {"judge": judge, "model": named[0] if one else "", "models": () if one else named}
