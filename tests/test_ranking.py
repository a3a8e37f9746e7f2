"""Best of n: the order, the reasons, and what can't be ranked."""

from pathlib import Path

from PIL import Image

import onprompt
from onprompt.errors import ImageError
from tests.conftest import photo_path


def test_the_image_that_shows_it_comes_first(tmp_path: Path) -> None:
    Image.new("RGB", (64, 64), "grey").save(tmp_path / "blank.png")
    (tmp_path / "none.png").write_bytes(b"no image")
    images = [tmp_path / "none.png", tmp_path / "blank.png", photo_path("coffee.png"), photo_path("chelsea.png")]
    ranked = onprompt.best(images, "A cup on a table.")
    assert (ranked[0].number, ranked[-1].number) == (2, 0)
    assert ranked[0].reason.startswith("The image matches the prompt.")
    assert isinstance(ranked[-1].result, ImageError)
    assert "none.png" in ranked[-1].reason
    values = [each.value for each in ranked if each.value is not None]
    assert values == sorted(values, reverse=True)
    assert len(values) == 3


def test_of_several_edits_the_one_that_was_done_comes_first() -> None:
    with Image.open(photo_path("coffee.png")) as picture:
        before = picture.resize((300, 200))
    gray = before.convert("L").convert("RGB")
    ranked = onprompt.best_edit(before, [before, gray], "make the image black and white")
    assert [each.number for each in ranked] == [1, 0]
    assert ranked[0].image is gray
    assert "Done" in ranked[0].reason


def test_nothing_to_rank() -> None:
    assert onprompt.best([], "A cup.") == []
    (only,) = onprompt.best([photo_path("coffee.png")], "A feeling of nostalgia")
    assert only.value is None
