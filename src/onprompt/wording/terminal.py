"""Text of others, such as file names and models' answers, made safe to print."""

import re
import shlex

CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and newline
HIDDEN = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # what turns text around, or can't be seen
UNSAFE = re.compile(rf"[{CONTROLS}{HIDDEN}\ud800-\udfff]")
NEEDS_QUOTE = re.compile(rf"{UNSAFE.pattern[:-1]}\n\t]")  # what can't be seen in a line that is pasted


def printable(text: str) -> str:
    """A text whose control characters are spelled out, so that no terminal obeys them."""
    return UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_json(text: str) -> str:
    """JSON that means the same, with such characters as JSON escapes."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shell_word(text: str) -> str:
    """One word of a command; control and hidden characters are spelled out, as bash and zsh read them."""
    if not NEEDS_QUOTE.search(text):
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{NEEDS_QUOTE.sub(escape, escaped)}'"


def escape(found: re.Match[str]) -> str:
    """A character as $'…' has it."""
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
