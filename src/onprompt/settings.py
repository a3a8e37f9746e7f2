"""Every number that a verdict depends on, named, documented, and loadable from a file or the environment."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from onprompt.errors import SettingsError
from onprompt.plugins import did_you_mean

FILE = "onprompt.toml"
PREFIX = "ONPROMPT_"
PRIVATE = frozenset(
    {"home", "mirror", "answers", "record", "base_url", "api_key"}
)  # the user's own: never told with a verdict


def number(default: float, why: str, low: float = 0.0, high: float = 1.0) -> Any:
    """A bounded number with its explanation."""
    return Field(default, ge=low, le=high, description=why)


class Settings(BaseModel):
    """What is in force. Frozen: a changed copy is made by `settings.model_copy(update=...)` or `load(...)`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(
        default_factory=lambda: platformdirs.user_cache_path("onprompt", appauthor=False),
        description="where model files are kept",
    )
    mirror: str = Field(
        default="", description="a folder or http(s) address of yours that holds model files by name; asked first"
    )
    source_timeout: float = number(3.0, "seconds after which a source that has not answered is passed over", 0.1, 600)
    parser: str = Field(default="", description="spaCy pipeline that reads prompts (en_core_web_sm …); empty: our own")
    permissive: bool = Field(
        default=False,
        description="use Apache, MIT and BSD model files only; what they can't see is guessed at or unverifiable",
    )
    detector: str = Field(
        default="fused", description="which detector looks: a file in vision/detectors, or hf:OWNER/MODEL"
    )

    max_megapixels: float = number(100, "step 0: larger pictures are refused", 0.01, 178)
    max_side: int = Field(
        default=1280, ge=64, description="step 0: longer pictures are scaled down to this many pixels"
    )
    max_prompt_characters: int = Field(default=200_000, ge=1, description="step 0: longer prompts are refused")

    pair: int = Field(default=2, ge=1, description="step 1: 'a pair', 'a couple'")
    few_low: int = Field(default=2, ge=1, description="step 1: 'few' is at least this")
    few_high: int = Field(default=4, ge=1, description="step 1: 'few' is at most this")
    several_low: int = Field(default=3, ge=1, description="step 1: 'several' is at least this")
    several_high: int = Field(default=7, ge=1, description="step 1: 'several' is at most this")

    low_confidence: float = number(0.5, "steps 2, 3: a sighting less sure than this is LOW_CONFIDENCE")
    faintest: float = number(0.05, "step 2: a sighting less sure than this is not reported")
    missing_below: float = number(0.25, "step 3: a sighting less sure than this is no sighting of what was asked for")
    duplicate_overlap: float = number(0.6, "step 2: boxes of one label that overlap more (IoU) are one object")
    small_area: float = number(0.05, "step 2: up to this share of the picture an object is small")
    medium_area: float = number(0.20, "step 2: up to this share it is medium, above it large")
    colour_share: float = number(0.2, "step 2: a colour is dominant if it covers this share of the object")

    colour_match: float = number(10.0, "step 3: ΔE2000 up to which a colour matches", 0, 100)
    colour_near: float = number(25.0, "step 3: ΔE2000 up to which it is a minor mismatch", 0, 100)
    minor_score: float = number(0.5, "step 3: what a minor mismatch is worth")
    weight_class: float = number(0.5, "step 3: share of the class in match_score")
    weight_count: float = number(0.3, "step 3: share of the count in match_score")
    weight_attributes: float = number(0.2, "step 3: share of the attributes in match_score")
    count_steepness: float = number(4.0, "step 3: a wrong count scores (smaller / larger) to this power", 0, 20)
    article_surplus: float = number(0.9, "step 3: count score where 'a' or 'an' is met by more than one")
    subtype_score: float = number(
        0.7, "step 7: class score where only the broader kind can be told (chair for office chair)"
    )
    kin_score: float = number(0.6, "step 3: class score where a close kind stands in (zebra for giraffe)")
    kin_distance: float = number(0.75, "step 3: how far apart kinds may be that stand in for each other")
    relation_sure: float = number(0.6, "step 3: a relation at least this likely holds")
    relation_unsure: float = number(0.4, "step 3: below this it fails; between the two it is LOW_CONFIDENCE")
    text_match: float = number(0.8, "step 3: read text at least this similar matches")
    text_near: float = number(0.5, "step 3: at least this similar, it is a minor mismatch")

    presence_4: float = number(0.90, "step 5: overall_presence_score for a 4")
    attributes_4: float = number(0.90, "step 5: attribute_accuracy for a 4")
    presence_3: float = number(0.80, "step 5: overall_presence_score for a 3")
    attributes_3: float = number(0.70, "step 5: attribute_accuracy for a 3")
    presence_2: float = number(0.50, "step 5: overall_presence_score for a 2")
    presence_1: float = number(0.20, "step 5: overall_presence_score for a 1")
    major_weight: float = number(2.0, "step 5: weight of an object marked major; others weigh 1", 0, 1000)
    prior: float = number(
        0.5, "presence where nothing at all is verifiable, and the value too if the matcher has no say"
    )
    review_below: float = number(0.5, "coverage under which a person should look")
    matcher: bool = Field(default=True, description="whether the matcher guesses at what nothing else can check")
    fuse_detector: float = number(0.94, "step 3: weight of a detector's log-odds that a thing is there", 0, 10)
    fuse_matcher: float = number(0.83, "step 3: weight of the matcher's log-odds beside them", 0, 10)
    fuse_shift: float = number(1.75, "step 3: what is added to both", -10, 10)
    guess_shift: float = number(-0.6, "step 3: what is added to the matcher's log-odds where it is alone", -10, 10)
    matcher_disagrees: float = number(0.7, "how far the guess at the whole may be from the evidence unflagged")
    value_whole: float = number(0.6, "weight in `value` of the matcher's guess at the whole")
    value_count: float = number(0.7, "what a wrong number takes from an object's part in `value`")
    value_details: float = number(0.5, "what wrong attributes and relations take from it")

    rate_all: float = number(0.9, "rate: share from which all elements, or all relations, are shown")
    rate_most: float = number(0.5, "rate: share above which most are shown")
    rate_some: float = number(0.2, "rate: share from which any is shown")

    judge: str = Field(
        default="", description="who judges: a file in judges (evidence, vlm, hybrid); empty: vlm if a model is named"
    )
    model: str = Field(default="", description="which model is asked: BACKEND/MODEL, such as openai/gpt-5.2")
    base_url: str = Field(default="", description="address of the model's server; empty: the backend's own")
    api_key: SecretStr = Field(
        default=SecretStr(""), description="the server's key; empty: the variable that its SDK reads. Never stored"
    )
    answers: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("onprompt", appauthor=False) / "answers.sqlite",
        description="the file that keeps every answer of a model",
    )
    reuse_answers: bool = Field(default=True, description="take an answer to the same question from that file")
    record: Path | None = Field(
        default=None, description="a file to which every answer is added, for the replay backend"
    )
    send_side: int = Field(default=1024, ge=28, description="pictures are sent with their longest side cut to this")
    send_format: Literal["jpeg", "png"] = Field(default="jpeg", description="the format in which they are sent")
    send_quality: int = Field(default=95, ge=1, le=100, description="quality of a JPEG that is sent")
    answer_tokens: int = Field(default=2048, ge=1, description="tokens of an answer, at most")
    temperature: float = number(0.0, "with which a model is asked once", 0, 2)
    repeat_temperature: float = number(1.0, "with which it is asked several times", 0, 2)
    repeats: int = Field(default=1, ge=1, le=1000, description="how often the same question is asked")
    structured: bool = Field(default=True, description="hold models to a JSON schema where their server can")
    chances: bool = Field(default=True, description="ask for token probabilities, where the server has them")
    yes_no: bool = Field(default=False, description="verify: also ask whether the picture shows the prompt, yes or no")
    rate_examples: bool = Field(default=True, description="rate: show the model the seven worked examples")
    concurrency: int = Field(default=8, ge=1, le=1024, description="how many questions are under way at a time")
    timeout: float = number(120.0, "seconds that one request may take", 0.01, 3600)
    retries: int = Field(default=5, ge=0, le=100, description="how often a request is sent again after server trouble")
    backoff: float = number(0.5, "seconds before the second try; doubled with each, and spread at random", 0, 60)
    longest_wait: float = number(120.0, "seconds that a server may ask to be left alone", 0, 86400)
    breaker_failures: int = Field(default=10, ge=1, description="failed requests in a row after which a server is down")
    breaker_pause: float = number(30.0, "seconds for which such a server is not asked", 0, 86400)
    price_in: float | None = Field(default=None, ge=0, description="US dollars for a million tokens of questions")
    price_out: float | None = Field(default=None, ge=0, description="US dollars for a million tokens of answers")
    budget: float | None = Field(default=None, gt=0, description="US dollars that may be spent, at most")
    batch: int = Field(default=16, ge=1, description="transformers: how many questions are answered at a time")
    device: str = Field(default="", description="transformers: where the model runs; empty: a GPU if there is one")

    @property
    def judged_by(self) -> str:
        """The judge, named or not."""
        return self.judge or ("vlm" if self.model else "evidence")

    @field_validator("home", "mirror", "answers")
    @classmethod
    def printable(cls, value: Path | str) -> Path | str:
        """A path that no disk can hold is better refused here."""
        if "\0" in str(value):
            raise ValueError("holds a NUL character")
        return value

    @model_validator(mode="after")
    def consistent(self) -> Self:
        """Numbers that only make sense together."""
        weights = self.weight_class + self.weight_count + self.weight_attributes
        if abs(weights - 1) > 1e-6:
            raise ValueError(f"weight_class, weight_count and weight_attributes must add up to 1, not {weights:g}")
        ascending(self, "few_low", "few_high")
        ascending(self, "several_low", "several_high")
        ascending(self, "small_area", "medium_area")
        ascending(self, "colour_match", "colour_near")
        ascending(self, "text_near", "text_match")
        ascending(self, "relation_unsure", "relation_sure")
        ascending(self, "presence_1", "presence_2", "presence_3", "presence_4")
        ascending(self, "attributes_3", "attributes_4")
        ascending(self, "rate_some", "rate_most", "rate_all")
        ascending(self, "faintest", "missing_below", "low_confidence")
        return self


