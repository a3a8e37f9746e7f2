"""The score that an answer in free text states, found by a small grammar; an answer that is not plain is refused.

A number is a score where it is announced ("Final score: (3)", "### Score" above a 4, "I rate this image 3 out of 4"),
alone on its line, or in brackets after the last sentence. It is none where it counts, where it is part of a legend,
of a condition or of a quotation, or where it belongs to something else, such as a confidence. All that are scores have
to agree. The words of each language are in `score_words.toml`, and the patterns in `score_patterns.toml`.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import blank

SEARCHED = 20_000  # characters at the end of an answer; longer ones are babble
MOST_NUMBERS = 300
HEAD, AFTER = 240, 100  # characters before and after a number that can say what it is
SHORT = 4  # words of a line that is a heading


class Patterns(dict[str, re.Pattern[str]]):
    """The patterns of `score_patterns.toml`, made of words and of each other; also as attributes."""

    def __init__(self) -> None:
        words, templates = (
            tomllib.loads(Path(__file__).with_name(f"score_{name}.toml").read_text(encoding="utf-8"))
            for name in ("words", "patterns")
        )
        parts = {name: rf"(?:{'|'.join(sorted(some, key=len, reverse=True))})" for name, some in words.items()}
        for name, template in templates.items():
            text = "".join(template)
            for part, pattern in parts.items():
                text = text.replace(f"{{{part}}}", pattern)
            parts[name], self[name] = text, re.compile(text)

    def __getattr__(self, name: str) -> re.Pattern[str]:
        return self[name]


P = Patterns()
ASCII_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
BLANKS = "*`~\\\u200b\u200c\u200d\u200e\u200f\u2060\ufe0f\u20e3\u00a0\u202f\u2009\u00ad\r\t"
PLAIN_FORMS = {
    **dict.fromkeys(map(ord, BLANKS), " "),
    **{ord(odd): plain for odd, plain in zip("−‒。【】〔〕\u2028\u2029؟،।", "--.[][]\n\n?,.", strict=True)},
}
QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』', " "))


class Stated(NamedTuple):
    """A score as it is written, where, and how: a `score`, `one` of several, or `weak`: if no other is in brackets."""

    written: str
    start: int
    kind: str


class Number(NamedTuple):
    """A number with its scale, and what is around both."""

    written: str
    head: str
    tail: str
    bracketed: bool
    scale: str  # how its scale is given: "/", "of", or not


def stated_score(answer: str, scale: range, quotable: Sequence[str] = ()) -> tuple[int, int]:
    """The score of an answer and where it stands; UnreadableAnswer if there is none, or more than one.

    Sentences of the `quotable` texts, such as the rubric's, state nothing.
    """
    skipped = max(0, len(answer) - SEARCHED)
    text = plain(answer[skipped:], quotable)
    numbers = list(P.NUMBER.finditer(text))[-MOST_NUMBERS:]
    found = [each for number in numbers if (each := statement(number, text, scale))]
    bracketed = {each[1] for each in P.BRACKETED.finditer(text)}
    found = [each for each in found if each.kind != "weak" or bracketed == {each.written}]
    if not found:
        raise UnreadableAnswer("no_score", f"no score from {scale[0]} to {scale[-1]} is stated in the answer")
    if len({each.written for each in found}) > 1 or any(each.kind == "one" for each in found):
        raise UnreadableAnswer("two_scores", "the answer leaves it open which of several scores it gives")
    written, start, _ = found[-1]
    if len(written) > 9 or not written.isdecimal() or int(written) not in scale:
        limits = f"a whole number from {scale[0]} to {scale[-1]}"
        raise UnreadableAnswer("off_scale", f"the score is {written[:40]}, not {limits}")
    return int(written), skipped + start


# ---- the text ------------------------------------------------------------------------------------------------------


def plain(text: str, quotable: Sequence[str]) -> str:
    """A text of the same length in small letters, without markup, quotations and the digits of other scripts."""
    if not text.isascii():
        text = text.translate(ASCII_FORMS)
        text = "".join(str(int(letter)) if letter.isdecimal() else letter for letter in text)
    text = blank(text, *(match.span() for match in P.STRUCK.finditer(text)))
    text = P.FENCE.sub(spaces, text)
    text = P.LABEL_TAG.sub(lambda tag: f"{tag[1].replace('_', ' ')}: ", text)
    text = P.BREAKING_TAG.sub(lambda tag: "\n".ljust(len(tag[0])), text)
    text = P.TAG.sub(spaces, P.FORMULA.sub(spaces, text))
    text = blank(text, *(match.span() for match in P.ECHO.finditer(text)))
    text = blank(text, *quotations(text, quotable)).translate(QUOTES).translate(PLAIN_FORMS)
    text = "".join(low if len(low := letter.lower()) == 1 else letter for letter in P.UNDERSCORE.sub(spaces, text))
    return P.STEP.sub(
        lambda step: step[1] + ("v" if step[2] == "5" else "n") + (f"{step[3]}n" if step[3] else ""), text
    )


def spaces(match: re.Match[str]) -> str:
    """As many blanks as were matched."""
    return " " * len(match[0])


def quotations(text: str, quotable: Sequence[str]) -> list[tuple[int, int]]:
    """Where words with a number are quoted, in quotation marks or from the question."""
    quoted = [each.span() for each in P.QUOTED.finditer(text) if P.WORD.search(each[0]) and re.search(r"\d", each[0])]
    if len(quoted) == 1 and text[slice(*quoted[0])] == text.strip():
        quoted = []  # the whole answer in quotation marks
    known = {sentence for each in quotable for sentence in sentences_of(each)}
    start = 0
    for line in text.splitlines(keepends=True) if known else ():
        pieces = [(0, len(line)), *(each.span() for each in P.SENTENCES.finditer(line))]
        quoted += [(start + first, start + last) for first, last in pieces if normal(line[first:last]) in known]
        start += len(line)
    return sorted(quoted)


@lru_cache(maxsize=256)
def sentences_of(text: str) -> frozenset[str]:
    """The lines and sentences of a text that say more than a number, such as `Score: <1 to 5>`."""
    pieces = [piece for line in text.splitlines() for piece in (line, *P.SENTENCES.findall(line))]
    return frozenset(normal(piece) for piece in pieces if len(P.WORD.findall(piece)) > 2 and re.search(r"\d", piece))


def normal(text: str) -> str:
    """A text for comparison: with colons, since the heading `Score 4: Perfect` is not `Score: 4 - Perfect`."""
    return " ".join(re.findall(r"\w+|:", text.lower()))


# ---- a number ------------------------------------------------------------------------------------------------------


def statement(found: re.Match[str], text: str, scale: range) -> Stated | None:
    """The score that a number states, if it does."""
    begin = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end()) if "\n" in text[found.end() :] else len(text)
    head = text[max(begin, found.start() - HEAD) : found.start()]
    if P.OTHER_BEFORE.search(head):
        return None
    number = measure(found[0], head, text[found.end() : min(end, found.end() + AFTER)], scale)
    above, below = text[max(0, begin - HEAD) : begin].rstrip(), text[end : end + AFTER].strip()
    line_above = above.rpartition("\n")[2]
    if re.search(r"\w", P.BULLET.sub("", number.head)) or re.search(r"\w", number.tail):
        kind = kind_of(number, line_above, first=not above, last=not below)
    else:
        kind = kind_alone(number, line_above, outer=not above or not below)
    kind = kind or ("score" if is_cell(number, above, below) else "")
    if kind and (other := P.OTHER.match(number.tail)):
        if {number.written, other[1]} == {str(scale[0]), str(scale[-1])}:
            return None  # the scale itself
        kind = "one"
    start = found.end() - len(found[0].lstrip("+-"))
    return Stated(number.written, start, kind) if kind else None


def measure(written: str, head: str, tail: str, scale: range) -> Number:
    """A number with its scale, in brackets or not. On a scale of another length it is no whole number of ours."""
    inside = P.INSIDE.match(tail)
    rest = tail[inside.end() :] if inside else tail
    percent = re.match(r"\s*%", rest)
    rest = rest[percent.end() :] if percent else rest
    closed, opened = P.CLOSED.match(rest), P.OPENED.search(head)
    if closed and opened:
        head, rest = head[: opened.start()], rest[closed.end() - (rest[closed.end() - 1] == " ") :]
    of = inside or P.OUTSIDE.match(rest)
    rest = rest[of.end() :] if of and not inside else rest
    other = "%" if percent else f" of {of[1]}" if of and int(of[1]) != scale[-1] else ""
    written = (written.lstrip("0") or "0") if written.isdecimal() else written
    return Number(written + other, head, rest, bool(closed and opened), ("/" if "/" in of[0] else "of") if of else "")


def kind_alone(number: Number, above: str, outer: bool) -> str:
    """What a number alone on its line is, by the line above it: one without brackets has to begin or end the text."""
    measured = P.MEASURED.match(above)
    if announced(f"{above.strip().rstrip(':')}:") and not measured:
        return "score"
    heading = above.rstrip().endswith(":") or above.lstrip().startswith("#")
    short = 0 < len(above.split()) <= SHORT and not re.search(r"\d", above)
    if (measured and (short or heading)) or (short and heading and not P.RESULT.search(above)):
        return ""
    if number.scale == "/" or re.search(r"[#$]\Z|\d", number.head):  # 3/4 objects; item 5 of a list
        return ""
    if number.bracketed:
        return "score"
    ended = not above.strip() or above.rstrip()[-1] in ".!?:)"
    return "score" if outer and ended and not P.OPEN.search(number.head) else ""


def kind_of(number: Number, above: str, first: bool, last: bool) -> str:
    """What a number among words is."""
    head, tail = number.head, number.tail
    if number.bracketed and last and P.AFTER_SENTENCE.search(head) and not re.search(r"\w", tail):
        return "score"
    if number.bracketed and first and not P.BULLET.sub("", head).strip():
        return "weak" if P.OPENING.match(tail) and not P.IF.search(tail) else ""
    if P.IF.search(P.SENTENCE.split(head)[-1].strip()) or P.TAKEN_BACK.match(tail) or P.ASKED.match(tail):
        return ""
    how = announced(head)
    if how and is_followed_well(how, number):
        return "" if P.EXAMPLE.match(above) or P.INSCRIBED.search(head) else "score"
    if how or not (P.TAIL.match(tail) or P.OTHER.match(tail)):
        return ""
    return "score" if is_given(number) or P.CORRECTED.search(head) else ""


def is_followed_well(how: str, number: Number) -> bool:
    """Whether what follows an announced number lets it be a score."""
    tail = number.tail
    if not (P.TAIL.match(tail) or P.OTHER.match(tail)):
        by_verb = how == "is" or (how == "result" and number.head.rstrip()[-1] not in ":=")
        return by_verb and bool(re.match(r"\s*:", tail))
    if how == "is":
        return not (re.match(r"\W*is\b", tail) and P.IF.search(tail))
    more = {"result": r"\w", "bare": r"[\w(–—-]"}.get(how)
    return number.bracketed or not more or not re.search(more, tail)


def is_given(number: Number) -> bool:
    """Whether a number is given to the image by a verb: "I rate it 3 out of 4", "so it is (3)"."""
    head = number.head
    given = P.GIVEN.search(head)
    said = given and (number.bracketed or number.scale or given["what"].strip())
    said = said or (number.bracketed and P.CALLED.search(head)) or (P.MARKED.search(head) and "分" in number.tail[:2])
    return bool(said) and not P.NOT.search(last_clause(head))


def last_clause(head: str) -> str:
    """The part of a sentence that a number stands in, without "I would"."""
    return P.CLAUSE.split(P.POLITE.sub("", P.SENTENCE.split(head)[-1]))[-1]


def is_cell(number: Number, above: str, below: str) -> bool:
    """Whether a number stands in the only row of a table, below the name of a score."""
    *_, names, rule = ["", "", *above.splitlines()]
    if below.startswith("|") or not re.fullmatch(r"[\s|:–—-]+", rule) or not re.match(r"\s*\|", number.tail):
        return False
    *_, before = number.head.rpartition("|")
    cells, column = names.split("|"), number.head.count("|")
    return not before.strip() and column < len(cells) and announced(f"{cells[column].strip()}:") == "colon"


def announced(head: str) -> str:
    """How words announce a number: as a score after a `colon`, after `is` or `bare`; as a `result`; or not."""
    label = P.LABEL.search(head)
    if not label:
        return ""
    lead, article = head[: label.start()], False
    while qualifier := P.QUALIFIER.search(lead):
        article = article or bool(P.ARTICLE.match(qualifier[0].strip()))
        lead = lead[: qualifier.start()]
    begins = not P.BULLET.sub("", lead).strip() or P.PUNCTUATED.search(lead)
    if P.GLUED.search(lead) or P.FOR.search(lead) or not (begins or article or P.FUNCTION_WORD.search(lead)):
        return ""
    if P.NOT.search(last_clause(head)):
        return ""
    how = (label["is"] or "").strip()
    if not label["score"]:
        return "result" if how else ""
    return ("colon" if how[0] in ":=|-–—→" else "is") if how else "bare"
