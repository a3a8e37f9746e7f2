"""Every number that a verdict depends on, documented, and loadable from a file or the environment."""

import os
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from onprompt import files
from onprompt.errors import SettingsError
from onprompt.plugins import did_you_mean

FILE = "onprompt.toml"
MAX_BYTES = 10**7  # of that file
PREFIX = "ONPROMPT_"
CONFIG, QUIET, TYPED = PREFIX + "CONFIG", PREFIX + "QUIET", PREFIX + "TYPED"
NO_SETTINGS = {CONFIG, QUIET, TYPED, PREFIX + "WEB_TOKEN"}  # variables that are something else
OPTION, SET = "an option", "--set"  # where settings come from; TYPED names those of --set
ASCENDING = (  # settings of which none may be smaller than the one before
    ("few_low", "few_high"),
    ("several_low", "several_high"),
    ("small_area", "medium_area"),
    ("color_match", "color_near"),
    ("presence_1", "presence_2", "presence_3", "presence_4"),
    ("attributes_3", "attributes_4"),
    ("min_confidence", "low_confidence"),
)
PRIVATE = frozenset({"home", "mirror", "answers", "record", "base_url", "api_key", "asked_by"})  # not in a verdict
# Settings that decide where images and keys go and which files are used: a file has to be named to set them.
OUTWARD = ("home", "mirror", "answers", "record", "base_url", "api_key", "model", "models")

Layer = tuple[str, dict[str, Any]]  # where settings come from, and their values


def number(default: float, description: str, low: float = 0.0, high: float = 1.0) -> Any:
    """A bounded number."""
    return Field(default=default, ge=low, le=high, description=description)


def integer(default: int, description: str, low: int = 1, high: int | None = None) -> Any:
    """A bounded integer."""
    return Field(default=default, ge=low, le=high, description=description)


def option(default: str | bool | None, description: str) -> Any:
    """A text or a switch."""
    return Field(default=default, description=description)


