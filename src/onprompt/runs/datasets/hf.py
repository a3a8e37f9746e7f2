"""Datasets of the Hugging Face hub, or of a folder that `datasets` can load: NAME[:SPLIT]. They are streamed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onprompt.errors import PluginError, UserError
from onprompt.plugins import how_to_install

try:
    import datasets
    import fsspec
except ModuleNotFoundError as error:  # there is an extra of this file's name, which brings something else
    raise PluginError(f"DATA of a hub needs {error.name}: {how_to_install('datasets')}") from error

from onprompt.runs.datasets import Record, Table


def load(data: str) -> Table:
    """The split of a dataset that is named, or the only one that there is."""
    name, _, split = data.rpartition(":") if re.search(r"[^:]:[\w.-]+$", data) else (data, "", "")
    try:
        splits = opened(name)
        rows = splits[split or next(iter(splits))] if split in splits or (not split and len(splits) == 1) else None
        columns = [] if rows is None else rows.column_names or list(next(iter(rows), {}))
    except Exception as error:  # of the hub, the network, the files
        raise UserError(f"the dataset {name!r} can't be opened: {error}") from error
    if rows is None:
        wrong = f"has no split {split!r}" if split else "has several splits"
        raise UserError(f"the dataset {name!r} {wrong}; name one: {', '.join(f'hf:{name}:{each}' for each in splits)}")

    def records(columns: Sequence[str]) -> Iterator[Record]:
        return read(name, rows, columns)

    return Table("hf", columns, records, count=counted(rows, split))


def opened(name: str) -> Mapping[str, Any]:
    """A dataset's splits, not yet read."""
    place = Path(name)
    if (place / "dataset_dict.json").is_file() or (place / "state.json").is_file():  # made by save_to_disk
        saved = datasets.load_from_disk(name)
        return saved if isinstance(saved, Mapping) else {"train": saved}
    splits: Mapping[str, Any] = datasets.load_dataset(name, streaming=True)
    return splits


def counted(rows: Any, split: str) -> int | None:
    """How many rows there are, if that is known."""
    if isinstance(rows, datasets.Dataset):
        return len(rows)
    known = (rows.info.splits or {}).get(split or str(rows.split))
    return known.num_examples if known and known.num_examples else None


def read(name: str, rows: Any, columns: Sequence[str]) -> Iterator[Record]:
    """The rows; pictures stay encoded, so that a damaged one costs no other."""
    rows = rows.select_columns(list(columns))
    for column, feature in (rows.features or {}).items():
        if isinstance(feature, datasets.Image):
            rows = rows.cast_column(column, datasets.Image(decode=False))
    number = 0
    try:
        for number, cells in enumerate(rows, 1):
            yield Record(f"{name}, row {number}", {column: fetched(cell) for column, cell in cells.items()})
    except Exception as error:  # the network fails, or a file of the dataset is damaged
        why = UserError(f"from here on the dataset can't be read: {error}")
        yield Record(f"{name}, row {number + 1}", why, rest_lost=True)


def fetched(cell: Any) -> Any:
    """A cell; a picture that lies at the hub is fetched."""
    if not isinstance(cell, Mapping) or cell.get("bytes") or "://" not in str(cell.get("path")):
        return cell
    try:
        with fsspec.open(cell["path"], "rb") as file:
            return file.read()
    except Exception as error:
        return UserError(f"{cell['path']} can't be fetched: {error}")
