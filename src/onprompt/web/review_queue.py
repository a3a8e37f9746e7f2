"""Which verdicts are reviewed, and in which order."""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from onprompt.runs.ledger import Ledger
from onprompt.runs.sampling import BANDS, stored_plan
from onprompt.types import Rubric

Kept = TypeVar("Kept")
STALE = 1.0  # seconds for which verdicts of a run that is being written may not be noticed
KEPT = 256  # things that were read, at most: addresses may name any number of raters and models
Queue = Literal["plan", "flagged", "all"]
JUDGED = """SELECT v.sample FROM verdicts v JOIN samples s ON s.number = v.sample AND NOT s.gone AND s.version = v.of
WHERE v.generation = :generation"""
CONDITIONS = {
    "flagged": "v.flags != ''",
    "model": "s.model = :model",
    "category": "s.category = :category",
    "score": "v.score = :score",
    "band": "min(cast(v.value * :bands AS INTEGER), :bands - 1) = :score",
}
NAMES = """SELECT DISTINCT s.{column} FROM samples s WHERE NOT s.gone AND s.{column} != '' ORDER BY 1 LIMIT 1000"""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a rater wants to see; empty: everything."""

    queue: Queue = "all"
    model: str = ""
    category: str = ""
    score: str = ""
    unreviewed: bool = True

    def query(self, **more: object) -> str:
        """The filters as the query of an address."""
        given = {name: "1" if value is True else value for name, value in {**asdict(self), **more}.items()}
        return urlencode({name: value for name, value in given.items() if value not in ("", False)})


class ReviewQueue:
    """What was read of a run: the numbers of samples by filters, names; again only when it has changed."""

    def __init__(self, ledger: Ledger, generation: int, rubric: Rubric) -> None:
        self.ledger, self.generation, self.rubric = ledger, generation, rubric
        self.known: dict[Hashable, Any] = {}
        self.version, self.looked_at = -1, 0.0

    def cached(self, key: Hashable, read: Callable[[], Kept]) -> Kept:
        """What was read under a key, as long as no other process has changed the file since."""
        now = time.monotonic()
        if now - self.looked_at > STALE:
            (version,) = self.ledger.first("PRAGMA data_version")
            self.known = self.known if version == self.version else {}
            self.version, self.looked_at = version, now
        if key not in self.known:
            self.known = self.known if len(self.known) < KEPT else {}
            self.known[key] = read()
        kept: Kept = self.known[key]
        return kept

    def forget(self, *keys: Hashable) -> None:
        """Read some of it again: it was changed here."""
        for key in keys:
            self.known.pop(key, None)

    def numbers(self, filters: Filters) -> Sequence[int]:
        """The samples that the filters let through, in order."""
        return self.cached(filters, partial(self.read, filters))

    def read(self, filters: Filters) -> list[int]:
        """The same, out of the file."""
        kinds = {"flagged": filters.queue == "flagged", "model": filters.model, "category": filters.category}
        kinds["score" if "score" in self.rubric.factors else "band"] = filters.score
        conditions = "".join(f" AND {CONDITIONS[kind]}" for kind, wanted in kinds.items() if wanted)
        values = {"generation": self.generation, "bands": BANDS, "model": filters.model, "category": filters.category}
        values["score"] = int(filters.score) if filters.score in dict(self.scores()) else -1
        found = [number for (number,) in self.ledger.query(f"{JUDGED}{conditions} ORDER BY v.sample", values)]
        if filters.queue != "plan":
            return found
        plan, among = stored_plan(self.ledger, self.generation), set(found)
        return [number for number in plan.samples if number in among] if plan else []

    def options(self, column: str) -> list[str]:
        """The models or the categories of the run."""
        query = NAMES.format(column=column)
        return self.cached(column, lambda: [name for (name,) in self.ledger.query(query)])

    def scores(self) -> list[tuple[str, str]]:
        """The scores to choose from, with their names; bands of the value where there is no overall score."""
        if scale := self.rubric.factors.get("score"):
            return [(str(score), str(score)) for score in scale]
        return [(str(band), f"value {band / BANDS:.1f} to {(band + 1) / BANDS:.1f}") for band in range(BANDS)]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a sample is in a queue."""

    place: int  # from 1; 0 if it is not in the queue
    total: int
    done: int
    following: int | None
    previous: int | None


def position(numbers: Sequence[int], current: int, done: set[int], unreviewed: bool) -> Position:
    """Where a sample is; the next one is the next that is not done, if those are wanted; back goes to any."""
    place = numbers.index(current) if current in numbers else -1
    ahead = [*numbers[place + 1 :], *(numbers[:place] if unreviewed and place > 0 else ())]
    following = next((number for number in ahead if not (unreviewed and number in done)), None)
    previous = numbers[place - 1] if place > 0 else None
    return Position(place + 1, len(numbers), len(done.intersection(numbers)), following, previous)
