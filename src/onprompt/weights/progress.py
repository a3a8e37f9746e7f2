"""A progress bar on standard error, for people only: nothing is drawn where nobody watches."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self


class Progress:
    """Bytes so far of `total`, drawn by rich if standard error is a terminal."""

    def __init__(self, name: str, total: int) -> None:
        self.bar = None
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("  {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(name or "downloading", total=total or None)

    def advance(self, count: int) -> None:
        """So many bytes more."""
        if self.bar:
            self.bar.advance(self.task, count)

    def raw(self, line: str) -> None:
        """A line of pip's raw progress: `Progress 1234 of 5678`."""
        words = line.split()
        if self.bar and words[:1] == ["Progress"] and len(words) == 4 and words[1].isdigit() and words[3].isdigit():
            self.bar.update(self.task, completed=int(words[1]), total=int(words[3]) or None)

    def __enter__(self) -> Self:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar:
            self.bar.stop()
