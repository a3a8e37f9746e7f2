"""Judging what a page or a service sends: a request is checked and queued, and answered with a verdict to show."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, create_model

import onprompt
from onprompt import plugins, stages
from onprompt.api import model_settings
from onprompt.errors import ImageError, UserError
from onprompt.pages.jobs import Job, JobQueue
from onprompt.pages.pictures import change_map, in_address
from onprompt.pages.verdict_view import CHANGED, VerdictView, verdict_view
from onprompt.report.document import document
from onprompt.samples import Judges, asks, make_sample
from onprompt.settings import Settings
from onprompt.types import FRAME, IMAGE, NAMES, Asks, Rubric
from onprompt.vision import use_single_core
from onprompt.wording.terminal import shell_word

LISTED = 100  # names in a list, at most
KINDS: dict[str, Any] = {
    IMAGE: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64", "format": "byte"})],
    NAMES: Annotated[list[str], Field(max_length=LISTED)],
    FRAME: Annotated[int, Field(ge=0)],
}


class JudgeRequest(BaseModel):
    """What all requests have beside the inputs of their rubric."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field("", max_length=1000, description="The sample's id.")
    judge: str = Field("", description="The judge (GET /v1/judges lists them); empty: the server's own.")
    models: list[str] = Field([], max_length=LISTED, description="Models to ask, of those that the server offers.")


def request_model(rubric: Rubric) -> type[JudgeRequest]:
    """The body of a request by a rubric."""
    fields: dict[str, Any] = {}
    for given in rubric.inputs:
        kind = KINDS.get(given.kind, str)
        about = f"{given.help} The bytes of its file, in base64." if given.kind == IMAGE else given.help
        needed = (kind, Field(description=about)), (kind | None, Field(None, description=about))
        fields[given.name] = needed[0 if given.required else 1]
    made = create_model(f"{rubric.name.title()}Request", __base__=JudgeRequest, **fields)
    made.__doc__ = rubric.help
    return made


@dataclass(frozen=True)
class Offer:
    """What a server lets others choose: its own settings, and the models that it may be made to pay for."""

    settings: Settings
    models: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The models as they are shown and chosen."""
        return [public_name(model) for model in self.models]

    def judges(self, rubric: Rubric) -> list[str]:
        """The judges that can serve a rubric here."""
        alone = [name for name in plugins.names("judges") if asks(name) is Asks.NONE]
        asking = [name for name in plugins.names("judges") if name not in alone]
        return [*(alone if rubric.grade else ()), *(asking if rubric.text and self.models else ())]

    def choices(self, rubric: Rubric) -> list[dict[str, Any]]:
        """The judges and models to choose from on the page; the first is the server's own choice."""
        alone = [[model] for model in self.names]
        asked: dict[Asks, list[list[str]]] = {Asks.NONE: [[]], Asks.ONE: alone, Asks.SEVERAL: [self.names]}
        found = [{"judge": judge, "models": models} for judge in self.judges(rubric) for models in asked[asks(judge)]]
        return sorted(found, key=lambda choice: choice["judge"] != self.settings.judged_by)

    def settings_for(self, judge: str, models: Sequence[str], rubric: Rubric) -> Settings:
        """The settings of a request; an error for a judge or model that is not offered.

        A model's name may hold the address of a server, to which a key would be sent: only listed ones are asked.
        """
        own = dict(zip(self.names, self.models, strict=True))
        wanted = [public_name(name) for name in models]
        if unknown := [name for name in wanted if name not in own]:
            offered = ", ".join(own) or "none: start it with --model"
            raise UserError(f"this server does not offer the model {unknown[0][:200]!r}; it offers {offered}")
        if judge and judge not in self.judges(rubric):
            listed = ", ".join(self.judges(rubric)) or "none that can serve it"
            raise UserError(f"no judge {judge[:200]!r} for {rubric.name} here; there are: {listed}")
        usual: dict[Asks, tuple[str, ...]] = {Asks.NONE: (), Asks.ONE: self.models[:1], Asks.SEVERAL: self.models}
        asked = [own[name] for name in wanted] or usual[asks(judge) if judge else Asks.NONE]
        chosen = model_settings(judge, asked)
        return self.settings.model_copy(update={"judge": "", "model": "", "models": (), **chosen} if chosen else {})


def public_name(model: str) -> str:
    """A model, or an address, without the name and the password that its URL may hold."""
    return re.sub("://.*@", "://", model, flags=re.DOTALL)


@dataclass(frozen=True, slots=True)
class Result:
    """A verdict as it is answered and shown, with small copies of its pictures."""

    document: Mapping[str, Any]
    view: VerdictView
    command: str
    code: str


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
        """The verdict, and all that is shown of it; no picture may be too large or a bomb."""
        if self.queue.workers > 1:
            use_single_core()
        stages.enter("open")
        item = {each.name: body[each.name] for each in rubric.inputs if body.get(each.name) is not None}
        for name in item.keys() & set(rubric.image_inputs):
            try:
                item[name] = base64.b64decode(item[name], validate=True)
            except (binascii.Error, ValueError):
                raise ImageError(f"{name} is not base64", "not base64") from None
        sample = make_sample(rubric, settings, {"id": body.get("id") or "", **item})
        for picture in (sample.picture, *sample.pictures.values()):
            _ = picture.decoded
        verdict = self.judges.get(rubric, settings).judge(sample)
        stages.enter("draw")
        given = [names.get(name, "") for name in rubric.image_inputs if name in item]
        usual = not all(given) or len(set(given)) < len(given)  # pasted pictures share a name
        files = {name: f"{name}.png" if usual else names[name] for name in rubric.image_inputs if name in item}
        models = [public_name(name) for name in settings.models or filter(None, [settings.model])]
        pictures = {"image": verdict.sample.picture, **verdict.sample.pictures}
        shown = {name: in_address(Image.fromarray(picture.pixels)) for name, picture in pictures.items()}
        if rubric.source_image:
            shown[CHANGED] = in_address(change_map(verdict.sample))
        options = [public_name(word) for word in self.options]
        return Result(
            document(verdict),
            verdict_view(verdict, shown, rubric.factors),
            command_line(rubric, item | files, settings.judged_by, models, options),
            python_code(rubric, item | files, settings.judged_by, models, onprompt.__all__),
        )

    def stop(self) -> None:
        """End what waits for a server of a model, and wait for the rest."""
        for judge in list(self.judges.kept.values()):
            judge.stop()
        self.queue.stop(wait=True)
        self.judges.close()


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
    values = {each.name: item.get(each.name) for each in rubric.inputs}
    values = {name: v for name, v in values.items() if name in rubric.required or v not in (None, "", [], 0)}
    chosen: dict[str, object] = {"judge": judge} if judge else {}
    chosen |= {"models": list(models)} if len(models) > 1 else {"model": models[0]} if models else {}
    more = "".join(f", {name}={value!r}" for name, value in chosen.items())
    if rubric.name in public:
        first = ", ".join(f"{name}={value!r}" for name, value in values.items())
        call = f"onprompt.{rubric.name}({first}{more})"
    else:
        call = f"next(onprompt.judge_many({rubric.name!r}, [{values!r}]{more}))"
    return f"import onprompt\n\nverdict = {call}\nprint(verdict.summary)"
