"""Datasets of the Hugging Face hub, or in a folder that `datasets` can load: NAME[:SPLIT]. They are streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from onprompt.errors import PluginError, UserError
from onprompt.plugins import how_to_install

try:
    import datasets
    import fsspec
except ModuleNotFoundError as error:  # the extra called `hf` brings other packages
    raise PluginError(f"reading a hub dataset needs {error.name}: {how_to_install('datasets')}") from error

from onprompt.runs.datasets import Record, RestLost, Table


def load(data: str) -> Table:
    """The named split of a dataset, or its only one."""
    name, _, split = data.rpartition(":") if re.search(r"[^:]:[\w.-]+$", data) else (data, "", "")
    try:
        splits = open_splits(name)
        rows = splits[split or next(iter(splits))] if split in splits or (not split and len(splits) == 1) else None
        columns = [] if rows is None else rows.column_names or list(next(iter(rows), {}))
    except Exception as error:  # of the hub, the network, the files
        raise UserError(f"can't open the dataset {name!r}: {error}") from error
    if rows is None:
        problem = f"has no split {split!r}" if split else "has several splits"
        choices = ", ".join(f"hf:{name}:{known}" for known in splits)
        raise UserError(f"the dataset {name!r} {problem}; choose one: {choices}")

    count = len(rows) if isinstance(rows, datasets.Dataset) else None
    if count is None and (info := (rows.info.splits or {}).get(split or str(rows.split))):
        count = info.num_examples or None
    kinds = rows.features or dict.fromkeys(columns)
    images = [name for name in columns if not isinstance(kinds.get(name), datasets.Value)]
    return Table("hf", columns, partial(read_rows, name, rows), count=count, images=images)


def open_splits(name: str) -> Mapping[str, Any]:
    """A dataset's splits, not yet read."""
    if any((Path(name) / made).is_file() for made in ("dataset_dict.json", "state.json")):  # by save_to_disk
        saved = datasets.load_from_disk(name)
        return saved if isinstance(saved, Mapping) else {"train": saved}
    splits: Mapping[str, Any] = datasets.load_dataset(name, streaming=True)
    return splits


def read_rows(name: str, rows: Any, columns: Sequence[str]) -> Iterator[Record]:
    """The rows; images stay encoded, so that a damaged one affects no other."""
    rows = rows.select_columns(list(columns))
    for column, feature in (rows.features or {}).items():
        if isinstance(feature, datasets.Image):
            rows = rows.cast_column(column, datasets.Image(decode=False))
    number = 0
    try:
        for number, cells in enumerate(rows, 1):
            yield f"{name}, row {number}", {column: fetch(cell, name) for column, cell in cells.items()}
    except Exception as error:  # the network fails, or a file of the dataset is damaged
        yield f"{name}, row {number + 1}", RestLost(f"the dataset is unreadable from here on: {error}")


def fetch(cell: Any, name: str) -> Any:
    """A cell; an image that the hub stores in this very dataset is downloaded, and nothing from any other address."""
    path = str(cell.get("path")) if isinstance(cell, Mapping) and not cell.get("bytes") else ""
    if not re.fullmatch(rf"(zip://[^:]*::)?hf://datasets/{re.escape(name)}@[^:]*", path):
        return cell
    try:
        with fsspec.open(path, "rb") as file:
            return file.read()
    except Exception as error:
        return UserError(f"can't download {path}: {error}")
