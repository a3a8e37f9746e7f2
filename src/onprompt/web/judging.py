"""Judging what a page or a service sends: from a checked request to a verdict that can be shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from PIL import Image

import onprompt
from onprompt import plugins, stages
from onprompt.pages.pictures import encode
from onprompt.pages.verdict_view import Shown, VerdictView, verdict_view
from onprompt.report.document import document
from onprompt.rubrics import DEFAULT
from onprompt.samples import Judges, asks
from onprompt.settings import Settings
from onprompt.types import IMAGE, NAMES, Asks, Rubric, Verdict
from onprompt.vision import use_single_core
from onprompt.web.jobs import Job, JobQueue
from onprompt.web.requests import Offer, item_of, public_name, sample_of
from onprompt.wording.terminal import shell_word


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict as it is answered and shown; the pictures that were sent are not kept, only small ones."""

    document: Mapping[str, Any]
    view: VerdictView
    pictures: Mapping[str, bytes]
    command: str
    code: str

    def view_at(self, base: str) -> VerdictView:
        """The view with the addresses of its pictures."""
        drawn = [replace(each, shown=replace(each.shown, url=base + each.shown.url)) for each in self.view.pictures]
        return replace(self.view, pictures=tuple(drawn))


@dataclass
class Service:
    """What is offered, the queue of what is judged, and the judges at work."""

    offer: Offer
    queue: JobQueue
    options: Sequence[str] = ()  # of the command line that gives the same verdicts
    judges: Judges = field(default_factory=Judges)

    def submit(self, rubric: Rubric, body: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Job:
        """Queue a request that was checked; `names` are those of its files, for the command that gives the same."""
        settings = self.offer.settings_for(body.get("judge", ""), body.get("models", ()), rubric)
        return self.queue.submit(partial(self.judge, rubric, settings, body, names or {}))

    def judge(self, rubric: Rubric, settings: Settings, body: Mapping[str, Any], names: Mapping[str, str]) -> Result:
        """The verdict, and all that is shown of it."""
        if self.queue.workers > 1:
            use_single_core()
        stages.enter("open")
        item = item_of(rubric, body)
        sample = sample_of(rubric, settings, item)
        verdict = self.judges.get(rubric, settings).judge(sample)
        stages.enter("draw")
        files = {each.name: names.get(each.name) or f"{each.name}.png" for each in rubric.inputs if each.kind == IMAGE}
        shown = {**item, **{name: file for name, file in files.items() if name in item}}
        models = settings.models or filter(None, [settings.model])
        judged_by = settings.judged_by, [public_name(name) for name in models]
        pictures = small_pictures(verdict)
        return Result(
            document(verdict),
            view_of(verdict, pictures, rubric),
            {name: data for name, (data, *_) in pictures.items()},
            command_line(rubric, shown, *judged_by, [public_name(word) for word in self.options]),
            python_code(rubric, shown, *judged_by, onprompt.__all__),
        )

    def stop(self) -> None:
        """End what waits for a server of a model, and wait for the rest."""
        for judge in list(self.judges.kept.values()):
            judge.stop()
        self.queue.stop(wait=True)
        self.judges.close()


def small_pictures(verdict: Verdict) -> dict[str, tuple[bytes, int, int]]:
    """The pictures of a verdict as JPEGs, with their sizes."""
    pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
    return {name: encode(Image.fromarray(picture.pixels)) for name, picture in pictures.items()}


def view_of(verdict: Verdict, pictures: Mapping[str, tuple[bytes, int, int]], rubric: Rubric) -> VerdictView:
    """A verdict as it is drawn; addresses of pictures are relative to those of the job."""
    shown = {name: Shown(f"image/{name}", width, height) for name, (_, width, height) in pictures.items()}
    return verdict_view(verdict, shown, rubric.factors)


def choices(offer: Offer, rubric: Rubric) -> list[dict[str, Any]]:
    """The judges and models to choose from on the page; the first is the server's own choice."""
    found: list[dict[str, Any]] = []
    for judge in offer.judges(rubric):
        alone = [[model] for model in offer.names]
        asked: dict[Asks, list[list[str]]] = {Asks.NONE: [[]], Asks.ONE: alone, Asks.SEVERAL: [offer.names]}
        found += [{"judge": judge, "models": models} for models in asked[asks(judge)]]
    own = offer.settings.judged_by
    return sorted(found, key=lambda choice: choice["judge"] != own)


def installed_rubrics() -> dict[str, Rubric]:
    """All rubrics that a judge can serve by their names, the usual one first."""
    names = sorted(plugins.names("rubrics"), key=lambda name: name != DEFAULT)
    found: dict[str, Rubric] = {name: plugins.load("rubrics", name).RUBRIC for name in names}
    return {name: rubric for name, rubric in found.items() if rubric.text or rubric.grade}


def command_line(
    rubric: Rubric, item: Mapping[str, object], judge: str, models: Sequence[str], options: Sequence[str] = ()
) -> str:
    """The command that gives the same verdict; `item` has names of files in place of images."""
    words = ["onprompt", rubric.name, *options]
    words += ["--judge", judge] if judge else []
    words += [word for model in models for word in ("--model", model)]
    positional = []
    for given in rubric.inputs:
        value = item.get(given.name)
        if value in (None, "", [], 0) and not given.required:
            continue
        if given.required:
            positional.append(str(value))
        else:
            each = value if given.kind == NAMES and isinstance(value, list | tuple) else [value]
            words += [word for entry in each for word in (f"--{given.name}", str(entry))]
    end = ["--"] if any(word.startswith("-") for word in positional) else []  # not to be taken for an option
    return " ".join(map(shell_word, [*words, *end, *positional]))


def python_code(
    rubric: Rubric, item: Mapping[str, object], judge: str, models: Sequence[str], public: Sequence[str]
) -> str:
    """The Python that gives the same verdict; `public` are the functions of the package."""
    values = {given.name: item.get(given.name) for given in rubric.inputs}
    needed = {given.name for given in rubric.inputs if given.required}
    values = {name: value for name, value in values.items() if name in needed or value not in (None, "", [], 0)}
    chosen: dict[str, object] = {"judge": judge} if judge else {}
    chosen |= {"models": list(models)} if len(models) > 1 else {"model": models[0]} if models else {}
    more = "".join(f", {name}={value!r}" for name, value in chosen.items())
    if rubric.name in public:
        first = ", ".join(f"{name}={value!r}" for name, value in values.items())
        call = f"onprompt.{rubric.name}({first}{more})"
    else:
        call = f"next(onprompt.judge_many({rubric.name!r}, [{values!r}]{more}))"
    return f"import onprompt\n\nverdict = {call}\nprint(verdict.summary)"
