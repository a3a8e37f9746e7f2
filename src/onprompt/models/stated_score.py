"""The score that an answer in free text states, found by a small grammar; an answer that is not plain is refused.

A number is a score where it is announced ("Final score: (3)", "### Score" above a 4, "I rate this image 3 out of 4"),
alone on its line, or in brackets after the last sentence. It is none where it counts, where it is part of a legend,
of a condition or of a quotation, or where it belongs to something else, such as a confidence. All that are scores have
to agree. The words of each language are in `score_words.toml`.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from onprompt.errors import UnreadableAnswer
from onprompt.models.reading import blank

SEARCHED = 20_000  # characters at the end of an answer; longer ones are babble
MOST_NUMBERS = 300
HEAD, AFTER = 240, 100  # characters before and after a number that can say what it is
SHORT = 4  # words of a line that is a heading


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first."""
    return rf"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


WORDS = tomllib.loads(Path(__file__).with_name("score_words.toml").read_text(encoding="utf-8"))
LETTER = "[a-zà-ÿа-яё]"  # of scripts that put spaces between words
LEFT, RIGHT = rf"(?<!{LETTER})", rf"(?!{LETTER})"  # where a word begins and ends
OPEN, CLOSE = r"[\[({<]", r"[\])}>]"
OF, UNIT, NUMERAL = (rf"{any_of(WORDS[name])}{RIGHT}" for name in ("of", "unit", "number"))
NUMBER = re.compile(r"(?<![0-9a-zà-ÿа-я_.,])[+-]?\d+(?:[.,]\d+)?(?![a-zà-ÿа-я_]|[.,]?\d)")

BRACKETED = re.compile(rf"{OPEN}\s*(\d{{1,9}})\s*{CLOSE}")

# Before a number: what announces it, and `is`, how.
SCALE_NOTE = (
    r"\s*[(\[]\s*\d[^()\[\]\n]{0,60}[)\]](?=\s*[:=])"
    rf"|\s*[(\[]?\s*(?:on )?(?:an? |the )?(?:scale )?(?:of |from )?"
    rf"(?:(?:{OF}|/|max\.?|满分|満点)\s*\d+|\d+\s*(?:[-–—~]|to|bis|à|a|至|から)\s*\d+)\s*(?:{UNIT})?\s*[)\]]?"
)
IS = rf"(?:\s*(?:[:=|]+>?|[-–—]+>|→|[-–—](?=\s)|{any_of(WORDS['is'])}{RIGHT})){{1,2}}"
LABEL = re.compile(
    rf"{LEFT}(?:(?P<score>{any_of(WORDS['score'])})|{any_of(WORDS['result'])}){RIGHT}"
    rf"(?:\s+{any_of(WORDS['after_score'])}{RIGHT})?(?:\s+(?:of|for) (?:this|the) (?:image|picture|photo|pair))?"
    rf"\s*['’)]?(?:{SCALE_NOTE})?(?P<is>{IS})?\s*(?:(?:therefore|thus|hence|exactly|clearly|an?|between|zwischen|entre)\s)?"
    rf"\s*(?:{NUMERAL})?\s*['’]?\Z"
)
QUALIFIER = re.compile(rf"{LEFT}{any_of(WORDS['qualifier'])}[\s_-]*\Z")
ARTICLE = re.compile(r"(?:the|my|our|die|meine|le|la|ma|il|el|o|a|mi|het)\s*\Z")
GIVEN = re.compile(
    r"\b(?:giv(?:e[sn]?|ing)|(?:rat|scor|grad)(?:e[sd]?|ing)|(?:assign|award)(?:s|ed|ing)?|"
    r"gets?|receives?|earns?|deserves?|warrants?|merits?|result(?:s|ing)? in|lead(?:s|ing)? to|yields?|settle on)"
    r"(?!\s+of\b)\s+(?P<what>(?:(?:it|this|that|the|image|picture|photo|pair|generated|prompt|overall|edit|an?|"
    r"scores?|ratings?|grade|of|final|as|with|at|maximum|full|perfect|highest|top|lowest)\s+)*)\Z"
)
CALLED = re.compile(  # "so it is (3)", "hence (3)"
    r"(?:\A|[\s,;:.!?—–-])(?:(?:(?:it|this|that)(?: image| picture)?|the (?:image|picture))(?: is|['’]s| looks| seems)"
    r"(?: \w+ly)?(?: more)?(?: like)?(?: an?)?|(?:i|we) (?:would )?say(?: an?)?|so|hence|therefore|thus|overall)\s*\Z"
)
MARKED = re.compile(r"(?:打了?|应得|评为?|给予|获得|得了)\s*\Z")  # "打3分"
CORRECTED = re.compile(
    r"\b(?:lower|rais|reduc|chang|revis|correct|adjust|downgrad|upgrad|drop|updat|amend)\w*\s+"
    r"(?:(?:it|this|that|the|my|score|rating|final|down|up|back)\s+)*to(?: an?)?\s*\Z"
    r"|\b(?:make that|i mean|actually|on reflection|on second thought|correction|wait)\b[^.\n]{0,20}\Z"
    r"|\b(?:edit|updat|correct|revis|amend)\w*\s*:\s*\Z"
)
INSCRIBED = re.compile(
    r"\b(?:texts?|signs?|writing|posters?|banners?|labels?|screens?|boards?|messages?|letters|inscription|words|shirt|paper)\b"
    r"[^.,;]{0,30}:[^.,;:]{0,20}:?\s*\Z"
)
IF = re.compile(rf"{LEFT}{any_of(WORDS['if'])}{RIGHT}|{any_of(WORDS['if_unspaced'])}")
NOT = re.compile(rf"{LEFT}{any_of(WORDS['not'])}{RIGHT}|{any_of(WORDS['not_unspaced'])}")
POLITE = re.compile(r"\b(?:i|we)(?: would|['’]d)(?! not)(?: have to)?(?: say)?\b|\bi say\b")
CLAUSE = re.compile(r"[,;:()|、]|\s[–—-]+\s|\b(?:so|thus|hence|therefore|but|because|and|means|meaning|with)\b")
SENTENCE = re.compile(r"[.!?](?:(?=\s|\Z)|(?=[^\x00-\x7f]))")
FUNCTION_WORD = re.compile(r"(?:\A|\s)(?:an?|so|thus|hence|therefore|and|but|with|that|means|giving|as)\s*\Z")
PUNCTUATED = re.compile(r"(?:\A|[^\w\s'’%_-]|(?<!\w)['‘]|\s[–—-]+)\s*\Z")
FOR = re.compile(r"\b(?:for|than|to|towards?|between|from|of|reach)\s*\Z")
GLUED = re.compile(r"\w[-–_]\Z")
BULLET = re.compile(r"\A[\s•·>◦▪●–—+#|-]*(?:\(?\d{1,2}[.):]\s+)?[\s•·>◦▪●–—+|-]*")

