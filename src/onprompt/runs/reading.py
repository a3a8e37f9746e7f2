"""A run file in Python: `onprompt.load_run("run.sqlite").to_pandas()`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onprompt.errors import UserError
from onprompt.runs import findings
from onprompt.runs.ledger import Ledger
from onprompt.settings import load as load_settings
from onprompt.types import Verdict
from onprompt.wording.terminal import printable

if TYPE_CHECKING:
    import pandas

LOWEST = 5  # samples that a notebook shows


class Run:
    """The results of a run: of the generation that ran last, or of another. The file is opened for each question."""

    def __init__(self, path: str | Path, generation: int = 0) -> None:
        self.path = Path(path)
        with Ledger(self.path) as ledger:
            self.generation = findings.choose_generation(ledger, generation)
            self.overview = findings.overview(ledger, self.generation)

    @property
    def identity(self) -> dict[str, Any]:
        """How it was judged: rubric, judge, model, settings, sha256 of the weights."""
        return self.overview.identity

    def __len__(self) -> int:
        return self.overview.samples

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The samples with their results, as `onprompt show --json` prints them."""
        with Ledger(self.path) as ledger:
            yield from findings.rows(ledger, self.generation)

    def verdict(self, sample: str) -> Verdict:
        """The verdict on one sample, as it was when it was made."""
        with Ledger(self.path) as ledger:
            return findings.stored_verdict(ledger, self.generation, sample, load_settings().answers)

    def to_pandas(self) -> pandas.DataFrame:
        """A row per sample, indexed by its id; without a verdict, score and value are missing and `error` says why.

        The score of each factor has a column of its own: `factor_score`, or `factor_alignment` and so on.
        """
        try:
            import pandas
        except ImportError:
            raise UserError("to_pandas needs pandas: pip install 'onprompt[data]'") from None
        frame = pandas.DataFrame([with_factors(row) for row in self])
        if not len(frame):
            frame = pandas.DataFrame(columns=[name for name in findings.COLUMNS if name != "factors"])
        whole = [name for name in frame if name in ("score", "tokens_in", "tokens_out") or name.startswith("factor_")]
        return frame.astype(dict.fromkeys(whole, "Int64")).set_index("id")

    def __repr__(self) -> str:
        about, seen = self.identity, self.overview
        by = about.get("model") or about["judge"]
        return (
            f"<Run {self.path.name}: {about['rubric']} by {by}, {seen.verdicts:,} of {seen.samples:,} samples judged>"
        )

    def _repr_html_(self) -> str:
        with Ledger(self.path) as ledger:
            lowest = list(findings.rows(ledger, self.generation, worst=LOWEST))
        names = ("id", "prompt", "score", "value", "flags", "summary")
        head = "".join(f"<th>{name}</th>" for name in names)
        cells = [[escape(printable(str(row[name]))) for name in names] for row in lowest]
        rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in each)}</tr>" for each in cells)
        return f"<p>{escape(repr(self)[1:-1])}; lowest values:</p><table><tr>{head}</tr>{rows}</table>"


def with_factors(row: dict[str, Any]) -> dict[str, Any]:
    """A sample with a column for each factor."""
    factors = json.loads(row["factors"] or "{}")
    rest = {name: value for name, value in row.items() if name != "factors"}
    return rest | {f"factor_{name}": score for name, score in factors.items()}
