"""A rubric: how alike are two pictures? A score from 1 to 10.

A rubric says which inputs it takes, on which scales it scores, what a model is asked and how its answer is read.
"""

import re
from collections.abc import Callable

from onprompt.errors import UnreadableAnswer
from onprompt.types import IMAGE, Input, Part, Picture, Reading, Rubric, Sample, SentImage

SCALE = range(1, 11)
TEXT = "How alike are these two pictures, from 1 (nothing in common) to 10 (the same)? End with `Score: n`."


def ask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """What a model is sent: texts and pictures, in order."""
    return TEXT, show(sample.pictures["reference"]), show(sample.picture)


def read(answer: str, sample: Sample) -> Reading:  # noqa: ARG001 some answers must name the sample
    """The score in an answer. Where there is none, the answer is unreadable; never invent one."""
    found = re.search(r"Score: (\d+)\s*$", answer)
    if not found:
        raise UnreadableAnswer("no_score", "there is no line `Score: n` at the end")
    if int(found[1]) not in SCALE:
        raise UnreadableAnswer("off_scale", f"the score is {found[1]}, not 1 to 10")
    return Reading({"score": int(found[1])}, summary=answer[: found.start()].strip())


RUBRIC = Rubric(
    name="likeness",
    version="1",
    help="Score how alike two pictures are, from 1 to 10.",
    inputs=(
        Input("image", IMAGE, "The picture.", columns=("image", "path")),
        Input("reference", IMAGE, "The picture that it should resemble.", columns=("reference", "target")),
    ),
    factors={"score": SCALE},
    text=TEXT,
    ask=ask,
    read=read,
)
