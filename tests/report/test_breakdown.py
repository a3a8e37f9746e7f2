"""Tables by group and by kind of check: by hand."""

import pytest

from onprompt.errors import UserError
from onprompt.report.breakdown import by_group, by_kind, document, group_lines, kind_lines
from onprompt.report.comparison import category_lines, compare_categories
from onprompt.report.ratings import Item
from tests.report.test_comparison import noise

ITEMS = [
    Item("1", "p", 0.2, 1, "", "a"),
    Item("2", "p", 0.4, 2, "", "a"),
    Item("3", "q", 0.9, 4, "", "a"),
    Item("4", "p", 0.1, 0, "", "b"),
    Item("5", "q", None, None, "", "b"),
    Item("6", "q", None, None, "", ""),
]


def test_groups_by_hand() -> None:
    a, b, rest = by_group(ITEMS, [item.model for item in ITEMS])
    assert a.name == "a"
    assert [a.value.value, a.score.value] == pytest.approx([(0.3 + 0.9) / 2, (1.5 + 4) / 2])
    assert (a.samples, a.no_verdict, a.value.n) == (3, 0, 2)
    assert (b.value.value, b.samples, b.no_verdict) == (0.1, 1, 1)
    assert (rest.name, rest.value.value, rest.no_verdict) == ("(none)", None, 1)
    lines = list(group_lines([a, b, rest], "model"))
    assert len({len(line) for line in lines[:4]}) == 1, "columns stand under their heads"
    assert document([a], "model")["groups"][0]["score"]["value"] == 2.75


def test_kinds_by_hand() -> None:
    rows = [
        ("color", "p", "matched", 2.0, 2),
        ("color", "p", "mismatch", 0.0, 2),
        ("color", "q", "matched", 1.0, 1),
        ("color", "q", "unverifiable", 0.0, 5),
        ("count", "q", "unverifiable", 0.0, 1),
    ]
    color, count = by_kind(rows)
    assert color.score.value == pytest.approx((0.5 + 1) / 2)
    assert color.outcomes == {"matched": 3, "mismatch": 2, "unverifiable": 5}
    assert count.score.value is None
    lines = list(kind_lines([color, count]))
    assert len({len(line) for line in lines[:3]}) == 1


def test_categories_are_corrected_together() -> None:
    def system(shift: float) -> list[Item]:
        values = noise(40, shift), noise(40, shift, seed=1)
        return [
            Item(f"{c}{n}", f"{c} prompt {n}", value, None, c)
            for c, numbers in zip("xy", values, strict=True)
            for n, value in enumerate(numbers)
        ]

    one = [*system(0.1), Item("z", "z", 0.5, None, "z")]
    found = compare_categories({"a": one, "b": system(0.0)})
    assert list(found) == ["x", "y"], "z has one system only"
    (x,), (y,) = (result.pairs for result in found.values())
    assert (x.better, y.better) == ("a", "a")
    assert x.p_alone is not None
    assert x.p == pytest.approx(2 * x.p_alone)
    text = "\n".join(category_lines(found))
    assert text.startswith("x:\n")
    assert "(pairs: 2)" in text
    with pytest.raises(UserError, match="no sample names one"):
        compare_categories({"a": [Item("1", "p", 0.5)], "b": []})