class Settings(BaseModel):
    """All settings. Frozen: make a changed copy with `settings.model_copy(update=...)` or `load(...)`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(
        default_factory=lambda: platformdirs.user_cache_path("onprompt", appauthor=False),
        description="folder for model files",
    )
    mirror: str = option("", "your own folder or http(s) address of model files, tried first")
    permissive: bool = option(False, "refuse model files that are not under an Apache, MIT or BSD license")
    detector: str = option("coco", "detector: coco (built in), or one from another package (docs/model-files.md)")
    precision: Literal["int8", "f32"] = option(
        "int8", "int8: eight bits for networks whose accuracy hardly changes; f32: 32 bits everywhere"
    )

    max_megapixels: float = number(100, "larger images are refused", 0.01, 178)
    max_megabytes: int = integer(600, "images whose file and pixels would take more memory are refused")
    max_side: int = integer(1280, "images are scaled down to this many pixels on their longer side", 64)
    max_prompt_characters: int = integer(10_000, "longer prompts are refused: no image model reads as much")

    pair: int = integer(2, "the number of 'a pair' or 'a couple'")
    few_low: int = integer(2, "the lowest number for 'few'")
    few_high: int = integer(4, "the highest number for 'few'")
    several_low: int = integer(3, "the lowest number for 'several'")
    several_high: int = integer(7, "the highest number for 'several'")

    low_confidence: float = number(0.5, "confidence below which a sighting is uncertain")
    min_confidence: float = number(0.05, "confidence below which a sighting is dropped")
    duplicate_overlap: float = number(0.6, "IoU above which two boxes of the same label are one object")
    small_area: float = number(0.05, "share of the image up to which an object is small")
    medium_area: float = number(0.20, "share up to which it is medium; above, large")
    color_share: float = number(0.2, "share of the object from which a color is dominant")

    color_match: float = number(10.0, "ΔE2000 up to which a shade, or a color between two terms, matches", 0, 100)
    color_near: float = number(25.0, "ΔE2000 up to which it is a minor mismatch", 0, 100)
    weight_class: float = number(0.5, "weight of the class in match_score")
    weight_count: float = number(0.3, "weight of the count in match_score")
    weight_attributes: float = number(0.2, "weight of the attributes in match_score")
    subtype_score: float = number(0.7, "class score of a broader class (chair for office chair)")

    presence_4: float = number(0.90, "overall_presence_score for a 4")
    attributes_4: float = number(0.90, "attribute_accuracy for a 4")
    presence_3: float = number(0.80, "overall_presence_score for a 3")
    attributes_3: float = number(0.70, "attribute_accuracy for a 3")
    presence_2: float = number(0.50, "overall_presence_score for a 2")
    presence_1: float = number(0.20, "overall_presence_score for a 1")
    matcher: str = option("small", "estimates the rest: small (built in), or one from another package; none: nothing")

    judge: str = option(
        "",
        "judge: a file in judges (evidence, vlm, claims, jury); empty: evidence, vlm or jury, by the models",
    )
    model: str = option("", "model to ask: BACKEND/MODEL, such as openai/gpt-5.2")
    models: tuple[str, ...] = Field(
        default=(),
        description="several models, in place of `model`: a jury; also BACKEND/MODEL@URL and claims:BACKEND/MODEL",
    )
    jury_evidence_weight: float = number(
        0.2, "jury: weight of the evidence; that of all models together is 1, and 0 leaves it out", 0, 100
    )
    jury_weights: tuple[tuple[str, float], ...] = Field(
        default=(), description="jury: weights by model; others have their known weight (docs/jury.md) or 1"
    )
    device: str = option("CPU", "local: what runs the model, CPU or GPU (Intel)")
    base_url: str = option("", "address of the model's server; empty: the backend's default")
    api_key: SecretStr = Field(
        default=SecretStr(""), description="key of the server; empty: from its usual variable. Never stored"
    )
    answers: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("onprompt", appauthor=False) / "answers.sqlite",
        description="file in which every answer of a model is cached",
    )
    asked_by: str = option("", "name stored with each cached answer: what it was asked for (set by a run)")
    reuse_answers: bool = option(True, "reuse a cached answer to the same question")
    record: Path | None = Field(default=None, description="file to which every answer is added, for the replay backend")
    send_side: int = integer(1024, "images are sent scaled down to this many pixels on their longer side", 28)
    send_quality: int = integer(95, "quality of the JPEGs that are sent; 0: PNG", 0, 100)
    answer_tokens: int = integer(2048, "largest number of tokens in an answer")
    temperature: float = number(0.0, "temperature of a model; where it is 0, repeats are asked at 1", 0, 2)
    repeats: int = integer(1, "how often the same question is asked", 1, 1000)
    structured: bool | None = option(
        None, "request answers that follow a JSON schema; not set: only if the rubric asks for JSON"
    )
    logprobs: bool = option(True, "request token probabilities, if the server supports it")
    rate_examples: bool = option(True, "rate: show the model the seven worked examples")
    send_mask: bool = option(False, "edit: show the model the mask, too; the protocol has none")
    claims_per_call: int = integer(40, "claims: how many in one question; 1: each is a question of its own", 1, 500)
    measured: bool = option(False, "claims: measure first, and ask the model only about unresolved claims")
    crops: bool = option(False, "claims, measured: also send the part of the image that each claim is about")
    concurrency: int = integer(8, "number of questions in progress at a time", 1, 1024)
    timeout: float = number(120.0, "seconds that a request may take", 0.01, 3600)
    retries: int = integer(5, "how often a request is retried after a server error", 0, 100)
    backoff: float = number(0.5, "seconds before the first retry; doubled with each, with random jitter", 0, 60)
    price_in: float | None = Field(default=None, ge=0, description="US dollars per million input tokens")
    price_out: float | None = Field(default=None, ge=0, description="US dollars per million output tokens")
    budget: float | None = Field(default=None, gt=0, description="most US dollars to spend")

    @property
    def judged_by(self) -> str:
        """The name of the judge, chosen or implied."""
        return self.judge or ("jury" if self.models else "vlm" if self.model else "evidence")

    @property
    def names_a_model(self) -> bool:
        """Whether detector or matcher is a model of the user's choice, as in hf:OWNER/MODEL: it may use a GPU."""
        return ":" in self.detector or ":" in self.matcher

    @field_validator("matcher", mode="before")
    @classmethod
    def switched(cls, value: Any) -> Any:
        """`none` switches it off, since an empty variable sets nothing."""
        return "" if value == "none" else value

    @field_validator("models", "jury_weights", mode="before")
    @classmethod
    def listed(cls, value: Any, info: ValidationInfo) -> Any:
        """A list as an environment variable holds it, `a,b` or `a=1,b=0.5`, or a table of TOML."""
        if isinstance(value, str):
            value = [entry.strip() for entry in value.split(",") if entry.strip()]
            value = value if info.field_name == "models" else [entry.rsplit("=", 1) for entry in value]
        return list(value.items()) if isinstance(value, dict) else value

    @field_validator("home", "mirror", "answers")
    @classmethod
    def printable(cls, value: Path | str) -> Path | str:
        """Refuse a path that no disk can hold."""
        if "\0" in str(value):
            raise ValueError("contains a NUL character")
        return value

    @model_validator(mode="after")
    def consistent(self) -> Self:
        """Check numbers that depend on each other."""
        weights = self.weight_class + self.weight_count + self.weight_attributes
        if abs(weights - 1) > 1e-6:
            raise ValueError(f"weight_class, weight_count and weight_attributes must add up to 1, not {weights:g}")
        for names in ASCENDING:
            values = [getattr(self, name) for name in names]
            if values != sorted(values):
                raise ValueError(f"{' ≤ '.join(names)} must hold, got {values}")
        if twice := [name for name in self.models if self.models.count(name) > 1]:
            raise ValueError(f"models names {twice[0]} twice; to ask a model repeatedly, use repeats")
        if bad := [name for name, weight in self.jury_weights if not 0 < weight < float("inf")]:
            raise ValueError(f"jury_weights: the weight of {bad[0]} must be above 0")
        return self


