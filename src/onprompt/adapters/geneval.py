"""GenEval's results file from onprompt's verdicts, for `summary_scores.py` and other readers of it.

    import onprompt
    from onprompt.adapters import geneval

    images = geneval.images("outputs")  # GenEval's folder: 00000/metadata.jsonl, 00000/samples/0000.png …
    verdicts = onprompt.judge_many("verify", [image.item for image in images])
    written = geneval.write("results.jsonl", zip(images, verdicts, strict=True))
    print(written.results, written.left_out)

A run file does as well: `onprompt export run.sqlite --to geneval`. The other way, `onprompt run results.jsonl`
judges the images of a results file again, and `onprompt agree --human correct` compares with what GenEval said.

`correct` means the highest score. An image without a verdict is not wrong: it is left out and counted, and
`results.left_out.jsonl` says why. Scores by another judge are not comparable with published ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.api import Result, missing_reason
from onprompt.errors import OnpromptError, UserError
from onprompt.files import read_file, replacing
from onprompt.runs.reading import Run
from onprompt.samples import load_rubric
from onprompt.types import Verdict
from onprompt.wording import differences

MAX_METADATA = 10**6  # bytes


class Generated(NamedTuple):
    """An image and GenEval's metadata of its prompt."""

    path: Path
    metadata: Mapping[str, Any]

    @property
    def item(self) -> dict[str, str]:
        """An item for `judge_many`."""
        return {"image": str(self.path), "prompt": self.metadata["prompt"]}


class Written(NamedTuple):
    """How many lines were written: verdicts, and images without one."""

    results: int
    left_out: int


def images(folder: str | Path) -> list[Generated]:
    """The images that GenEval would judge: `NUMBER/samples/NUMBER.png`, in order."""
    paths = sorted(Path(folder).glob("*/samples/*.png"))
    numbered = [path for path in paths if path.parts[-3].isdigit() and path.stem.isdigit()]
    if not numbered:
        raise UserError(f"{folder} has no image like 00000/samples/0000.png")
    places = dict.fromkeys(path.parent.parent for path in numbered)
    metadata = {place: read_metadata(place / "metadata.jsonl") for place in places}
    return [Generated(path, metadata[path.parent.parent]) for path in numbered]


def stored(run: Run) -> Iterator[tuple[Generated, Result]]:
    """The images of a run with their stored verdicts, and with GenEval's metadata where it lies beside them."""
    for row in run.rows():
        path = Path(row.image)
        own = path.parent.parent / "metadata.jsonl"
        about = {"tag": row.category, "prompt": row.prompt}
        found = read_metadata(own) if own.is_file() else about
        # Nothing of a file that is about another prompt: a stranger's run may name any folder.
        image = Generated(path, found if found["prompt"] == row.prompt else about)
        try:
            if row.value is None:
                raise UserError(row.why_none)
            yield image, run.verdict(row.id)
        except OnpromptError as error:
            yield image, error


def read_metadata(file: Path) -> Mapping[str, Any]:
    """The metadata of a prompt: its tag, its text, and what GenEval's own judge looks for."""
    try:
        metadata: dict[str, Any] = json.loads(read_file(file, MAX_METADATA))
        _ = metadata["tag"], metadata["prompt"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(f"{file} is not GenEval's metadata with a tag and a prompt: {error!r}") from error
    return metadata


def write(path: str | Path, judged: Iterable[tuple[Generated, Result]]) -> Written:
    """Write results, and images without a verdict to a second file, line by line as they come."""
    results, left_out, second = 0, 0, f"{Path(path).stem}.left_out.jsonl"
    with (
        replacing(Path(path)) as new,
        new.open("w", encoding="utf-8") as file,
        new.with_name(second).open("w", encoding="utf-8") as other,
    ):
        for image, result in judged:
            if isinstance(result, Verdict) and not missing_reason(result):
                fields, target = judgement(result), file
                results += 1
            else:
                fields, target = {"why": missing_reason(result)}, other
                left_out += 1
            # GenEval distinguishes prompts by the text of `metadata`.
            about = {name: image.metadata[name] for name in ("tag", "prompt")}
            entry = {"filename": str(image.path), **about, "metadata": json.dumps(image.metadata), **fields}
            target.write(json.dumps(entry, ensure_ascii=False) + "\n")
    return Written(results, left_out)


def judgement(verdict: Verdict) -> dict[str, Any]:
    """The fields of the result; `details`, GenEval's boxes in pixels, are left empty."""
    scale = load_rubric(verdict.rubric).factors.get("score")
    if scale is None:
        raise UserError(f"GenEval's `correct` needs an overall score, which {verdict.rubric!r} does not have")
    correct = verdict.score == scale[-1]
    why = "\n".join(f"{asked}: {found}" for asked, found in differences(verdict))
    return {"correct": correct, "reason": why or ("" if correct else verdict.summary), "details": "{}"}
