"""What a notebook shows: short texts, pictures, and no page of others."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

import onprompt
from onprompt.errors import ImageError
from onprompt.report.comparison import compare, systems
from onprompt.runs.reading import Run
from onprompt.types import Decoded, Picture
from tests.conftest import photo_path
from tests.pages.stored import Stored, four_models, stored_run


def test_a_verdict_is_short_and_draws_itself() -> None:
    verdict = onprompt.verify(photo_path("coffee.png"), "Two red cups on a table, and a laptop.")
    text = repr(verdict)
    assert text.startswith("<Verdict verify by evidence on 'Two red cups on a table, and a laptop.': score 2, value 0.")
    assert max(len(repr(part)) for part in (verdict, *verdict.checks)) < 200
    evidence = verdict.prompt_evidence
    assert evidence
    assert repr(evidence.scene).endswith("2 × cup, 1 × table, 1 × laptop>")
    assert len(repr(evidence.sightings[0])) < 120
    with Image.open(io.BytesIO(verdict._repr_png_())) as image:
        assert image.format == "PNG"
    page = verdict._repr_html_()
    assert re.search("<td>object</td><td>a laptop</td><td>[^<]*</td><td[^>]*>missing</td><td>0.[0-9][0-9]</td>", page)
    assert "<b>score 2</b>, value 0." in page
    assert "data:image/jpeg;base64," in page


def test_a_comparison_is_a_table_with_its_tests(tmp_path: Path) -> None:
    rows = list(Run(stored_run(tmp_path / "run.sqlite", four_models())).rows())
    page = compare(systems({"run": rows}, by_model=True))._repr_html_()
    assert re.search(r"<td>north</td><td>0\.9\d \[0\.9\d, 0\.9\d\]</td><td>[^<]+</td><td>8</td>", page)
    assert "<li>north is better than west" in page


def test_a_run_is_a_table_and_its_claims_are_another(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    run = Run(stored_run(tmp_path / "run.sqlite", [*four_models(), Stored("<b>", "<script>")]))
    page = run._repr_html_()
    assert page
    assert "33 of 33 samples judged" in page
    assert "<td>two cups on table number 0</td>" in page
    assert "<script" not in page
    claims = run.to_pandas(claims=True)
    assert list(claims.columns) == ["kind", "asked", "found", "outcome", "probability", "source"]
    assert claims.loc["north/0", "kind"].tolist() == ["object", "count", "relation", "object", "object"]


def test_nothing_in_a_verdict_is_markup() -> None:
    evil = "<script>alert(1)</script> a cup"

    def gone() -> Decoded:
        raise ImageError("<b>gone</b>")

    verdict = onprompt.verify(photo_path("coffee.png"), "A cup.")
    sample = replace(verdict.sample, prompt=evil, picture=Picture("x", "0", gone))
    page = replace(verdict, sample=sample, summary=evil)._repr_html_()
    assert "<script" not in page
    assert "<b>gone" not in page
    assert "&lt;b&gt;gone" in page
    assert "<td>A cup</td>" in page, "the claims are there without the picture"
