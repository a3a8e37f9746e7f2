"""How a vocabulary answers for a name."""

import pytest

from onprompt.language import name_of
from onprompt.types import Known
from onprompt.vision.vocabulary import resolve

VOCABULARY = ["couch", "chair", "dog", "cat", "person", "sports ball", "tennis ball", "bus", "wine glass"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("dog", Known(("dog",))),
        ("dogs", Known(("dog",))),
        ("sofa", Known(("couch",))),
        ("animal", Known(("cat", "dog"))),
        ("wine glasses", Known(("wine glass",))),
        ("office chair", Known(("chair",), 0.7)),
        ("woman", Known(("person",), 0.7)),
        ("puppy", Known(("dog",), 0.7)),
        ("red dragon", None),
        ("zeitgeist", None),
    ],
)
def test_how_a_vocabulary_answers(name: str, known: Known | None) -> None:
    assert resolve(name_of(name), VOCABULARY, subtype_score=0.7) == known
