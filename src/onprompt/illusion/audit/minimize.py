"""Shorten an answer that shows a difference: words are removed as long as the difference remains."""

import re
from collections.abc import Callable, Sequence

from onprompt.illusion.audit.scorer import ScoredCase
from onprompt.illusion.audit.test_answers import Case

WORD = re.compile(r"\s*\S+|\s+$")
SHORT = 50  # characters of an answer that needs no shortening
PIECES = 64  # of an answer, at most, each of which is removed in turn


def shortest(differing: Sequence[ScoredCase], score: Callable[[Sequence[Case]], Sequence[ScoredCase]]) -> ScoredCase:
    """The shortest of some differing cases, made shorter still if it is long."""
    least = min(differing, key=lambda scored: (len(scored.case.answer), len(scored.case.shape + scored.case.scene)))
    words = WORD.findall(least.case.answer)
    size = len(words) // 2
    # A call that ends the function's process would do so again and again.
    while size and len(least.case.answer) > SHORT and not least.theirs.error:
        shorter = [without(words, start, size) for start in range(0, len(words), size)]
        tried = score([least.case._replace(answer="".join(left)) for left in shorter])
        same = [number for number, scored in enumerate(tried) if scored.differs and scored[1:] == least[1:]]
        if same:
            least, words = tried[same[0]], shorter[same[0]]
            size = max(1, min(size, len(words) // 2)) if words else 0
        else:
            size = 0 if len(words) > PIECES * size else size // 2
    return least


def without(words: Sequence[str], start: int, size: int) -> list[str]:
    """The words without some of them; the first has no space before it."""
    left = [*words[:start], *words[start + size :]]
    return [left[0].lstrip(" "), *left[1:]] if left else []
