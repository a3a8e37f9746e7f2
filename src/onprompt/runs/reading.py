"""How a run file is read: `Run(path).rows()` for its samples with their results, and `verdict(id)` for all of one."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_type_hints
from urllib.parse import unquote

from onprompt import serial
from onprompt.errors import ImageError, NotFound, UserError
from onprompt.plugins import did_you_mean
from onprompt.runs.file import RunFile, damaged, wrap_db_errors
from onprompt.runs.schema import fingerprint, is_as_written
from onprompt.settings import Settings
from onprompt.settings import load as load_settings
from onprompt.types import Decoded, Flag, Picture, Verdict, Voice
from onprompt.wording.labels import error_words

if TYPE_CHECKING:
    import pandas

OWN = "columns"  # where `given` has the user's own columns; no input has this name
SHORT = 40  # characters of a setting's value in the name of a judge
NAMED = ("judge", "model", "models", "members", "rubric", "settings")  # what the name of a judge has anyway
SUGGESTED = 10_000  # ids that are searched for a similar one
ROWS = """
SELECT s.id, s.prompt, v.value, v.score, s.category, s.model, s.image, ifnull(v.flags, ''), ifnull(v.summary, ''),
    ifnull(v.factors, '{}'), v.coverage, v.tokens_in, v.tokens_out, v.cost, ifnull(v.answers, ''),
    ifnull(e.kind, ''), ifnull(e.message, ''), ifnull(e.text, ''), s.given, s.number,
    coalesce(v.image_sha256, (SELECT image_sha256 FROM verdicts o WHERE o.sample = s.number
        ORDER BY o.configuration = :configuration DESC LIMIT 1), ''), v.low, v.high