# After a number: its scale, other numbers, and what may follow a score.
INSIDE = re.compile(
    rf"\s*(?:{UNIT})?\s*(?:/|{OF}(?: an? (?:possible|maximum|total)(?: of)?)?)\s*(\d{{1,9}})(?![\w]|[.,]\d)"
)
OUTSIDE = re.compile(rf"\s*(?:{OF}\s*{OPEN}?|{OPEN}\s*(?:{OF}|/|max\.?)|/)\s*(\d{{1,9}})\s*{CLOSE}?(?![\w]|[.,]\d)")
CLOSED = re.compile(rf"\.?\s*(?:{UNIT})?\s*{CLOSE}[\s\])}}>]*")
BESIDE = (
    *("to", "or", "and", "through", "minus", "plus", "bis", "oder", "und", "ou", "et", "o", "y", "e", "или", "и"),
    *("或者?", "和", "至", "到", "から", "または", "또는", "أو", "या"),
)
OTHER = re.compile(  # "3-4", "(3) or (4)", "4 - 1 = 3", "3, 4"; not "3, 2 owls are missing"
    rf"\s*(?:(?:[-–—~/+*×=|]|->|=>|→|{any_of(BESIDE)})+\s*{OPEN}*\s*(\d{{1,9}})"
    rf"|,\s*(?:(?:or|maybe|perhaps|possibly|rather|even|vielleicht|peut-être|quizás|talvez|forse)\s+)*"
    rf"{OPEN}*\s*(\d{{1,9}})(?!\d|\s+(?!{OF}|{UNIT}){LETTER}))"
)
OTHER_BEFORE = re.compile(
    rf"\d\s*{CLOSE}*\s*(?:[-–—~/+*×=]|->|→|(?:{OF}|{any_of(BESIDE)})(?=\s|{OPEN}|\Z))\s*{OPEN}*\s*\Z"
)
TAIL = re.compile(
    rf"\s*(?:(?:{UNIT})(?!中|満|满|만))?(?:\s*\Z|\s*[.;!)\]|,\"'’>}}(\[]|\s*[–—]|\s+-|\s+{any_of(WORDS['because'])}{RIGHT}"
    r"|\s*(?:です|だ|である|입니다|이다|है)|\s*[^\w\s:=?+*/×→<{-])"
)
TAKEN_BACK = re.compile(
    r"[^\w\n?.!]{0,4}(?:if|unless|when)\b|[^\w\n?]{0,4}(?:would|could|might|means?|requires?|needs?|indicates?|represents?|corresponds?|"
    r"stands for|applies|minus|less|deduct\w*|reduced|lowered|before|at (?:most|best|least|worst)|"
    r"or (?:more|less|higher|lower|above|below|better|worse)|is (?:reserved|for|only|defined|used|"
    r"given (?:to|when|if|for))|(?:which )?i (?:ignore|reject|disregard|won))\b"
)
AFTER_SENTENCE = re.compile(r"(?<!\bno)(?<!\bfig)(?<!\bcf)(?<!\bp)[.!?]\W*\s\Z|[^\x00-\x7f][.!?]\s*\Z")
OPENING = re.compile(  # after a score that begins the answer; not "(2) dogs"
    rf"\s*(?:[-–—:,.;|]|{any_of(WORDS['because'])}{RIGHT}|is (?:the|my)\b"
    r"|(?:all|the image|the picture|this|every\w*|perfect|high|partial|poor)\b)"
)
ASKED = re.compile(r"[^.!?\n]*\?")

