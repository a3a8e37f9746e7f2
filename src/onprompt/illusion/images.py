"""The benchmark's images with their gold labels, from the original's folders, a hub dataset or a table."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from onprompt.errors import UserError
from onprompt.illusion.gold import Gold, gold, named
from onprompt.illusion.judge import RUBRIC
from onprompt.illusion.protocol import Split, option
from onprompt.runs import datasets
from onprompt.runs.datasets import Dataset, Row


def opened(data: str, split: Split, columns: Mapping[str, str]) -> Dataset:
    """DATA as a run reads it, with labels from columns, or else from the paths by the original's rule."""
    dataset = datasets.open_dataset(data, RUBRIC, columns)

    def read() -> Iterator[Row]:
        return (row if row.error else labelled(row, split) for row in dataset.read())

    return replace(dataset, read=read)


def labelled(row: Row, split: Split) -> Row:
    """A row with its gold labels, or an error if it has none."""
    try:
        rule, meant = labels(row, split)
        labels_from = "columns" if row.item.get("shape") else "path"
    except UserError as error:
        return Row(row.id, row.line, error=str(error))
    prompt = f"{meant.shape} in {meant.scene}"
    item = {"image": row.item["image"], "prompt": prompt, "labels": labels_from, "gold": rule, "meant": meant}
    return replace(row, item=item, category=meant.shape)


def labels(row: Row, split: Split) -> tuple[Gold, Gold]:
    """The labels by the original's rule, and the labels that are meant."""
    item = row.item
    given = [name for name in ("shape", "scene") if item.get(name)]
    if len(given) == 2:
        rule = Gold(item["shape"], item["scene"], item.get("difficulty") or "")
        shape, scene = option(rule.shape, split), option(rule.scene, split)
        return rule, rule._replace(shape=shape or rule.shape, scene=scene or rule.scene)
    if given:
        raise UserError(f"only {given[0]} is given: give both shape and scene")
    path = item["image"] if isinstance(item["image"], str) else row.id  # the id of a hub's image may be a path
    if "/" not in path:
        raise UserError("no folder in the path or id of the image: add the columns shape and scene")
    rule = gold(path, split)
    try:
        return rule, named(path, split)
    except UserError:  # not an option: `strict` leaves it out
        return rule, rule
