"""Step 0: a prompt made uniform, with the marks of image generators (weights, parameters) read and masked."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from onprompt.errors import PromptError
from onprompt.settings import Settings

QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "´": "'", "`": "'"})
UNSEEN = {"Cc", "Cf"}  # control characters and zero-width marks
INCHES = re.compile(r"""(\d)(?:""|"(?= (?:x|by|wide|tall|long|high|screen|tv)\b))""")
SINGLE_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,80})'(?!\w)")
WORDY_QUOTED = re.compile(r"(?<=[ (])'((?:[^'\n]|(?<=\w)'(?=\w)){1,120})'(?=[\s.,;:!?)]|$)")  # 'don't panic'
# Midjourney's switches: --ar 16:9, and the long dash that word processors make of the two hyphens.
SWITCH_NAMES = "ar aspect w h v version no style stylize s q quality chaos seed niji iw tile stop test uplight vibe hd"
DASHES = rf"(?:--(?=[A-Za-z])|[—–](?=(?:{'|'.join(SWITCH_NAMES.split())})\b))"
SWITCH = re.compile(rf"(?<!\S){DASHES}(?P<name>[A-Za-z]\w*)(?P<value>(?:\s+(?!--|[—–])[^\s,]+)?)")
SWITCH_WORDS = {"style", "version", "v", "ar"}  # the others take figures only
UNWANTED = re.compile(rf"(?<!\S)(?:--|[—–])no\s+(?P<list>(?:(?!\s{DASHES}).)+)")
WEIGHT = re.compile(r":\s*(\d+(?:\.\d+)?)\s*$")
TRAILING_WEIGHT = re.compile(r"::?(\d+(?:\.\d+)?)(?=[\s,]|$)")  # cat::2
LORA = re.compile(r"<[^<>\s]+:[^<>]*>")  # <lora:name:0.8>
OPENING, CLOSING = "([{", ")]}"
LIGHTEST, HEAVIEST = 0.01, 100.0  # a weight of nothing would leave nothing to ask for
STEP = {"(": 1.1, "{": 1.05, "[": 0.9}  # what a plain bracket does, by the usual web interfaces


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` as it was written; `body` is as long, with blanks and commas where marks for the generator stood."""

    text: str
    body: str
    parameters: tuple[str, ...] = ()
    unwanted: tuple[tuple[int, int], ...] = ()  # where `--no` lists what must not be there
    weights: tuple[tuple[int, float], ...] = ()  # from where on the text weighs how much

    def weight(self, at: int) -> float:
        """How much a place in the text weighs."""
        step = bisect_right(self.weights, at, key=lambda each: each[0]) - 1
        return self.weights[step][1] if step >= 0 else 1.0


def clean(prompt: str, settings: Settings) -> Prompt:
    """One kind of quotes and blanks. Case and punctuation stay: quoted text is to be read as it is."""
    if not isinstance(prompt, str):
        raise PromptError(f"the prompt is no text but of type {type(prompt).__name__}")
    if len(prompt) > settings.max_prompt_characters:
        limit = f"the limit is {settings.max_prompt_characters:,} (setting max_prompt_characters)"
        raise PromptError(f"the prompt has {len(prompt):,} characters; {limit}")
    text = unicodedata.normalize("NFC", prompt).translate(QUOTES)
    text = "".join(letter for letter in text if letter.isspace() or unicodedata.category(letter) not in UNSEEN)
    text = INCHES.sub(r"\1″", " ".join(text.split()))
    text = SINGLE_QUOTED.sub(r'"\1"', WORDY_QUOTED.sub(r'"\1"', text))
    if not text:
        raise PromptError("the prompt is empty")
    if not any(letter.isalnum() or unicodedata.category(letter) == "So" for letter in text):
        raise PromptError(f"the prompt {text[:40]!r} holds no word")
    if text.count('"') == 2 and text[0] == text[-1] == '"' and len(text.split()) > 4:
        text = text[1:-1].strip() or text  # a whole prompt in quotes is a prompt
    letters = [letter for letter in text if letter.isalpha()]
    shouted = len(letters) > 12 and sum(letter.isupper() for letter in letters) > 0.9 * len(letters)
    return masked(text, shouted)


def masked(text: str, shouted: bool = False) -> Prompt:
    """The marks of generators read, and blanked out; what is shouted is read as if it were said."""
    body, parameters = text, list[str]()
    unwanted = tuple(found.span("list") for found in UNWANTED.finditer(text))
    for found in UNWANTED.finditer(text):
        body = blank(body, found.start(), found.end())
    for found in SWITCH.finditer(body):
        value = found["value"].strip()
        takes = bool(value) and (value[0].isdigit() or found["name"] in SWITCH_WORDS)
        parameters.append(f"{found['name']} {value}" if takes else found["name"])
        body = blank(body, found.start(), found.end() if takes else found.end("name"))
    for found in LORA.finditer(body):
        body = blank(body, found.start(), found.end())
    weights = []
    for found in TRAILING_WEIGHT.finditer(body):
        start = max(body.rfind(",", 0, found.start()), body.rfind("::", 0, found.start()) + 1) + 1
        if body[found.start() :].startswith("::"):
            weights.append((start, found.start(), float(found[1])))
            body = body[: found.start()] + "," + blank(body, found.start() + 1, found.end())[found.start() + 1 :]
    body, bracketed = without_brackets(body.lower() if shouted and len(body.lower()) == len(body) else body)
    return Prompt(text, body, tuple(parameters), unwanted, steps([*weights, *bracketed]))


def steps(spans: list[tuple[int, int, float]]) -> tuple[tuple[int, float], ...]:
    """Where the weight changes, and to what; brackets within brackets multiply."""
    factors = [(start, end, min(max(weight, LIGHTEST), HEAVIEST)) for start, end, weight in spans]
    changes = sorted((*((start, f) for start, _, f in factors), *((end, 1 / f) for _, end, f in factors)))
    product, found = 1.0, []
    for at, factor in changes:
        product *= factor
        found.append((at, round(product, 2)))
    return tuple(found)


def blank(text: str, start: int, end: int) -> str:
    """The text with blanks in place of a part of it."""
    return text[:start] + " " * (end - start) + text[end:]


def without_brackets(text: str) -> tuple[str, list[tuple[int, int, float]]]:
    """Weights in brackets, read; brackets of ordinary prose become commas.

    A plain bracket is a weight only where the prompt shows elsewhere that its writer means weights.
    """
    meant = bool(re.search(r":\s*\d+(\.\d+)?\s*[)\]]|\(\(|\[\[|\{", text)) or bool(
        re.search(r"(^|,)\s*[(\[][^()\[\],]{1,30}[)\]]\s*(,|$)", text)
    )
    letters, spans, open_at = list(text), [], []
    for at, letter in enumerate(text):
        if letter in OPENING:
            open_at.append(at)
        elif letter in CLOSING and open_at:
            start = open_at.pop()
            explicit = WEIGHT.search(text, start, at)
            letters[start] = letters[at] = " " if meant else ","
            if explicit:
                letters[explicit.start() : at] = " " * (at - explicit.start())
            if meant:
                spans.append((start, at, float(explicit[1]) if explicit else STEP[text[start]]))
    for at in open_at:
        letters[at] = " "
    return "".join(letters), spans
