"""`verify` (seed 000): are the prompt's objects, counts, attributes and relations in the image? 0 to 4."""

from onprompt.types import Rubric

RUBRIC = Rubric("verify", "1", range(5))
