"""`check`: whether a run file holds what was written."""

from onprompt.cli.app import RunPath, app, echo
from onprompt.errors import StoreError
from onprompt.wording import plural

SHOWN = 20  # places that are named


@app.command()
def check(run_file: RunPath) -> None:
    """Check that a run file holds what was written: every page of it, and every verdict by its digest."""
    from onprompt.runs.file import RunFile
    from onprompt.runs.schema import find_damage

    with RunFile(run_file) as file:
        damage = find_damage(file.database)
    unchecked = f", {damage.unchecked:,} of an earlier version without a digest" if damage.unchecked else ""
    echo(f"{plural(damage.intact, 'verdict')} intact{unchecked}, {damage.verdicts:,} damaged")
    for place in damage.found[:SHOWN]:
        echo(f"  damaged: {place}")
    if damage.found:
        raise StoreError(f"{run_file} is damaged: take a copy of it that is not, or run it again into another file")
