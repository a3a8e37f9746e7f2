"""What a service may ask for, checked: the inputs of a rubric as JSON, and a judge that the server offers."""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from onprompt import plugins
from onprompt.api import model_settings
from onprompt.errors import ImageError, UserError
from onprompt.samples import asks, make_sample
from onprompt.settings import Settings
from onprompt.types import FRAME, IMAGE, NAMES, Asks, Input, Rubric, Sample

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


class Problem(BaseModel):
    """Why there is no verdict."""

    error: str = Field(description="The kind of error.")
    message: str = Field(description="What to change.")


class VerdictDocument(BaseModel):
    """A verdict; docs/json.md describes all of its fields."""

    model_config = ConfigDict(extra="allow")

    format: str
    rubric: str
    judge: str
    score: int | None = Field(description="On the rubric's scale; null where it has several factors.")
    value: float = Field(description="0 to 1.")
    summary: str
    factors: dict[str, Any]
    flags: list[str] = []
    checks: list[dict[str, Any]] = []


def request_model(rubric: Rubric) -> type[JudgeRequest]:
    """The body of a request by a rubric."""
    fields: dict[str, Any] = {given.name: field_of(given) for given in rubric.inputs}
    made = create_model(f"{rubric.name.title()}Request", __base__=JudgeRequest, **fields)
    made.__doc__ = rubric.help
    return made


def field_of(given: Input) -> tuple[Any, Any]:
    """An input as a field: its type and its default."""
    kind = KINDS.get(given.kind, str)
    about = f"{given.help} The bytes of its file, in base64." if given.kind == IMAGE else given.help
    return (kind, Field(description=about)) if given.required else (kind | None, Field(None, description=about))


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
            raise UserError(f"no judge {judge[:200]!r} for {rubric.name} here; there are: {self.listed(rubric)}")
        usual: dict[Asks, tuple[str, ...]] = {Asks.NONE: (), Asks.ONE: self.models[:1], Asks.SEVERAL: self.models}
        asked = [own[name] for name in wanted] or usual[asks(judge) if judge else Asks.NONE]
        chosen = model_settings(judge, asked)
        return self.settings.model_copy(update={"judge": "", "model": "", "models": (), **chosen} if chosen else {})

    def listed(self, rubric: Rubric) -> str:
        """The judges in an error message."""
        return ", ".join(self.judges(rubric)) or "none that can serve it"


def public_name(model: str) -> str:
    """A model, or an address, without the name and the password that its URL may hold."""
    return re.sub("://.*@", "://", model, flags=re.DOTALL)


def item_of(rubric: Rubric, body: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a rubric from a request, with the bytes of its images."""
    item: dict[str, Any] = {"id": body.get("id") or ""}
    for given in rubric.inputs:
        value = body.get(given.name)
        if value is not None:
            item[given.name] = decode(given.name, value) if given.kind == IMAGE else value
    return item


def decode(name: str, text: str) -> bytes:
    """The bytes of an image in base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ImageError(f"{name} is not base64", "not base64") from None


def sample_of(rubric: Rubric, settings: Settings, item: Mapping[str, Any]) -> Sample:
    """A sample whose pictures are known to be pictures, neither too large nor a bomb."""
    sample = make_sample(rubric, settings, item)
    for picture in (sample.picture, *sample.pictures.values()):
        _ = picture.decoded
    return sample
