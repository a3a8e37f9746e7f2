"""A test of an image, with the fixture that comes with onprompt: pytest test_hero_image.py."""


def test_hero_image(assert_shows):
    assert_shows("hero.png", "two red cups on a table, and a laptop", at_least=3)