# A line above a number alone that says what it is.
MEASURED = re.compile(
    r"\W*(?:the |my )?(?:confidence|certainty|counts?|number|quantity|probability|quality|aesthetics?|realism|"
    r"max\w*|min\w*|scale|legend|range|previous|initial|rubric|criteria|examples?|format|template|step n|"
    r"置信|信心|数量|확신|konfidenz|confiance|confianza|confiança|fiducia|уверенность|الثقة)"
)
RESULT = re.compile(
    rf"{LEFT}(?:{any_of(WORDS['score'])}|{any_of(WORDS['result'])}|alignment|match\w*|summary|step){RIGHT}"
)
EXAMPLE = re.compile(r".*\b(?:examples?|format|template|legend|suppose|would)\b.*:\s*\Z")

ASCII_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
BLANKS = "*`~\\\u200b\u200c\u200d\u200e\u200f\u2060\ufe0f\u20e3\u00a0\u202f\u2009\u00ad\r\t"
PLAIN_FORMS = {
    **dict.fromkeys(map(ord, BLANKS), " "),
    **{ord(odd): plain for odd, plain in zip("−‒。【】〔〕\u2028\u2029؟،।", "--.[][]\n\n?,.", strict=True)},
}
STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(s|del)>[^<]{0,200}</\1>|<!--[^>]{0,500}-->")
LABELS_OF_TAGS = r"(?:final[_-]?)?(?:score|rating|grade|answer|result|verdict|output|reasoning)"
LABEL_TAG = re.compile(rf"<({LABELS_OF_TAGS})>", re.IGNORECASE)
BREAKING_TAG = re.compile(rf"<(?:/(?:{LABELS_OF_TAGS}|p|li|tr|div|h\d)|br\s?/?)>", re.IGNORECASE)
FORMULA = re.compile(r"\$+(?=[^$\n]{1,80}\$)|(?<=[})\d\s])\$")
TAG = re.compile(r"</?[a-z][a-z0-9]{0,9}/?>|<\|[\w|]{1,30}\|>|\\[a-z]{1,12}(?=[{( ])", re.IGNORECASE)
FENCE = re.compile(r"^[ \t]*+```+[ \t]*+\w*+[ \t]*+$", re.MULTILINE)
UNDERSCORE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
STEP = re.compile(r"(\bsteps?\s{0,3}[(\[]?)(\d)(?:(\s{0,3}(?:&|and|,|-|–|/)\s{0,3})(\d))?")
QUOTED = re.compile(
    r"\"(?:[^\"\\\n]|\\.){1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|(?<!\w)['‘][^'’\n]{1,400}['’](?!\w)"
)
QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』', " "))
ECHO = re.compile(
    r"^[^\w\n]{0,9}(?:input |user |text |image )?(?:prompt|caption|instruction)s?\s*:[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
WORD, SENTENCES = re.compile(r"[^\W\d_]{2,}"), re.compile(r"[^.!?]+[.!?]?")


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
    numbers = list(NUMBER.finditer(text))[-MOST_NUMBERS:]
    found = [each for number in numbers if (each := statement(number, text, scale))]
    bracketed = {each[1] for each in BRACKETED.finditer(text)}
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
    text = blank(text, *(match.span() for match in STRUCK.finditer(text)))
    text = FENCE.sub(spaces, text)
    text = LABEL_TAG.sub(lambda tag: f"{tag[1].replace('_', ' ')}: ", text)
    text = BREAKING_TAG.sub(lambda tag: "\n".ljust(len(tag[0])), text)
    text = TAG.sub(spaces, FORMULA.sub(spaces, text))
    text = blank(text, *(match.span() for match in ECHO.finditer(text)))
    text = blank(text, *quotations(text, quotable)).translate(QUOTES).translate(PLAIN_FORMS)
    text = "".join(low if len(low := letter.lower()) == 1 else letter for letter in UNDERSCORE.sub(spaces, text))
    return STEP.sub(lambda step: step[1] + ("v" if step[2] == "5" else "n") + (f"{step[3]}n" if step[3] else ""), text)


def spaces(match: re.Match[str]) -> str:
    """As many blanks as were matched."""
    return " " * len(match[0])


def quotations(text: str, quotable: Sequence[str]) -> list[tuple[int, int]]:
    """Where words with a number are quoted, in quotation marks or from the question."""
    quoted = [each.span() for each in QUOTED.finditer(text) if WORD.search(each[0]) and re.search(r"\d", each[0])]
    if len(quoted) == 1 and text[slice(*quoted[0])] == text.strip():
        quoted = []  # the whole answer in quotation marks
    known = {sentence for each in quotable for sentence in sentences_of(each)}
    start = 0
    for line in text.splitlines(keepends=True) if known else ():
        pieces = [(0, len(line)), *(each.span() for each in SENTENCES.finditer(line))]
        quoted += [(start + first, start + last) for first, last in pieces if normal(line[first:last]) in known]
        start += len(line)
    return sorted(quoted)


@lru_cache(maxsize=256)
def sentences_of(text: str) -> frozenset[str]:
    """The lines and sentences of a text that say more than a number, such as `Score: <1 to 5>`."""
    pieces = [piece for line in text.splitlines() for piece in (line, *SENTENCES.findall(line))]
    return frozenset(normal(piece) for piece in pieces if len(WORD.findall(piece)) > 2 and re.search(r"\d", piece))


def normal(text: str) -> str:
    """A text for comparison: with colons, since the heading `Score 4: Perfect` is not `Score: 4 - Perfect`."""
    return " ".join(re.findall(r"\w+|:", text.lower()))


# ---- a number ------------------------------------------------------------------------------------------------------


def statement(found: re.Match[str], text: str, scale: range) -> Stated | None:
    """The score that a number states, if it does."""
    begin = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end()) if "\n" in text[found.end() :] else len(text)
    head = text[max(begin, found.start() - HEAD) : found.start()]
    if OTHER_BEFORE.search(head):
        return None
    number = measure(found[0], head, text[found.end() : min(end, found.end() + AFTER)], scale)
    above, below = text[max(0, begin - HEAD) : begin].rstrip(), text[end : end + AFTER].strip()
    line_above = above.rpartition("\n")[2]
    if re.search(r"\w", BULLET.sub("", number.head)) or re.search(r"\w", number.tail):
        kind = kind_of(number, line_above, first=not above, last=not below)
    else:
        kind = kind_alone(number, line_above, outer=not above or not below)
    kind = kind or ("score" if is_cell(number, above, below) else "")
    if kind and (other := OTHER.match(number.tail)):
        if {number.written, other[1]} == {str(scale[0]), str(scale[-1])}:
            return None  # the scale itself
        kind = "one"
    start = found.end() - len(found[0].lstrip("+-"))
    return Stated(number.written, start, kind) if kind else None


