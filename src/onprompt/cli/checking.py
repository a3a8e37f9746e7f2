"""`check`: what is damaged in a run file, and what can be saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from onprompt.cli.app import app, echo
from onprompt.cli.running import RunFile
from onprompt.errors import StoreError
from onprompt.wording import plural

if TYPE_CHECKING:
    from onprompt.runs.damage import Damage

SHOWN = 10  # of each kind of damage


@app.command()
def check(
    run_file: RunFile,
    repair: Annotated[bool, typer.Option("--repair", help="Write what is not damaged to a new file.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The new file (default: NAME.repaired.sqlite beside the run file).")
    ] = None,
) -> None:
    """Check that a run file holds what was written; with --repair, save the rest of a damaged one."""
    from onprompt.runs.damage import find_damage
    from onprompt.runs.damage import repair as save
    from onprompt.runs.ledger import Ledger

    with Ledger(run_file) as ledger:
        damage = find_damage(ledger)
        echo("\n".join(damage_lines(damage)))
        if repair:
            path = out or run_file.with_name(f"{run_file.stem}.repaired{run_file.suffix}")
            saved = save(ledger, damage, path)
            echo(f"{plural(saved, 'verdict')} saved to {path}; a run with --out {path} judges the rest")
        elif damage:
            raise StoreError(f"{run_file} is damaged: --repair writes what is not to a new file")


def damage_lines(damage: Damage) -> Iterator[str]:
    """What was found."""
    unchecked = f", {damage.unchecked:,} of an earlier version without a checksum" if damage.unchecked else ""
    yield f"{plural(damage.intact, 'verdict')} intact{unchecked}, {len(damage.verdicts):,} damaged"
    yield from (f"  damaged: sample number {number}, generation {way}" for number, way in damage.verdicts[:SHOWN])
    yield from (f"  damaged: {name}" for name in damage.rows[:SHOWN])
    yield from (f"  SQLite: {text}" for text in damage.structure[:SHOWN])
