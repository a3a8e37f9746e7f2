"""The page of a run: figures beside the paper's, a confusion table, and the pictures that were missed."""

import pytest

from onprompt.api import judges
from onprompt.illusion import page
from onprompt.illusion.protocol import SPLITS
from onprompt.illusion.run import results_of
from onprompt.runs.reading import Run
from tests.illusion.drawn import draw
from tests.illusion.test_run import SCENE, SHAPE, ran, said


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    draw(folder / "pics", SPLITS["sin"], per_class=1)
    ran(
        folder,
        folder / "pics",
        said(folder, {"contains": SHAPE, "text": "Cat <b>"}, {"contains": SCENE, "text": "City"}),
    )
    judges.close()
    run = Run(folder / "run.sqlite")
    page.write(run, results_of(run), "original", folder / "page.html")
    return (folder / "page.html").read_text()


def test_recalls_stand_beside_the_papers_with_intervals(html: str) -> None:
    assert "6.2 % (1.1–28.3)" in html
    assert "Recall in the paper, IN" in html
    assert '<th scope="row">GPT-4o</th><td class="number">35.1</td>' in html
    for group in ("By class", "By scene", "Easy and hard images"):
        assert f"<caption>{group} (original)</caption>" in html


def test_confusion_is_by_the_strict_scoring(html: str) -> None:
    assert "Confusion, shape question (strict)" in html
    assert '<td class="number heat-3 right">1</td>' in html


def test_missed_pictures_are_in_the_page_and_answers_are_text(html: str) -> None:
    assert "15 of 16 images" in html
    assert html.count('<img src="data:image/jpeg;base64,') == 15
    assert "shape: <bdi>Cat &lt;b&gt;</bdi>" in html
    assert "script-src" not in html.partition("</head>")[0], "the page has no script"
