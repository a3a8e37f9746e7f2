"""`vqascore`: the probability of "yes" to the question whether the image shows the prompt (arXiv 2404.01291)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import choice_probabilities
from onprompt.rubrics import PROMPT_INPUTS
from onprompt.types import Answer, Line, Part, Picture, Reading, Rubric, Sample, SentImage, Verdict

SCALE = range(101)  # percent
QUESTION = 'Does this figure show "{prompt}"? Please answer yes or no.'
YES_NO = ("yes", "no")


def ask(sample: Sample, show: Callable[[Picture], SentImage]) -> tuple[Part, ...]:
    """The image and the question, in the paper's words."""
    return show(sample.picture), QUESTION.replace("{prompt}", sample.prompt)


def read(answer: Answer) -> Reading:
    """The probability of "yes" beside "no", whichever the model wrote."""
    probabilities = choice_probabilities(answer.token_probs, YES_NO)
    if probabilities is None:
        raise UnreadableAnswer("no_score", "the answer is neither yes nor no")
    percent = 100 * probabilities["yes"]
    summary = f'The probability of "yes" is {probabilities["yes"]:.2f}.'
    return Reading({"score": round(percent)}, {}, {"score": summary}, summary, expected={"score": percent})


def lines(verdict: Verdict) -> Iterator[Line]:
    """The probability alone."""
    yield f"{verdict.value:.4f}", ""


RUBRIC = Rubric(
    name="vqascore",
    version="1",
    help="Ask a model how likely an image shows a prompt (VQAScore). Needs token probabilities.",
    inputs=PROMPT_INPUTS[:2],
    factors={"score": SCALE},
    text=QUESTION,
    ask=ask,
    read_choice=read,
    choices=YES_NO,
    lines=lines,
)
