"""Labels of boxes: near their boxes, on the page, and none over another."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from onprompt.report.labels import place_labels
from onprompt.report.view import distinct
from onprompt.types import Box, Sighting

PAGE = (900.0, 600.0)
shares = st.floats(0, 1)
boxes = st.builds(
    lambda x, y, across, down: Box(min(x, across), min(y, down), max(x, across), max(y, down)),
    *(shares, shares, shares, shares),
)


@given(st.lists(boxes, min_size=2, max_size=30))
def test_no_label_covers_another(drawn: list[Box]) -> None:
    places = place_labels(drawn, [120.0 + index for index in range(len(drawn))], 24, PAGE)
    assert not [(one, other) for one, other in combinations(places, 2) if one.meets(other)]
    for place in places:
        assert place.left >= 0
        assert place.top >= 0
        assert place.right <= PAGE[0] + 1e-6
        assert place.bottom <= PAGE[1] + 1e-6


def test_a_single_label_is_above_its_box() -> None:
    (place,) = place_labels([Box(0.1, 0.5, 0.4, 0.9)], [100], 24, PAGE)
    assert place == (90, 276, 190, 300)


def test_a_page_full_of_labels_has_them_all() -> None:
    assert len(place_labels([Box(0, 0, 1, 1)] * 50, [90] * 50, 20, (100, 100))) == 50


def test_what_two_detectors_saw_in_one_place_is_one_thing() -> None:
    box, near, far = Box(0.1, 0.1, 0.5, 0.5), Box(0.1, 0.1, 0.5, 0.51), Box(0.6, 0.1, 0.9, 0.5)
    seen = [Sighting("table", "table", box, 0.9, "a"), Sighting("desk", "table", near, 0.6, "b")]
    seen += [Sighting("table", "table", far, 0.8, "a"), Sighting("cup", "cup", box, 0.7, "a")]
    assert distinct(seen) == [0, 0, 2, 3]
