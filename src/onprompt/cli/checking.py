"""`check`: whether a run file holds what was written."""

from onprompt.cli.app import app, echo
from onprompt.cli.running import RunFile
from onprompt.errors import StoreError
from onprompt.wording import plural

SHOWN = 20  # places that are named


@app.command()
def check(run_file: RunFile) -> None:
    """Check that a run file holds what was written: every page of it, and every verdict by its checksum."""
    from onprompt.runs.checksums import find_damage
    from onprompt.runs.ledger import Ledger

    with Ledger(run_file) as ledger:
        damage = find_damage(ledger.database)
    unchecked = f", {damage.unchecked:,} of an earlier version without a checksum" if damage.unchecked else ""
    echo(f"{plural(damage.intact, 'verdict')} intact{unchecked}, {damage.verdicts:,} damaged")
    for place in damage.found[:SHOWN]:
        echo(f"  damaged: {place}")
    if damage.found:
        raise StoreError(f"{run_file} is damaged: take a copy of it that is not, or run it again into another file")
