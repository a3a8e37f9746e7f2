"""Text of others, such as file names and models' answers, made safe to print."""

import re

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and newline
HIDDEN = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # what turns text around, or can't be seen
UNSAFE = re.compile(rf"[{CONTROLS}{HIDDEN}\ud800-\udfff]")


def printable(text: str) -> str:
    """A text whose control characters are spelled out, so that no terminal obeys them."""
    return UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_json(text: str) -> str:
    """JSON that means the same, with such characters as JSON escapes."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
