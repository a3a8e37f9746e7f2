"""The answers that a run's file holds, as the scorings take them."""

from __future__ import annotations

import json

from onprompt.errors import UserError
from onprompt.findings import generation_of, identity
from onprompt.illusion.gold import Gold, troubles
from onprompt.illusion.protocol import Split, split
from onprompt.illusion.results import QUESTIONS, Record
from onprompt.ledger import Ledger, told

ROWS = """
SELECT s.id, s.given, c.kind, c.found, c.outcome FROM samples s
LEFT JOIN checks c ON c.sample = s.number AND c.generation = ?
WHERE s.gone = 0 ORDER BY s.number, c.number
"""


def split_of(ledger: Ledger, generation: int = 0) -> tuple[int, Split]:
    """The generation that is wanted, and the split that it asked about."""
    number = generation_of(ledger, generation)
    about = identity(ledger, number)
    if about["rubric"] != "illusion":
        raise UserError(f"{ledger.path}, generation {number}, is a run of {about['rubric']}, not of IllusionBench")
    return number, split(about["split"])


def records(ledger: Ledger, generation: int) -> list[Record]:
    """Every question with its answer; None for one that got none."""
    found = []
    with told(ledger.path):
        for name, given, kind, said, outcome in ledger.base.execute(ROWS, (generation,)):
            item = json.loads(given)
            if "gold" not in item:
                continue  # a row that could not be read, which the run counts
            rule, meant = Gold(*item["gold"]), Gold(*item["meant"])
            answer = said if outcome != "unverifiable" else None
            for question in [kind] if kind else QUESTIONS:
                found.append(Record(name, question, rule, answer, meant))
    return found


def path_troubles(ledger: Ledger, split: Split) -> list[str]:
    """What stands between the paths of the images and a fair score."""
    with told(ledger.path):
        given = [json.loads(row[0]) for row in ledger.base.execute("SELECT given FROM samples WHERE gone = 0")]
    return troubles([item["image"] for item in given if item.get("labels") == "path"], split)
