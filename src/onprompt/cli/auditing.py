"""`audit` and `illusion audit`: is a copy of a judge's prompt ours, is a re-implementation the original?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onprompt.cli.app import print_json
from onprompt.errors import UserError


def audit(
    rubric: Annotated[str, typer.Argument(help="verify, rate or edit; illusion takes a description.")],
    file: Annotated[Path, typer.Argument(help="A text with the prompt: plain, Python, Markdown, JSON, TOML, YAML.")],
    json: Annotated[bool, typer.Option("--json", help="All differences as JSON.")] = False,
) -> None:
    """Say whether somebody's copy of a judge's prompt is ours, and where it departs; the exit code is then 1."""
    from onprompt.illusion.audit import copies

    if rubric == "illusion":
        audit_target(file, json=json)
        return
    told = copies.compare(rubric, file)
    if json:
        print_json(copies.document(file, told))
    else:
        typer.echo("\n".join(copies.lines(file, told)))
    raise typer.Exit(1 if told.state is copies.State.DEPARTS else 0)


def audit_target(
    target: Annotated[Path, typer.Argument(help="A TOML file that describes the re-implementation (docs/audit.md).")],
    answers: Annotated[
        Path | None, typer.Option(help="Answers, to measure the effect on them: CSV, JSONL, or a run's .sqlite.")
    ] = None,
    split: Annotated[str, typer.Option(help="The split of answers that don't name theirs.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the report to OUT.md and OUT.json.")] = None,
    limit: Annotated[float, typer.Option(help="Seconds that each of its functions may take in all.")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """Audit a re-implementation of IllusionBench against the original. RUNS THE CODE that the description names."""
    import json as encoding
    import math

    from onprompt.illusion.audit import report
    from onprompt.illusion.audit import runner as whole

    if not 0 < limit < math.inf:
        raise UserError(f"--limit is a number of seconds above 0, not {limit:g}")
    try:
        found = whole.audit(target, answers, split, limit)
    except OSError as error:  # of ours, such as a full disk: exit code 1 would say "not aligned"
        raise UserError(f"the audit can't go on: {error.strerror or error}") from None
    if out:
        write(out, ".md", "\n".join(report.markdown(found)) + "\n")
        write(out, ".json", encoding.dumps(report.document(found), indent=2, ensure_ascii=False) + "\n")
    if json:
        print_json(report.document(found))
    else:
        typer.echo(report.summary(found) if out else "\n".join(report.markdown(found)))
    raise typer.Exit(0 if found.aligned else 1)


def write(out: Path, suffix: str, text: str) -> None:
    """One of the two reports."""
    path = out.with_name(out.name.removesuffix(".md").removesuffix(".json") + suffix)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"can't write {path}: {error.strerror or error}") from None