def ascending(settings: Settings, *names: str) -> None:
    """Complain unless the named settings do not fall."""
    values = [getattr(settings, name) for name in names]
    if values != sorted(values):
        raise ValueError(f"{' ≤ '.join(names)} must hold, got {values}")


Layer = tuple[str, dict[str, Any]]


def from_file() -> list[Layer]:
    """`onprompt.toml` of this folder, or the file that ONPROMPT_CONFIG names."""
    named = os.environ.get(PREFIX + "CONFIG")
    path = Path(named or FILE)
    if not named and not path.is_file():
        return []
    try:
        return [(str(path), tomllib.loads(path.read_text(encoding="utf-8")))]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"can't read {path}: {error}") from error


def from_environment() -> list[Layer]:
    """`ONPROMPT_DETECTOR=coco` sets `detector`; an empty variable sets nothing."""
    found = {name: value for name, value in os.environ.items() if name.startswith(PREFIX) and value}
    found.pop(PREFIX + "CONFIG", None)
    return [(variable, {variable.removeprefix(PREFIX).lower(): value}) for variable, value in sorted(found.items())]


def layers(overrides: dict[str, Any]) -> list[Layer]:
    """Where values come from, the strongest last."""
    return [*from_file(), *from_environment(), ("the call", overrides)]


def load(**overrides: Any) -> Settings:
    """The settings in force: defaults, then the file, then the environment, then `overrides`."""
    return load_with_origins(**overrides)[0]


def load_with_origins(**overrides: Any) -> tuple[Settings, dict[str, str]]:
    """The settings in force and, for each that is not a default, where it comes from."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, layer in layers(overrides):
        for name, value in layer.items():
            if name not in Settings.model_fields:
                raise SettingsError(f"no setting {name!r} (in {origin}){did_you_mean(name, Settings.model_fields)}")
            values[name], origins[name] = value, origin
    try:
        return Settings(**values), origins
    except ValidationError as error:
        message = explain(error, origins)
    raise SettingsError(message)  # here and not above: the error of pydantic holds the values, a key among them


def explain(error: ValidationError, origins: dict[str, str]) -> str:
    """What is wrong with the values, one line each."""
    lines = []
    for problem in error.errors():
        name = ".".join(map(str, problem["loc"]))
        if not name:
            lines.append(problem["msg"].removeprefix("Value error, "))
            continue
        value = "…" if name in PRIVATE else repr(problem["input"])
        lines.append(f"{name} = {value} (from {origins.get(name, 'default')}): {problem['msg']}")
    return "; ".join(lines)
