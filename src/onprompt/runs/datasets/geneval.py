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
        return (to_record(record) for record in table.records(()))

    return Table("geneval", COLUMNS, records, table.folder, table.count)


def to_record(record: Record) -> Record:
    """A line with our names of its fields."""
    line, cells = record
    if isinstance(cells, UserError):
        return record
    correct = cells.get("correct")
    return line, {
        "image": cells.get("filename"),
        "prompt": cells.get("prompt"),
        "category": cells.get("tag"),
        "correct": int(correct) if isinstance(correct, bool) else correct,
        "reason": cells.get("reason"),
    }
