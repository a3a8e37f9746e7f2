"""Tests of images, with the fixture that comes with onprompt: pytest test_hero_image.py."""


def test_hero_image(assert_shows):
    assert_shows("hero.png", "two red cups on a table, and a laptop", at_least=3)


def test_edit(assert_edit):
    assert_edit("before.png", "after.png", "remove the cup", at_least={"alignment": 5})
