"""Keys that a server sends back, whole or in part."""

import base64

import pytest

from onprompt.models.http import WINDOW, hide_key

KEY = "sk-secret-0123456789abcdef/+~"


@pytest.mark.parametrize("start", range(0, len(KEY) - WINDOW, 3))
@pytest.mark.parametrize("length", [WINDOW, WINDOW + 5])
def test_any_part_of_it(start: int, length: int) -> None:
    part = KEY[start : start + length]
    assert hide_key(f"wrong key: {part}!", KEY) == "wrong key: [key]!"


@pytest.mark.parametrize("before", ["", "x", "yz", "user:", "Bearer "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_in_base64_wherever_it_begins(before: str, encode: object) -> None:
    assert callable(encode)
    encoded = encode(f"{before}{KEY}".encode()).decode().rstrip("=")
    hidden = hide_key(f"authorization: {encoded}.", KEY)
    assert "[key]" in hidden
    left = hidden.removeprefix("authorization: ").replace("[key]", "")
    assert len(left) <= -(-len(before) * 4 // 3) + 4, "what is left is of the words before it, or of no whole letter"


def test_what_is_no_key_stays() -> None:
    text = "The image shows a secret door, sk-1 and 012345. " * 100
    assert hide_key(text, KEY) == text
    assert hide_key("none at all", "none") == "none at all", "a placeholder"
    assert hide_key(f"{KEY} and {KEY}", KEY) == "[key] and [key]"