def is_quiet() -> bool:
    """Whether only results and errors are printed."""
    return bool(os.environ.get(QUIET))


def config_file() -> Path | None:
    """The file that ONPROMPT_CONFIG names, or `onprompt.toml` in the current folder, if there is one."""
    configured = os.environ.get(CONFIG)
    if configured:
        return Path(configured) if configured != os.devnull else None
    return Path(FILE) if Path(FILE).is_file() else None


def read_file() -> list[Layer]:
    """The settings in the file. One that merely lies in the current folder may be a stranger's."""
    path = config_file()
    if not path:
        return []
    try:
        values = tomllib.loads(files.read_file(path, MAX_BYTES).decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not os.environ.get(CONFIG):
        usual = Settings().model_dump()
        outward = [name for name in OUTWARD if values.get(name) and str(values[name]) != str(usual[name])]
        outward += [name for name in ("detector", "matcher") if ":" in str(values.get(name))]  # of a hub, or a file
        if outward:
            raise SettingsError(
                f"{path} in this folder sets {', '.join(outward)}. Such settings decide where images and keys are sent "
                f"and which files are used. If you trust the file, name it: onprompt --config {path} …, or set "
                f"{CONFIG}={path}; {CONFIG}={os.devnull} ignores it"
            )
    return [(str(path), values)]


def load(origin: str = "an argument", /, **overrides: Any) -> Settings:
    """Defaults, overridden by the file, then the environment, then `overrides`."""
    return load_with_origins(origin, **overrides)[0]


def load_with_origins(origin: str = "an argument", /, **overrides: Any) -> tuple[Settings, dict[str, str]]:
    """The settings and, for each that is not a default, where it comes from: `overrides` come from `origin`.

    `ONPROMPT_DETECTOR=coco` sets `detector`; an empty variable sets nothing.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    variables = {name for name, value in os.environ.items() if name.startswith(PREFIX) and value} - NO_SETTINGS
    typed = os.environ.get(TYPED, "").split()
    environment = [
        (SET if name in typed else name, {name.removeprefix(PREFIX).lower(): os.environ[name]})
        for name in sorted(variables)
    ]
    for source, layer in [*read_file(), *environment, (origin, overrides)]:
        for name, value in layer.items():
            if name not in Settings.model_fields:
                raise SettingsError(f"no setting {name!r} (in {source}){did_you_mean(name, Settings.model_fields)}")
            values[name], origins[name] = value, source
    try:
        return Settings(**values), origins
    except ValidationError as error:
        message = explain(error, origins)
    raise SettingsError(message)  # not in the except block: pydantic's error holds the values, a key among them


def explain(error: ValidationError, origins: dict[str, str]) -> str:
    """What is wrong with the values."""
    lines = []
    for problem in error.errors():
        name = ".".join(map(str, problem["loc"]))
        if not name:
            lines.append(problem["msg"].removeprefix("Value error, "))
            continue
        value, origin = "…" if name in PRIVATE else problem["input"], origins.get(name, "default")
        typed = {OPTION: f"--{name.replace('_', '-')} {value}", SET: f"--set {name}={value}"}  # as the user wrote it
        message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
        lines.append(f"{typed.get(origin, f'{name} = {value!r} (from {origin})')}: {message}")
    return "; ".join(lines)
