"""Men, women and children: what a person's looks confirm, contradict or leave open."""

import pytest

from onprompt.evidence.grade import grade
from onprompt.evidence.match import match
from onprompt.evidence.matches import Match
from onprompt.rubrics.verify import score_of
from onprompt.settings import Settings
from onprompt.types import Box, Count, Known, Outcome, Scene, Seen, Sighting, Thing, Trait
from onprompt.wording import actual, note

MALE, FEMALE = Trait("sex", "male", 0.9), Trait("sex", "female", 0.8)
CHILD, ADULT = Trait("age", "child", 0.8), Trait("age", "adult", 0.9)


def found(word: str, *people: tuple[Trait, ...], settings: Settings) -> Match:
    boxes = (Box(0.3 * place, 0.2, 0.3 * place + 0.2, 0.9) for place in range(len(people)))
    sightings = tuple(
        Sighting(word, "person", box, 0.9, "test", traits=traits) for box, traits in zip(boxes, people, strict=True)
    )
    seen = Seen(sightings, {word: Known(("person",), settings.subtype_score)})
    return match(Scene("", (Thing(word, word, Count(1, None, "")),)), seen, (), settings)[0]


@pytest.mark.parametrize(
    ("word", "traits", "score"),
    [
        ("man", (MALE, ADULT), 4),
        ("man", (FEMALE,), 2),
        ("man", (), 3),
        ("man", (MALE, CHILD), 3),  # no mismatch: adults are often taken for children in generated images
        ("woman", (FEMALE,), 4),
        ("woman", (MALE,), 2),
        ("boy", (MALE, CHILD), 4),
        ("boy", (MALE,), 3),
        ("girl", (FEMALE, ADULT), 3),
        ("girl", (MALE, CHILD), 2),
        ("child", (CHILD,), 4),
        ("child", (ADULT,), 2),
        ("bride", (FEMALE,), 3),
        ("bride", (MALE,), 2),
        ("teacher", (FEMALE,), 3),
    ],
)
def test_looks_confirm_contradict_or_leave_open(
    word: str, traits: tuple[Trait, ...], score: int, settings: Settings
) -> None:
    result = grade((found(word, traits, settings=settings),), settings)
    assert score_of(result.presence, result.attribute_accuracy, settings, result.faultless) == score


def test_all_must_look_like_it(settings: Settings) -> None:
    assert found("man", (MALE,), (MALE,), settings=settings).outcome is Outcome.MATCHED
    assert found("man", (MALE,), (), settings=settings).outcome is Outcome.PARTIAL
    check = found("man", (FEMALE,), settings=settings).checks[-1]
    assert (note(check), check.source) == ("sex: asked for male, found female", "appearance")


def test_a_wrong_sex_is_said_once(settings: Settings) -> None:
    assert actual(found("man", (FEMALE,), settings=settings)) == "1 × person: sex: asked for male, found female"
    assert "broader class 'person'" in actual(found("man", (), settings=settings))
