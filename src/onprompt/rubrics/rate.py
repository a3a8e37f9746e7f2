"""`rate` (seed 001): which elements, and which actions and relations, does the image show? 1 to 5."""

from onprompt.types import Rubric

RUBRIC = Rubric("rate", "1", range(1, 6))
