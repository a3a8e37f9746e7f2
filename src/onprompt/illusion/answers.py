"""The answers in the file of a run, as records to score."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from onprompt.errors import UserError
from onprompt.illusion.gold import SUFFIX, Gold, counts, files, troubles
from onprompt.illusion.judge import RUBRIC
from onprompt.illusion.protocol import Split, split
from onprompt.illusion.results import QUESTIONS, Record, Results, measure
from onprompt.runs.file import damaged
from onprompt.runs.reading import CheckRow, Run, RunRow


def results_of(run: Run) -> Results:
    """The results of a run."""
    check_rubric(run)
    run_split = split(run.identity.get("split", ""))
    not_asked_yet = sum(row.value is None and not row.error for row in run.rows())
    about = {"model": run.identity.get("model", ""), "size": run.identity.get("size")}
    about |= {"configuration": run.configuration, "not_asked_yet": not_asked_yet}
    return replace(measure(records(run), run_split), about=about, troubles=path_troubles(run, run_split))


def check_rubric(run: Run) -> None:
    """Refuse a run of another rubric."""
    if run.identity["rubric"] != RUBRIC.name:
        raise UserError(
            f"{run.path}, configuration {run.configuration}, is a run of {run.rubric}, not of IllusionBench"
        )


@dataclass(frozen=True, slots=True)
class Given:
    """What is read of the inputs of a sample; an unreadable row, which the run counts, has none of these."""

    image: str = ""
    labels: str = ""
    gold: Gold | None = None
    meant: Gold | None = None


def records(run: Run) -> list[Record]:
    """Every question that was asked, with its answer or None."""
    checks: dict[int, list[CheckRow]] = {}
    for check in run.checks():
        if check.kind not in QUESTIONS:
            raise damaged(run.path, f"an answer to {check.kind!r}, which is not asked")
        checks.setdefault(check.sample, []).append(check)
    answers = []
    for row, given in given_inputs(run):
        if given.gold and given.meant:
            said = {
                check.kind: None if check.outcome == "unverifiable" else check.found
                for check in checks.get(row.number, ())
            }
            asked = said or (dict.fromkeys(QUESTIONS) if row.error else {})
            answers += [Record(row.id, question, given.gold, answer, given.meant) for question, answer in asked.items()]
    return answers


def given_inputs(run: Run) -> Iterator[tuple[RunRow, Given]]:
    """The rows of a run with their inputs."""
    with run.opened() as file:
        for row in run.rows():
            yield row, file.read(row.given, Given)


def path_troubles(run: Run, split: Split) -> list[str]:
    """Problems with the paths of the images that distort scores."""
    items = [(row.id, given) for row, given in given_inputs(run)]
    # An unreadable row only has its id, which is the path below the folder.
    paths = [given.image or name for name, given in items if given.labels != "columns"]
    images = [path for path in paths if counts(path)]
    others = (
        f"{files(len(paths) - len(images))} without the extension {SUFFIX}: the original ignores them, here they count"
    )
    return [*([others] if len(images) < len(paths) else []), *troubles(images, split)]
