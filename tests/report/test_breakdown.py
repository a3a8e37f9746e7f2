"""Tables by group and by kind of check: by hand."""

import pytest

from onprompt.errors import UserError
from onprompt.report.comparison import (
    by_group,
    by_kind,
    compare_categories,
    group_document,
    group_lines,
    kind_lines,
    lines,
)
from onprompt.runs.reading import CheckRow, RunRow
from tests.report.test_comparison import noise

ITEMS = [
    RunRow("1", "p", 0.2, 1, "", "a"),
    RunRow("2", "p", 0.4, 2, "", "a"),
    RunRow("3", "q", 0.9, 4, "", "a"),
    RunRow("4", "p", 0.1, 0, "", "b"),
    RunRow("5", "q", None, None, "", "b"),
    RunRow("6", "q", None, None, "", ""),
]


def test_groups_by_hand() -> None:
    a, b, rest = by_group(ITEMS, [item.model for item in ITEMS])
    assert a.name == "a"
    assert [a.mean.value, a.score.value] == pytest.approx([(0.3 + 0.9) / 2, (1.5 + 4) / 2])
    assert (a.items, a.no_verdict, a.mean.n) == (3, 0, 2)
    assert (b.mean.value, b.items, b.no_verdict) == (0.1, 1, 1)
    assert (rest.name, rest.mean.value, rest.no_verdict) == ("(none)", None, 1)
    lines = list(group_lines([a, b, rest], "model"))
    assert len({len(line) for line in lines[:4]}) == 1, "columns stand under their heads"
    (entry,) = group_document([a], "model")["groups"]
    assert (entry["score"]["value"], entry["samples"], entry["value"]["n"]) == (2.75, 3, 2)


def test_kinds_by_hand() -> None:
    counts = [
        *((1, "color", "matched", 1.0, 2), (1, "color", "mismatch", 0.0, 2), (2, "color", "matched", 1.0, 1)),
        *((2, "color", "unverifiable", 0.0, 5), (2, "count", "unverifiable", 0.0, 1), (3, "count", "matched", 1.0, 1)),
    ]
    checks = [CheckRow(sample, kind, "", "", outcome, p) for sample, kind, outcome, p, n in counts for _ in range(n)]
    rows = [RunRow("1", "p", 0.5, number=1), RunRow("2", "q", 0.5, number=2)]
    rows.append(RunRow("3", "q", 0.5, flags=("not_verifiable",), number=3))
    color, count = by_kind(rows, checks)
    assert color.probability.value == pytest.approx((0.5 + 1) / 2)
    assert color.outcomes == {"matched": 3, "mismatch": 2, "unverifiable": 5}
    assert count.probability.value is None
    lines = list(kind_lines([color, count]))
    assert len({len(line) for line in lines[:3]}) == 1


def test_categories_are_corrected_together() -> None:
    def system(shift: float) -> list[RunRow]:
        values = noise(40, shift), noise(40, shift, seed=1)
        return [
            RunRow(f"{c}{n}", f"{c} prompt {n}", value, None, c)
            for c, numbers in zip("xy", values, strict=True)
            for n, value in enumerate(numbers)
        ]

    one = [*system(0.1), RunRow("z", "z", 0.5, None, "z")]
    found = compare_categories({"a": one, "b": system(0.0)})
    assert list(found) == ["x", "y"], "z has one system only"
    (x,), (y,) = (result.pairs for result in found.values())
    assert (x.better, y.better) == ("a", "a")
    assert x.p_alone is not None
    assert x.p == pytest.approx(2 * x.p_alone)
    text = "\n".join(lines(found))
    assert text.startswith("x:\n")
    assert "(pairs: 2)" in text
    with pytest.raises(UserError, match="no sample names one"):
        compare_categories({"a": [RunRow("1", "p", 0.5)], "b": []})
