"""What to do to get the numbers of a run again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onprompt.pages.judged import Column
from onprompt.settings import PRIVATE, Settings
from onprompt.wording.terminal import shell_word

MEASURED = "evidence"  # the judge without a model, and its name in a jury


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands, settings and versions of one run; folders are the user's own and left out."""

    name: str
    data: str
    judge: str
    created: str
    generation: int
    fingerprint: str
    commands: str
    changed: str  # settings that are not the default, as onprompt.toml has them
    versions: Sequence[tuple[str, str]]


def recipe(column: Column, fingerprint: str) -> Recipe:
    """How one run was made."""
    data = column.last.data.replace("\\", "/").rstrip("/").rpartition("/")[2] or column.last.data
    return Recipe(
        column.name,
        data,
        column.judge,
        column.last.created,
        column.generation,
        fingerprint,
        "\n".join(commands(column, data)),
        "\n".join(changed_settings(column.identity.get("settings", {}))),
        (*column.last.versions.items(), *weights(column.identity)),
    )


def commands(column: Column, data: str) -> Iterator[str]:
    """The command that judges the same data in the same way, and the one that makes the report."""
    models = list(column.identity.get("members", ())) or [column.identity.get("model") or ""]
    words = ["onprompt", "run", "--out", "again.sqlite", "--rubric", column.rubric]
    words += [word for name in models if name and name != MEASURED for word in ("--model", name)]
    words += ["--judge", column.identity["judge"]] if column.identity["judge"] != MEASURED else []
    yield " ".join(shell_word(str(word)) for word in [*words, *(["--"] if data.startswith("-") else []), data])
    yield "onprompt report again.sqlite --out report"


def changed_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    """The settings of a run that are not the default, line by line; none that may hold a secret."""
    usual = Settings().model_dump(mode="json")
    for name, value in settings.items():
        if name not in PRIVATE and name in usual and value != usual[name] and value is not None:
            yield f"{name} = {json.dumps(value, ensure_ascii=False)}"


def weights(identity: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The model files of the judge, or of each member of a jury."""
    for name, value in (identity.get("weights") or {}).items():
        yield name, str(value)
    for member in (identity.get("members") or {}).values():
        yield from weights(member)
