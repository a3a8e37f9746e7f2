"""The commands that judge a sample, or the data of a run, again in the same way, and make the same report of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from onprompt.plugins import names
from onprompt.runs.reading import Run
from onprompt.settings import PRIVATE, Settings
from onprompt.types import NAMES, Rubric
from onprompt.wording.terminal import shell_word

MEASURED = "evidence"  # the judge without a model, and its name in a jury


def commands(run: Run, report_options: Sequence[str] = ()) -> tuple[str, str]:
    """Both commands, to be given in the folder of the data: the paths of folders are the user's own and left out."""
    last, judge, data = run.last, run.identity["judge"], data_name(run.last.data)
    models = list(run.identity.get("members", ())) or [run.identity.get("model") or ""]
    words = ["onprompt", "run", "--out", "again.sqlite", "--rubric", run.rubric]
    words += [word for field, column in last.columns.items() for word in ("--column", f"{field}={column}")]
    words += [word for name in models if name and name != MEASURED for word in ("--model", name)]
    words += ["--judge", judge] if judge != MEASURED else []
    usual = Settings().model_dump(mode="json")
    for name, value in run.identity.get("settings", {}).items():
        if name not in PRIVATE and value not in (None, usual.get(name, value)):
            words += ["--set", f"{name}={setting_text(value)}"]
    words += [*(["--"] if data.startswith("-") else []), data]
    shown = ["onprompt", "report", "again.sqlite", "--out", "report", *report_options]
    first, second = (" ".join(shell_word(str(word)) for word in each) for each in (words, shown))
    return first, second


def data_name(data: str) -> str:
    """DATA without its folder; a dataset of a hub has none."""
    kind, colon, rest = data.partition(":")
    prefix, path = (f"{kind}:", rest) if colon and kind in names("runs.datasets") else ("", data)
    path = path.replace("\\", "/").rstrip("/")
    is_local = not prefix or path.startswith("/") or path[1:3] == ":/"
    return prefix + (path.rpartition("/")[2] if is_local else path)


def setting_text(value: Any) -> str:
    """A setting as `--set` reads it: `a=1,b=0.5` for pairs."""
    if isinstance(value, list):
        return ",".join("=".join(map(str, each)) if isinstance(each, list) else str(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


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
