"""Names, kinds, and how a vocabulary answers for a name."""

import pytest

from onprompt.language import ontology
from onprompt.types import Known

VOCABULARY = ["couch", "chair", "dog", "cat", "person", "sports ball", "tennis ball", "bus"]


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        *(
            ("dogs", "dog"),
            ("puppies", "puppy"),
            ("boxes", "box"),
            ("glasses", "glasses"),
            ("bus", "bus"),
            ("buses", "bus"),
        ),
        *(
            ("people", "person"),
            ("fire trucks", "fire truck"),
            ("grass", "grass"),
            ("knives", "knife"),
            ("cookies", "cookie"),
        ),
    ],
)
def test_singular(plural: str, one: str) -> None:
    assert ontology.singular(plural) == one


def test_canonical_names() -> None:
    assert ontology.canonical("couches") == ontology.canonical("sofa") == "sofa"
    assert ontology.canonical("Giraffe") == "giraffe"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("dog", Known(("dog",))),
        ("dogs", Known(("dog",))),
        ("sofa", Known(("couch",))),
        ("animal", Known(("cat", "dog"))),
        ("office chair", Known(("chair",), 0.8)),
        ("woman", Known(("person",), 0.8)),
        ("puppy", Known(("dog",), 0.8)),
        ("red dragon", None),
        ("zeitgeist", None),
    ],
)
def test_how_a_vocabulary_answers(name: str, known: Known | None) -> None:
    assert ontology.resolve(name, VOCABULARY, subtype_score=0.8) == known


def test_what_may_be_said_of_one_thing_is_related() -> None:
    assert ontology.related("woman", "person")
    assert ontology.related("sofa", "couch")
    assert ontology.related("animal", "puppy")
    assert not ontology.related("zebra", "horse")
    assert not ontology.related("man", "woman")


def test_rivals_never_fit_the_same_thing() -> None:
    assert ontology.rivals("wolf") == {"dog", "fox"}
    for group in ontology.data()["rivals"]:
        for name in group:
            assert not any(ontology.related(name, other) for other in group if other != name)


def test_every_name_of_the_data_is_singular_and_every_split_lies_within_its_kind() -> None:
    for names in ontology.data()["same"]:
        assert len(names) == len(set(names)) > 1
    for kind, parts in ontology.data()["splits"].items():
        assert set(parts) <= ontology.members(kind)
