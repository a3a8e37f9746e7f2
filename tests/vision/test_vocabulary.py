"""How a vocabulary answers for a name."""

import pytest

from onprompt.language import name_of
from onprompt.types import NameMatch
from onprompt.vision.vocabulary import resolve

VOCABULARY = ["couch", "chair", "dog", "cat", "person", "sports ball", "tennis ball", "bus", "wine glass"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("dog", NameMatch(("dog",))),
        ("dogs", NameMatch(("dog",))),
        ("sofa", NameMatch(("couch",))),
        ("animal", NameMatch(("cat", "dog"))),
        ("wine glasses", NameMatch(("wine glass",))),
        ("office chair", NameMatch(("chair",), 0.7)),
        ("woman", NameMatch(("person",), 0.7)),
        ("puppy", NameMatch(("dog",), 0.7)),
        ("red dragon", None),
        ("zeitgeist", None),
    ],
)
def test_how_a_vocabulary_answers(name: str, known: NameMatch | None) -> None:
    assert resolve(name_of(name), VOCABULARY, subtype_score=0.7) == known
