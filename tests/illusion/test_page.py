"""The page of a run: figures beside the paper's, confusion tables, and the pictures that were missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from onprompt.api import judges
from onprompt.illusion import page
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.run import results_of
from onprompt.runs.reading import Run
from tests.illusion.drawn import draw
from tests.illusion.test_run import SCENE, SHAPE, Size, ran, said

pytestmark = pytest.mark.slow


def written(folder: Path, size: Size) -> str:
    """The page of a run on sixteen pictures, one of which has changed since, and one of which is gone."""
    draw(folder / "pics", SPLITS["sin"], per_class=1)
    answers = {"contains": SHAPE, "text": "Cat <b>"}, {"contains": SCENE, "text": "City"}
    ran(folder, folder / "pics", said(folder, *answers), size)
    judges.close()
    changed, gone, other = (next((folder / "pics" / name).rglob("*.png")) for name in ("Dog", "Car", "Mug"))
    changed.write_bytes(other.read_bytes())
    gone.unlink()
    run = Run(folder / "run.sqlite")
    page.write(run, results_of(run), "original", folder / "page.html")
    return (folder / "page.html").read_text()


@pytest.mark.parametrize("size", [(32, 48), None])
def test_the_page_has_figures_confusions_and_the_missed_pictures(tmp_path: Path, size: Size) -> None:
    html = written(tmp_path, size)
    assert "6.2 % (1.1–28.3)" in html
    assert '<th scope="row">GPT-4o</th><td class="number">35.1</td>' in html, "recall in the paper"
    for group in ("By class", "By scene", "Easy and hard images"):
        assert f"<caption>{group} (original)</caption>" in html
    assert "Confusion, shape question (strict)" in html
    assert '<td class="number half right">1</td>' in html
    assert "15 of 16 images" in html
    assert html.count('<img src="data:image/jpeg;base64,') == 13
    for reason in ("its file has changed since it was judged", "its file is no longer there"):
        assert html.count(f'title="{reason}"') == 1, "no other picture is shown"
    assert "shape: <bdi>Cat &lt;b&gt;</bdi>" in html, "an answer is text"
    assert "script-src" not in html.partition("</head>")[0], "the page has no script"