def measure(written: str, head: str, tail: str, scale: range) -> Number:
    """A number with its scale, in brackets or not. On a scale of another length it is no whole number of ours."""
    inside = INSIDE.match(tail)
    rest = tail[inside.end() :] if inside else tail
    percent = re.match(r"\s*%", rest)
    rest = rest[percent.end() :] if percent else rest
    closed, opened = CLOSED.match(rest), re.search(rf"{OPEN}[\s\[({{<]*\Z", head)
    if closed and opened:
        head, rest = head[: opened.start()], rest[closed.end() - (rest[closed.end() - 1] == " ") :]
    of = inside or OUTSIDE.match(rest)
    rest = rest[of.end() :] if of and not inside else rest
    other = "%" if percent else f" of {of[1]}" if of and int(of[1]) != scale[-1] else ""
    written = (written.lstrip("0") or "0") if written.isdecimal() else written
    return Number(written + other, head, rest, bool(closed and opened), ("/" if "/" in of[0] else "of") if of else "")


def kind_alone(number: Number, above: str, outer: bool) -> str:
    """What a number alone on its line is, by the line above it: one without brackets has to begin or end the text."""
    measured = MEASURED.match(above)
    if announced(f"{above.strip().rstrip(':')}:") and not measured:
        return "score"
    heading = above.rstrip().endswith(":") or above.lstrip().startswith("#")
    short = 0 < len(above.split()) <= SHORT and not re.search(r"\d", above)
    if (measured and (short or heading)) or (short and heading and not RESULT.search(above)):
        return ""
    if number.scale == "/" or re.search(r"[#$]\Z|\d", number.head):  # 3/4 objects; item 5 of a list
        return ""
    if number.bracketed:
        return "score"
    ended = not above.strip() or above.rstrip()[-1] in ".!?:)"
    return "score" if outer and ended and not re.search(OPEN, number.head) else ""


