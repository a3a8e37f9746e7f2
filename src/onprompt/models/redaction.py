"""API keys hidden in whatever a server sends back: whole, in part, plain or in base64."""

import base64
from functools import lru_cache

HIDDEN = "[key]"
WINDOW = 8  # characters of a key that are hidden wherever they stand; a shorter key is a placeholder such as "none"


def hide_key(text: str, key: str) -> str:
    """A text without any 8 characters of a key that follow each other."""
    parts = windows(key)
    if not parts:
        return text
    kept, start, at = [], 0, 0
    while at <= len(text) - WINDOW:
        if text[at : at + WINDOW] not in parts:
            at += 1
            continue
        end = at + WINDOW
        while text[end - WINDOW + 1 : end + 1] in parts:
            end += 1
        kept += [text[start:at], HIDDEN]
        start = at = end
    return "".join([*kept, text[start:]])


@lru_cache(maxsize=64)
def windows(key: str) -> frozenset[str]:
    """All parts of a key and of its base64, at any of the three places in which it may begin there."""
    if len(key) < WINDOW:
        return frozenset()
    forms = [key]
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + key.encode()).decode().rstrip("=")
        whole = encoded[-(-before * 4 // 3) : len(encoded) - bool((before + len(key)) % 3)]  # letters of the key alone
        forms += [whole, whole.translate(str.maketrans("+/", "-_"))]
    return frozenset(form[at : at + WINDOW] for form in forms for at in range(len(form) - WINDOW + 1))
