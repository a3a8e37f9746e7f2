"""Run files for the tests of pages: drawn pictures and verdicts on them, stored in a run file."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image, ImageDraw

from onprompt.runs.file import RunFile, SampleError
from onprompt.runs.run import to_stored
from onprompt.types import FactorScore, Picture, Sample, Verdict
from tests.pages.test_verdict_view import made, undecoded

IDENTITY = {"rubric": "verify", "judge": "evidence", "rubric_version": "1", "settings": {"detector": "strong"}}


@dataclass(frozen=True)
class Stored:
    """A sample to store; without a value it is an error."""

    id: str
    prompt: str = "two cups on a table"
    value: float | None = 0.5
    model: str = ""
    category: str = ""
    flags: tuple[str, ...] = ()
    words: str = "cup"


def drawn(path: Path, colour: str = "red") -> Path:
    """A picture of a disc."""
    image = Image.new("RGB", (320, 240), "white")
    ImageDraw.Draw(image).ellipse((60, 50, 160, 150), fill=colour)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path


def stored_run(
    path: Path, samples: Sequence[Stored], judge: str = "evidence", rubric: str = "verify", detector: str = "strong"
) -> Path:
    """A run file with these samples, and their pictures in a folder beside it."""
    identity = IDENTITY | {"judge": judge, "rubric": rubric, "settings": {"detector": detector}}
    with RunFile(path, writing=True) as file:
        configuration, _ = file.add_configuration(identity)
        file.begin(configuration, str(path.parent / "data.csv"), {"python": "3.11"})
        for number, sample in enumerate(samples):
            picture = drawn(path.parent / "pictures" / f"{number}.png", ("red", "green", "blue")[number % 3])
            given = json.dumps({"image": str(picture), "prompt": sample.prompt})
            about = {"id": sample.id, "prompt": sample.prompt, "model": sample.model, "category": sample.category}
            about |= {"image": str(picture), "given": given, "stamp": "", "version": str(number)}
            ((row, _),) = file.add_samples([about], configuration)
            if sample.value is None:
                file.save_error(configuration, SampleError(row, "UnreadableAnswer", sample.words, sample.words))
            else:
                file.save_verdict(configuration, to_stored(row, verdict_on(sample, picture)))
        file.end()
    return path


def verdict_on(sample: Stored, picture: Path) -> Verdict:
    """The verdict of a sample."""
    shown = Picture(picture.name, hashlib.sha256(picture.read_bytes()).hexdigest(), undecoded, side=1024)
    value = sample.value or 0.0
    return replace(
        made(sample.prompt, sample.words),
        rubric="verify",
        sample=Sample(picture.name, sample.prompt, shown),
        value=value,
        factors={"score": FactorScore(min(4, int(5 * value)))},
        flags=sample.flags,
        measures={"coverage": 0.75},
    )


def four_models(prompts: int = 8) -> list[Stored]:
    """Samples of four models, each a little worse than the one before."""
    return [
        Stored(
            f"{model}/{prompt}",
            f"two cups on table number {prompt}",
            min(1.0, round(0.9 - 0.2 * place + 0.01 * prompt, 3)),
            model,
            ("indoors", "outdoors")[prompt % 2],
            ("needs_review",) if prompt == 3 else (),
        )
        for prompt in range(prompts)
        for place, model in enumerate(("north", "east", "south", "west"))
    ]