FROM samples s
LEFT JOIN verdicts v ON v.sample = s.number AND v.configuration = :configuration AND v.sample_version = s.version
LEFT JOIN errors e ON e.sample = s.number AND e.configuration = :configuration AND e.sample_version = s.version
WHERE NOT s.gone ORDER BY s.number
"""
CHECKS = """SELECT c.sample, c.kind, c.asked, c.found, c.outcome, c.probability, c.source FROM checks c
JOIN present_verdicts v ON v.sample = c.sample AND v.configuration = c.configuration
WHERE c.configuration = ? ORDER BY c.sample, c.number"""
DOCUMENTS = """SELECT s.number, s.id, d.document FROM documents d JOIN samples s ON s.number = d.sample
JOIN present_verdicts v ON v.sample = d.sample AND v.configuration = d.configuration
WHERE d.configuration = ? ORDER BY s.number"""
FACTORS = "SELECT DISTINCT j.key FROM present_verdicts v, json_each(v.factors) j WHERE configuration = ?"
OWN_COLUMNS = f"""SELECT j.key, max(j.type = 'text') FROM samples s, json_each(s.given, '$.{OWN}') j
WHERE NOT s.gone GROUP BY j.key ORDER BY min(s.number), min(j.id)"""  # noqa: S608
USED = "SELECT id FROM configurations WHERE id IN (SELECT configuration FROM runs) ORDER BY id"
LAST = "SELECT data, versions, created, read_whole, columns FROM runs WHERE configuration = ? ORDER BY id DESC LIMIT 1"
PLACEHOLDER = f"instr(' ' || flags || ' ', ' {Flag.NOT_VERIFIABLE} ') > 0"
OVERVIEW = f"""SELECT
    (SELECT count(*) FROM samples WHERE NOT gone), (SELECT count(*) FROM samples WHERE gone),
    (SELECT count(*) FROM verdicts v JOIN samples s ON s.number = v.sample
        WHERE configuration = ?1 AND NOT s.gone AND v.sample_version != s.version),
    (SELECT count(*) FROM present_verdicts WHERE configuration = ?1),
    (SELECT count(*) FROM present_verdicts WHERE configuration = ?1 AND {PLACEHOLDER}),
    (SELECT ifnull(sum(tokens_in + tokens_out), 0) FROM runs WHERE configuration = ?1),
    (SELECT sum(cost) FROM runs WHERE configuration = ?1)"""  # noqa: S608

ERRORS = """SELECT kind, count(*) FROM present_errors WHERE configuration = ?
GROUP BY kind ORDER BY count(*) DESC, min(sample)"""
STORED = """SELECT s.number, document, given FROM documents d JOIN samples s ON s.number = d.sample
WHERE s.id = ? AND d.configuration = ?"""
WHY_NONE = """SELECT kind, message FROM errors e JOIN samples s ON s.number = e.sample
WHERE s.id = ? AND e.configuration = ?"""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A sample and its verdict or error; `value` is None without a verdict."""

    id: str
    prompt: str = ""
    value: float | None = None
    score: int | None = None
    category: str = ""
    model: str = ""
    image: str = ""
    flags: tuple[str, ...] = ()
    summary: str = ""
    factors: Mapping[str, int] = field(default_factory=dict)
    coverage: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    answers: tuple[str, ...] = ()  # keys in the answer cache
    error: str = ""  # its kind, if there is no verdict
    message: str = ""
    text: str = ""  # of an answer that could not be read
    given: str = "{}"  # the inputs as JSON; the user's own columns are in it under `OWN`
    number: int = 0  # in the run file
    image_sha256: str = ""  # of the image as it was judged, by this configuration or else by another
    low: float | None = None  # the interval of the value, where the claims have probabilities
    high: float | None = None

    @property
    def counts(self) -> bool:
        """Whether it enters means: it has a verdict, and something could be checked."""
        return self.value is not None and Flag.NOT_VERIFIABLE not in self.flags

    @property
    def known_value(self) -> float | None:
        """The value, unless it is a placeholder."""
        return self.value if self.counts else None

    @property
    def known_score(self) -> int | None:
        """The score, unless it is a placeholder."""
        return self.score if self.counts else None

    @property
    def group(self) -> str:
        """Its prompt; a sample without one is a group of its own."""
        return self.prompt or self.id

    @property
    def own(self) -> dict[str, str | float]:
        """The user's own columns: texts and numbers of the data that are no input."""
        given = json.loads(self.given)
        own = given.get(OWN) if isinstance(given, dict) else None
        return {k: v for k, v in own.items() if isinstance(v, str | int | float)} if isinstance(own, dict) else {}

    @property
    def why_none(self) -> str:
        """Why there is no verdict; empty if there is one."""
        if self.value is not None:
            return ""
        return f"{error_words(self.error)}: {self.message}" if self.error else "not judged yet"

    @property
    def document(self) -> dict[str, Any]:
        """The row as `show --json` prints it and files have it: None for what is not known.

        Each factor has a column, and so has each of the user's own; one whose name is taken is `data_NAME`.
        """
        known = self.value is not None
        return {
            **{name: getattr(self, name) for name in ("id", "prompt", "image", "model", "category")},
            **{name: getattr(self, name) for name in ("score", "value", "low", "high")},
            "flags": " ".join(self.flags) if known else None,
            "summary": self.summary if known else None,
            **{name: getattr(self, name) for name in ("coverage", "tokens_in", "tokens_out", "cost")},
            "answers": " ".join(self.answers) if known else None,
            "error": self.error or None,
            "message": self.message if self.error else None,
            **{f"factor_{name}": score for name, score in self.factors.items()},
            **{own_name(name): cell for name, cell in self.own.items()},
        }


COLUMNS = tuple(RunRow("").document)
TEXTS = ("flags", "factors", "answers")  # fields that are stored as texts
STORED_ROW = GenericAlias(tuple, tuple(str if n in TEXTS else hint for n, hint in get_type_hints(RunRow).items()))
WHOLE = ("score", "tokens_in", "tokens_out")  # columns of whole numbers, as are those of factors
TAKEN = (*COLUMNS, "kind", "asked", "found", "outcome", "probability", "source")


def own_name(name: str) -> str:
    """The name of a user's own column among ours."""
    return f"data_{name}" if name in TAKEN or name.startswith(("factor_", "reason_", "data_")) else name


class CheckRow(NamedTuple):
    """A check of a verdict, by the number of its sample."""

    sample: int
    kind: str
    asked: str
    found: str
    outcome: str
    probability: float
    source: str = ""


