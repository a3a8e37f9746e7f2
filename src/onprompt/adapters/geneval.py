"""GenEval's results file, by onprompt's verdicts, for its `summary_scores.py` and whatever else reads it.

    import onprompt
    from onprompt.adapters import geneval

    images = geneval.images("outputs")  # GenEval's folder: 00000/metadata.jsonl, 00000/samples/0000.png …
    verdicts = onprompt.judge_many("verify", [image.item for image in images])
    written = geneval.write("results.jsonl", zip(images, verdicts, strict=True))
    print(written.results, written.left_out)

`correct` means the highest score. A picture without a verdict is not wrong: it is not in the file, it is counted, and
`results.left_out.jsonl` beside it says why. Numbers by another judge can't be compared with published ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from onprompt.adapters import no_verdict
from onprompt.api import Result, rubric_named
from onprompt.errors import UserError
from onprompt.types import Verdict
from onprompt.wording import differences


class Generated(NamedTuple):
    """A picture, and what GenEval's metadata says of its prompt."""

    path: Path
    metadata: Mapping[str, Any]

    @property
    def item(self) -> dict[str, str]:
        """What `judge_many` is given."""
        return {"image": str(self.path), "prompt": self.metadata["prompt"]}


class Written(NamedTuple):
    """How many lines there are: verdicts, and pictures without one."""

    results: int
    left_out: int


def images(folder: str | Path) -> list[Generated]:
    """The pictures that GenEval would look at: `NUMBER/samples/NUMBER.png`, in order."""
    found = sorted(Path(folder).glob("*/samples/*.png"))
    numbered = [path for path in found if path.parts[-3].isdigit() and path.stem.isdigit()]
    if not numbered:
        raise UserError(f"{folder} holds no picture like 00000/samples/0000.png")
    about = {path.parent.parent: None for path in numbered}
    known = {place: metadata_of(place / "metadata.jsonl") for place in about}
    return [Generated(path, known[path.parent.parent]) for path in numbered]


def metadata_of(file: Path) -> Mapping[str, Any]:
    """What is asked for: a tag, a prompt, and what GenEval's own judge looks for."""
    try:
        metadata: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        _ = metadata["tag"], metadata["prompt"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{file} is not GenEval's metadata, with a tag and a prompt: {error!r}") from error
    return metadata


def write(path: str | Path, found: Iterable[tuple[Generated, Result]]) -> Written:
    """Write the results, and what has no verdict apart, line by line as they come."""
    results, left_out = 0, 0
    path = Path(path)
    apart = path.with_name(f"{path.stem}.left_out.jsonl")
    with path.open("w", encoding="utf-8") as file, apart.open("w", encoding="utf-8") as other:
        for image, result in found:
            if isinstance(result, Verdict) and not no_verdict(result):
                file.write(line_of({**shared(image), **judgement(result)}))
                results += 1
            else:
                other.write(line_of({**shared(image), "why": no_verdict(result)}))
                left_out += 1
    return Written(results, left_out)


def line_of(fields: Mapping[str, Any]) -> str:
    """One line of JSON."""
    return json.dumps(fields, ensure_ascii=False) + "\n"


def shared(image: Generated) -> dict[str, Any]:
    """The fields that say what was judged; GenEval tells prompts apart by the text of `metadata`."""
    about = image.metadata
    return {
        "filename": str(image.path),
        "tag": about["tag"],
        "prompt": about["prompt"],
        "metadata": json.dumps(about),
    }


def judgement(verdict: Verdict) -> dict[str, Any]:
    """The fields that say what was found."""
    scale = rubric_named(verdict.rubric).factors.get("score")
    if scale is None:
        raise UserError(f"GenEval's `correct` is the highest score, and {verdict.rubric!r} has no overall score")
    correct = verdict.score == scale[-1]
    why = "\n".join(f"{asked}: {found}" for asked, found in differences(verdict))
    return {"correct": correct, "reason": why or ("" if correct else verdict.summary), "details": details(verdict)}


def details(verdict: Verdict) -> str:
    """The boxes of each kind as GenEval has them: left, top, right, bottom in pixels, and the confidence."""
    boxes: dict[str, list[list[float]]] = {}
    width, height = verdict.sample.picture.size
    for seen in verdict.evidence.sightings if verdict.evidence else ():
        corners = (seen.box.left * width, seen.box.top * height, seen.box.right * width, seen.box.bottom * height)
        boxes.setdefault(seen.label, []).append([*(round(corner, 1) for corner in corners), seen.confidence])
    return json.dumps(boxes)
