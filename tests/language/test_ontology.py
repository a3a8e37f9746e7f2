"""Names, kinds, and how a vocabulary answers for a name."""

import pytest

from onprompt.language import ontology
from onprompt.vision.vocabulary import COCO


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


def test_what_may_be_said_of_one_thing() -> None:
    assert ontology.name_of("woman").may_be("person")
    assert ontology.name_of("sofa").may_be("couch")
    assert ontology.name_of("animal").may_be("puppy")
    assert ontology.name_of("office chair").may_be("chair")
    assert not ontology.name_of("zebra").may_be("horse")
    assert not ontology.name_of("man").may_be("woman")


def test_broader_kinds_come_narrowest_first() -> None:
    assert ontology.name_of("puppy").broader[:2] == ("dog", "doggy")
    assert ontology.name_of("red dragon").broader == ("dragon",)


def test_rivals_never_fit_the_same_thing() -> None:
    assert ontology.rivals("wolf") == {"dog", "fox"}
    for group in ontology.data()["rivals"]:
        for name in group:
            assert not any(ontology.name_of(name).may_be(other) for other in group if other != name)


def test_every_split_lies_within_its_kind_and_no_name_has_two_meanings() -> None:
    names = [name for group in ontology.data()["same"] for name in group]
    assert len(names) == len(set(names))
    for kind, parts in ontology.data()["splits"].items():
        assert set(parts) <= ontology.members(kind)


@pytest.mark.parametrize("name", COCO)
def test_the_plural_of_every_coco_name_leads_back_to_it(name: str) -> None:
    same = {"skis": "skis", "scissors": "scissors", "sheep": "sheep", "broccoli": "broccoli"}
    odd = same | {"person": "people", "mouse": "mice", "knife": "knives"}
    plural = odd.get(name) or name + ("es" if name.endswith(("s", "ch", "sh")) else "s")
    assert name in ontology.name_of(plural).same