class LastRun(NamedTuple):
    """What the last run of a configuration read, with which versions, when, and whether it read all of it."""

    data: str
    versions: Mapping[str, str]
    created: str
    read_whole: bool
    columns: Mapping[str, str]  # that the user named, by field


@dataclass(frozen=True, slots=True)
class Identity:
    """What is read of the identity of a configuration; whatever else it holds is only compared."""

    rubric: str = ""
    judge: str = ""
    model: str | None = None
    models: tuple[str, ...] = ()
    split: str = ""
    size: tuple[int, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Identity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What is read of all stored verdicts: what each voice of a jury says, and the reasons of factors."""

    voices: tuple[Voice, ...] = ()
    factors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overview:
    """A run at a glance. Counts are of the samples and verdicts that are up to date."""

    read_whole: bool  # whether the last run read all of its data

    errors: Mapping[str, int]  # samples without a verdict, by the kind of error
    samples: int
    gone: int  # samples that are no longer in the data
    outdated: int  # verdicts on images or prompts that have changed since
    verdicts: int
    placeholders: int  # verdicts for which nothing could be checked
    tokens: int
    cost: float | None


class Run:
    """The results of a run: of the configuration that ran last, or of another.

    The file is opened for each question, unless it is given.
    """

    def __init__(self, path: str | Path, configuration: int = 0, file: RunFile | None = None) -> None:
        self.path, self.file = Path(path), file
        with self.opened() as opened:
            self.configurations = [number for (number,) in opened.query(USED)]
            last = opened.first("SELECT configuration FROM runs ORDER BY id DESC LIMIT 1")
            if not self.configurations or not last:
                raise UserError(f"{path} has no verdicts yet")
            self.configuration = configuration or int(last[0])
            if self.configuration not in self.configurations:
                known = ", ".join(map(str, self.configurations))
                raise UserError(f"{path} has no configuration {configuration}; there are: {known}")
            self.identity = stored_identity(opened, self.configuration)

    @contextmanager
    def opened(self) -> Iterator[RunFile]:
        """The open file."""
        if self.file:
            yield self.file
            return
        with RunFile(self.path) as file:
            yield file

    def __enter__(self) -> Self:
        """Keep the file open for many questions."""
        self.file = RunFile(self.path)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.file:
            self.file.close()
        self.file = None

    @property
    def rubric(self) -> str:
        """The rubric's name; of IllusionBench with the split."""
        return " ".join(filter(None, (self.identity["rubric"], self.identity.get("split"))))

    @property
    def judge(self) -> str:
        """Who judged: the judge, and the models that it asked."""
        models = self.identity.get("model") or ", ".join(self.identity.get("models") or ())
        return f"{self.identity['judge']} {models}".strip()

    @property
    def last(self) -> LastRun:
        """The last run of this configuration."""
        with self.opened() as file:
            stored = LastRun(*file.first(LAST, (self.configuration,), tuple[str, str, str, int, str]))
            versions, columns = (file.read(text, Mapping[str, str]) for text in (stored.versions, stored.columns))
            return stored._replace(versions=versions, read_whole=bool(stored.read_whole), columns=columns)

    @property
    def fingerprint(self) -> str:
        """The digest of the configuration."""
        return fingerprint(self.identity)

    @cached_property
    def overview(self) -> Overview:
        """Counts and costs."""
        key = (self.configuration,)
        with self.opened() as file:
            counts = file.first(OVERVIEW, key, tuple[int, int, int, int, int, int, float | None])
            errors = dict(file.query(ERRORS, key, tuple[str, int]))
            return Overview(self.last.read_whole, errors, *counts)

    def __len__(self) -> int:
        return self.overview.samples

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The samples with their results, as `onprompt show --json` prints them."""
        return (row.document for row in self.rows())

    def rows(self, worst: int = 0, flagged: bool = False) -> Iterator[RunRow]:
        """The samples with their results, in order; or only the worst, or those that need review."""
        found = (row for row in self.read_rows() if not flagged or row.flags or row.error)
        if not worst:
            return found
        judged = (row for row in found if row.value is not None)
        return iter(heapq.nsmallest(worst, judged, key=lambda row: row.value or 0.0))

    def read_rows(self) -> Iterator[RunRow]:
        """All samples that are still in the data, in order."""
        with self.opened() as file:
            read_factors = lru_cache(partial(file.read, kind=Mapping[str, int]))  # few differ
            for stored in file.query(ROWS, {"configuration": self.configuration}, STORED_ROW):
                values = [*stored]
                values[7], values[14] = tuple(map(unquote, stored[7].split())), tuple(stored[14].split())
                values[9] = read_factors(stored[9])
                row = RunRow(*values)
                shares = (row.value, row.low, row.high)
                if not (all(each is None or -0.01 <= each <= 1.01 for each in shares) and (row.cost or 0) < math.inf):
                    raise damaged(self.path, f"the value or the cost of {row.id!r} is out of range")
                yield row

    def checks(self) -> Iterator[CheckRow]:
        """The checks of all rows, in order."""
        with self.opened() as file:
            yield from map(CheckRow._make, file.query(CHECKS, (self.configuration,), CheckRow))

    def factors(self) -> list[str]:
        """The factors that have scores."""
        with self.opened() as file:
            return [name for (name,) in file.query(FACTORS, (self.configuration,), tuple[str])]

    def own_columns(self) -> dict[str, bool]:
        """The user's own columns, as files have them, and whether any cell is a text."""
        with self.opened() as file:
            return {own_name(name): bool(text) for name, text in file.query(OWN_COLUMNS, (), tuple[str, int])}

    def documents(self) -> Iterator[tuple[int, str, StoredDocument]]:
        """Of all verdicts what they hold beside their rows: the number and the id of the sample, and the document."""
        with self.opened() as file:
            for number, name, document in file.query(DOCUMENTS, (self.configuration,), tuple[int, str, str]):
                yield number, name, file.read(document, StoredDocument)

    def verdict(self, sample: str) -> Verdict:
        """The verdict on one sample as it was when it was made."""
        key = (sample, self.configuration)
        with self.opened() as file:
            row = file.first(STORED, key)
            if not row and (error := file.first(WHY_NONE, key)):
                raise UserError(f"{sample!r} has no verdict: {error[0]}: {error[1]}")
            if not row:
                ids = [name for (name,) in file.query("SELECT id FROM samples LIMIT ?", (SUGGESTED,))]
                raise NotFound(f"{self.path} has no sample {sample!r}{did_you_mean(sample, ids, 3)}")
            number, text, inputs = row
            with wrap_db_errors(self.path):
                if not is_as_written(file.database, (number, self.configuration)):
                    raise damaged(self.path, f"the verdict on {sample!r} is not as it was stored")
            document, given = file.read(text, dict), file.read(inputs, Mapping[str, Any])
            if not serial.is_current(document):
                version = f"another version of onprompt, whose verdicts can't be shown here ({document.get('format')})"
                raise UserError(f"{sample!r} was judged by {version}; its scores and checks are in the run file")
            return file.read_verdict(document, lambda picture: decode_again(picture, given))

    def to_pandas(self, claims: bool = False) -> pandas.DataFrame:
        """A row per sample, indexed by its id; without a verdict, score and value are missing and `error` says why.

        The score of each factor has a column of its own: `factor_score`, or `factor_alignment` and so on. With `claims`
        a row per claim instead, indexed by the id of its sample.
        """
        try:
            import pandas
        except ImportError:
            raise UserError("to_pandas needs pandas: pip install 'onprompt[data]'") from None
        if claims:
            ids = {row.number: row.id for row in self.rows()}
            found = pandas.DataFrame(self.checks(), columns=CheckRow._fields)
            return found.set_index(found.pop("sample").map(ids).rename("id"))
        frame = pandas.DataFrame(list(self)) if len(self) else pandas.DataFrame(columns=COLUMNS)
        whole = [name for name in frame if name in WHOLE or name.startswith("factor_")]
        return frame.astype(dict.fromkeys(whole, "Int64")).set_index("id")

    def __repr__(self) -> str:
        seen = self.overview
        judged = f"{seen.verdicts:,} of {seen.samples:,} samples judged"
        return f"<Run {self.path.name}: {self.rubric} by {self.judge}, {judged}>"

    def _repr_html_(self) -> str | None:
        if not find_spec("pandas"):
            return None  # the notebook shows the text instead
        return f"<p>{escape(repr(self))}</p>{self.to_pandas().to_html(max_rows=20, max_cols=12)}"


def open_runs(paths: Sequence[Path], configurations: Sequence[int] = (), every: bool = False) -> dict[str, Run]:
    """Runs by their names: of each file the last configuration, or those that are wanted, or every one."""
    if len(set(paths)) < len(paths):
        raise UserError("the same run is given twice")
    ambiguous = len({path.stem for path in paths}) < len(paths)
    runs = {}
    for path in paths:
        wanted = Run(path).configurations if every else configurations or [0]
        for number in wanted:
            name = str(path) if ambiguous else path.stem
            name += f", configuration {number}" if every or len(wanted) > 1 else ""
            runs[name] = Run(path, number)
    return runs


def judge_names(runs: Mapping[str, Run]) -> dict[str, str]:
    """Who judged each run, with the settings, or else the other parts, in which the judges differ."""
    several = len({run.rubric for run in runs.values()}) > 1
    names = {name: f"{run.rubric} by {run.judge}" if several else run.judge for name, run in runs.items()}
    identities = [run.identity for run in runs.values()]

    def words(key: str, value: Any) -> str:  # with the value where that is a word or a number
        return f"{key} {value}" if isinstance(value, str | int | float) and len(str(value)) <= SHORT else key

    for parts in ([about.get("settings", {}) for about in identities], identities):
        keys = dict.fromkeys(key for part in parts for key in part if key not in NAMED)
        if differ := [key for key in keys if any(part.get(key) != parts[0].get(key) for part in parts)]:
            differences = (", ".join(words(key, part.get(key)) for key in differ) for part in parts)
            return {name: f"{names[name]} ({more})" for name, more in zip(names, differences, strict=True)}
    return names


def same_images(rows: Mapping[str, Iterable[RunRow]]) -> bool:
    """Whether two of several runs judged an image in common, by its id and contents."""
    images = [(row.id, row.image_sha256) for own in rows.values() for row in own if row.image_sha256]
    return len(set(images)) < len(images)  # ids are unique in a run


def stored_identity(file: RunFile, configuration: int) -> dict[str, Any]:
    """What a configuration is: rubric, judge, model, settings, weights."""
    (text,) = file.first("SELECT identity FROM configurations WHERE id = ?", (configuration,))
    about: Identity = file.read(text, Identity)
    if not about.rubric or not about.judge:
        raise damaged(file.path, f"configuration {configuration} does not name its rubric and judge")
    return dict(json.loads(text))


def decode_again(picture: Picture, given: Mapping[str, Any]) -> Decoded:
    """The pixels of a stored sample's image, if the file has not changed."""
    from onprompt.vision.image import decode_image

    settings = load_settings(max_side=picture.side)
    return decode_image(*judged_file(paths_of(picture, given), picture.sha256, settings), settings, picture.frame)


def judged_file(paths: Sequence[str], sha256: str, settings: Settings) -> tuple[bytes, str]:
    """The bytes and the name of the file that was judged, among those that a run file names.

    No other file is shown, served or copied, for a stranger's run file may name any; who takes the bytes decodes them.
    """
    from onprompt.vision.image import read_source  # with Pillow, which most commands do without

    if not paths:
        raise ImageError("it was not judged from a file", "not a file")
    for path in paths:
        name, data, _ = read_source(path, settings)
        if hashlib.sha256(data).hexdigest() == sha256:
            return data, name
    raise ImageError(f"{paths[0]} has changed since it was judged, or was judged at another size", "changed")


def paths_of(picture: Picture, given: Mapping[str, Any]) -> list[str]:
    """Where a stored sample's image may be: the inputs of its file name."""
    name = Path(picture.name).name
    paths = [value for value in given.values() if isinstance(value, str) and Path(value).name == name]
    return [path for path in paths if Path(path).is_absolute()]  # as images are stored; a prompt is no path
