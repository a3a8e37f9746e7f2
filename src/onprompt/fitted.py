"""The file of weights that `onprompt fit` writes, and that the setting `weights` names."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onprompt.errors import SettingsError
from onprompt.files import read_file, replacing

MAX_BYTES = 10**7
FORMAT = "onprompt.weights/1"
SETTINGS = frozenset({"jury_weights", "jury_evidence_weight"})
Layer = tuple[str, dict[str, Any]]  # where settings come from, and their values


def with_weights(kinds: Sequence[list[Layer]]) -> list[Layer]:
    """All layers of settings, and the file of weights below those of the last kind that names one."""
    layers: list[Layer] = []
    named = [[layer["weights"] for _, layer in kind if layer.get("weights")] for kind in kinds]
    last = max((place for place, paths in enumerate(named) if paths), default=None)
    for place, kind in enumerate(kinds):
        layers += [(str(named[place][-1]), read(named[place][-1]))] if place == last else []
        layers += kind
    return layers


def read(path: str | Path) -> dict[str, Any]:
    """The settings in a file of weights, and as `weights_source` its name and hash."""
    try:
        content = read_file(path, MAX_BYTES)
        found = tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"can't read the weights in {path}: {error}") from error
    if found.get("format") != FORMAT:
        raise SettingsError(f"{path} is not a file of weights by `onprompt fit`: it has no line format = {FORMAT!r}")
    values = {name: value for name, value in found.items() if name not in ("format", "fit")}
    if unknown := sorted(values.keys() - SETTINGS):
        raise SettingsError(f"{path} sets {unknown[0]!r}, which is no weight; it may set {', '.join(sorted(SETTINGS))}")
    if not values:
        raise SettingsError(f"{path} has no weights")
    return {**values, "weights_source": f"{Path(path).name} sha256:{hashlib.sha256(content).hexdigest()}"}


def write(path: Path, values: Mapping[str, Any], about: Mapping[str, Any]) -> None:
    """Write weights, and a table of how they were fitted; a file that is there is replaced at once or not at all."""
    plain = {name: value for name, value in values.items() if not isinstance(value, Mapping)}
    tables = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    lines = [
        "# Weights by `onprompt fit`: use them with --set weights=FILE.",
        *table({"format": FORMAT, **plain}),
    ]
    for name, entries in {**tables, "fit": about}.items():
        lines += ["", f"[{name}]", *table(entries)]
    with replacing(path) as new:
        new.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(entries: Mapping[str, Any]) -> list[str]:
    """Lines of TOML, whose strings are those of JSON."""
    return [
        f"{name if name.isidentifier() and name.isascii() else json.dumps(name, ensure_ascii=False)} = "
        f"{json.dumps(value, ensure_ascii=False)}"
        for name, value in entries.items()
    ]
