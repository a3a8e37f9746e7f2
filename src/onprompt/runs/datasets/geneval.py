"""GenEval's results file: `geneval:results.jsonl`. The images can be judged again, beside what GenEval said of them."""

from collections.abc import Iterator, Sequence

from onprompt.errors import UserError
from onprompt.runs.datasets import Record, Table, jsonl

COLUMNS = ("image", "prompt", "category", "correct", "reason")


def load(data: str) -> Table:
    """The images in a results file; `correct` is 1 or 0, for `agree --human correct`."""
    table = jsonl.load(data)
    if missing := {"filename", "prompt", "tag"} - set(table.columns):
        raise UserError(f"{data} is not GenEval's results file: it has no {' and no '.join(sorted(missing))}")

    def records(_: Sequence[str]) -> Iterator[Record]:
        for line, cells in table.records(()):
            if isinstance(cells, UserError):
                yield line, cells
                continue
            correct = cells.get("correct")
            given = [cells.get(name) for name in ("filename", "prompt", "tag", "reason")]
            named = dict(zip(("image", "prompt", "category", "reason"), given, strict=True))
            yield line, named | {"correct": int(correct) if isinstance(correct, bool) else correct}

    return Table("geneval", COLUMNS, records, table.folder, table.count)