def kind_of(number: Number, above: str, first: bool, last: bool) -> str:
    """What a number among words is."""
    head, tail = number.head, number.tail
    if number.bracketed and last and AFTER_SENTENCE.search(head) and not re.search(r"\w", tail):
        return "score"
    if number.bracketed and first and not BULLET.sub("", head).strip():
        return "weak" if OPENING.match(tail) and not IF.search(tail) else ""
    if IF.search(SENTENCE.split(head)[-1].strip()) or TAKEN_BACK.match(tail) or ASKED.match(tail):
        return ""
    how = announced(head)
    if how and is_followed_well(how, number):
        return "" if EXAMPLE.match(above) or INSCRIBED.search(head) else "score"
    if how or not (TAIL.match(tail) or OTHER.match(tail)):
        return ""
    return "score" if is_given(number) or CORRECTED.search(head) else ""


def is_followed_well(how: str, number: Number) -> bool:
    """Whether what follows an announced number lets it be a score."""
    tail = number.tail
    if not (TAIL.match(tail) or OTHER.match(tail)):
        by_verb = how == "is" or (how == "result" and number.head.rstrip()[-1] not in ":=")
        return by_verb and bool(re.match(r"\s*:", tail))
    if how == "is":
        return not (re.match(r"\W*is\b", tail) and IF.search(tail))
    more = {"result": r"\w", "bare": r"[\w(–—-]"}.get(how)
    return number.bracketed or not more or not re.search(more, tail)


def is_given(number: Number) -> bool:
    """Whether a number is given to the image by a verb: "I rate it 3 out of 4", "so it is (3)"."""
    head = number.head
    given = GIVEN.search(head)
    said = given and (number.bracketed or number.scale or given["what"].strip())
    said = said or (number.bracketed and CALLED.search(head)) or (MARKED.search(head) and "分" in number.tail[:2])
    return bool(said) and not NOT.search(last_clause(head))


def last_clause(head: str) -> str:
    """The part of a sentence that a number stands in, without "I would"."""
    return CLAUSE.split(POLITE.sub("", SENTENCE.split(head)[-1]))[-1]


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
    label = LABEL.search(head)
    if not label:
        return ""
    lead, article = head[: label.start()], False
    while qualifier := QUALIFIER.search(lead):
        article = article or bool(ARTICLE.match(qualifier[0].strip()))
        lead = lead[: qualifier.start()]
    begins = not BULLET.sub("", lead).strip() or PUNCTUATED.search(lead)
    if GLUED.search(lead) or FOR.search(lead) or not (begins or article or FUNCTION_WORD.search(lead)):
        return ""
    if NOT.search(last_clause(head)):
        return ""
    how = (label["is"] or "").strip()
    if not label["score"]:
        return "result" if how else ""
    return ("colon" if how[0] in ":=|-–—→" else "is") if how else "bare"
