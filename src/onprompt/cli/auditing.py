"""`illusion audit`: compare a re-implementation with the original."""

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import echo, print_json
from onprompt.errors import UserError


def audit_target(
    target: Annotated[Path, typer.Argument(help="TOML description of the re-implementation (docs/illusion.md).")],
    answers: Annotated[
        Path | None, typer.Option(help="Answers to measure the effect on: CSV, JSONL, or the .sqlite file of a run.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split of the answers, if they have no column `split`.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the report to OUT.md and OUT.json.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds that each described function may run in total.")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Audit a re-implementation of IllusionBench against the original. RUNS THE CODE that the description names."""
    import json as encoding
    import math

    from onprompt.illusion.audit import report, runner

    if not 0 < limit < math.inf:
        raise UserError(f"--limit is a number of seconds above 0, not {limit:g}")
    try:
        result = runner.audit(target, answers, split, limit)
    except OSError as error:  # ours, such as a full disk: exit code 1 would mean "not aligned"
        raise UserError(f"the audit can't continue: {error.strerror or error}") from None
    if out:
        write(out, ".md", "\n".join(report.markdown(result)) + "\n")
        write(out, ".json", encoding.dumps(report.document(result), indent=2, ensure_ascii=False) + "\n")
    if json:
        print_json(report.document(result))
    else:
        echo(report.summary(result) if out else "\n".join(report.markdown(result)))
    raise typer.Exit(0 if result.aligned else 1)


def write(out: Path, suffix: str, text: str) -> None:
    """Write one of the two reports."""
    path = out.with_name(out.name.removesuffix(".md").removesuffix(".json") + suffix)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from None
