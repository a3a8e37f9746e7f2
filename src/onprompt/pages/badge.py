"""A small picture with the result of a run, for a README or a dashboard."""

from onprompt.pages.figures import ColumnFigures
from onprompt.pages.rendering import render

LETTER, MARGIN = 6.6, 8.0  # units of a letter's width and of the space beside a text
NAME = "onprompt"


def badge(figures: ColumnFigures) -> str:
    """`onprompt | 0.63 ± 0.04`, as SVG."""
    text = badge_words(figures)
    left, right = (round(LETTER * len(words) + 2 * MARGIN, 1) for words in (NAME, text))
    samples = f"{figures.mean.items:,} samples"
    return render("badge.svg", name=NAME, text=text, left=left, right=right, title=f"{NAME}: {text}, {samples}")


def badge_words(figures: ColumnFigures) -> str:
    """The mean value, and half of its 95 % interval where there is one."""
    mean = figures.mean.mean
    if mean.value is None:
        return "no verdicts"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.2f}"
    return f"{mean.value:.2f} ± {(mean.high - mean.low) / 2:.2f}"
