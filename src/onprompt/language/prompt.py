"""A prompt normalized, with the marks of image generators (weights, switches) read and masked."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.settings import Settings

QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "´": "'", "`": "'"})
INVISIBLE = {"Cc", "Cf"}  # control characters and zero-width marks
INCHES = re.compile(r"""(\d)(?:""|"(?= (?:x|by|wide|tall|long|high|screen|tv)\b))""")
SINGLE_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,80})'(?!\w)")
WORDY_QUOTED = re.compile(r"(?<=[ (])'((?:[^'\n]|(?<=\w)'(?=\w)){1,120})'(?=[\s.,;:!?)]|$)")  # 'don't panic'
# Midjourney's switches: --ar 16:9; word processors make a long dash of the two hyphens.
DASHES = rf"(?:--(?=[A-Za-z])|[—–](?=(?:{'|'.join(sorted(lex.SWITCHES))})\b))"
SWITCH = re.compile(rf"(?<!\S){DASHES}(?P<name>[A-Za-z]\w*)(?P<value>(?:\s+(?!--|[—–])[^\s,]+)?)")
UNWANTED = re.compile(rf"(?<!\S)(?:--|[—–])no\s+(?P<list>(?:(?!\s{DASHES}).)+)")
WEIGHT = re.compile(r":\s*(\d+(?:\.\d+)?)\s*$")
TRAILING_WEIGHT = re.compile(r"::?(\d+(?:\.\d+)?)(?=[\s,]|$)")  # cat::2
LORA = re.compile(r"<[^<>\s]+:[^<>]*>")  # <lora:name:0.8>
OPENING, CLOSING = "([{", ")]}"
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100.0  # a weight of zero would leave nothing to ask for
BRACKET_WEIGHTS = {"(": 1.1, "{": 1.05, "[": 0.9}  # as in the usual web interfaces
MEANT_AS_WEIGHTS = re.compile(
    r":\s*\d+(\.\d+)?\s*[)\]]|\(\(|\[\[|\{|(^|,)\s*[(\[][^()\[\],]{1,30}[)\]]\s*(,|$)"  # (cat:1.2), ((cat)), [cat],
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` as written; `body` is as long, with blanks and commas in place of the generator's marks."""

    text: str
    body: str
    parameters: tuple[str, ...] = ()
    unwanted: tuple[tuple[int, int], ...] = ()  # the spans of what `--no` lists
    weights: tuple[tuple[int, float], ...] = ()  # where the weight changes, and to what

    def weight(self, at: int) -> float:
        """The weight at a position of the text."""
        step = bisect_right(self.weights, at, key=lambda change: change[0]) - 1
        return self.weights[step][1] if step >= 0 else 1.0


def normalize_prompt(prompt: str, settings: Settings) -> Prompt:
    """A prompt with uniform quotes and blanks. Case and punctuation stay, since quoted text is read as it is."""
    if not isinstance(prompt, str):
        raise PromptError(f"the prompt is of type {type(prompt).__name__}; pass a string")
    if len(prompt) > settings.max_prompt_characters:
        limit = f"the limit is {settings.max_prompt_characters:,} (setting max_prompt_characters)"
        raise PromptError(f"the prompt has {len(prompt):,} characters; {limit}")
    text = unicodedata.normalize("NFC", prompt).translate(QUOTES)
    text = "".join(letter for letter in text if letter.isspace() or unicodedata.category(letter) not in INVISIBLE)
    text = INCHES.sub(r"\1″", " ".join(text.split()))
    text = SINGLE_QUOTED.sub(r'"\1"', WORDY_QUOTED.sub(r'"\1"', text))
    if not text:
        raise PromptError("the prompt is empty")
    if not any(letter.isalnum() or unicodedata.category(letter) == "So" for letter in text):
        raise PromptError(f"the prompt {text[:40]!r} holds no word")
    if text.count('"') == 2 and text[0] == text[-1] == '"' and len(text.split()) > 4:
        text = text[1:-1].strip() or text  # the quotes enclose the whole prompt and mark no text
    return read_marks(text)


def read_marks(text: str) -> Prompt:
    """A prompt with the generator's marks read and blanked out; one in capitals is read in lower case."""
    body, parameters, weights = text, list[str](), list[tuple[int, int, float]]()
    unwanted = tuple(match.span("list") for match in UNWANTED.finditer(text))
    for match in UNWANTED.finditer(text):
        body = blank_out(body, *match.span())
    for match in SWITCH.finditer(body):
        value = match["value"].strip()
        takes_value = bool(value) and (value[0].isdigit() or match["name"] in lex.WORDED_SWITCHES)
        parameters.append(f"{match['name']} {value}" if takes_value else match["name"])
        body = blank_out(body, match.start(), match.end() if takes_value else match.end("name"))
    for match in LORA.finditer(body):
        body = blank_out(body, *match.span())
    for match in TRAILING_WEIGHT.finditer(body):
        at = match.start()
        if body.startswith("::", at):
            start = max(body.rfind(",", 0, at), body.rfind("::", 0, at) + 1) + 1
            weights.append((start, at, float(match[1])))
            body = body[:at] + "," + blank_out(body, at + 1, match.end())[at + 1 :]
    if is_shouted(text) and len(body.lower()) == len(body):
        body = body.lower()
    body, bracketed = read_brackets(body)
    return Prompt(text, body, tuple(parameters), unwanted, weight_changes([*weights, *bracketed]))


def is_shouted(text: str) -> bool:
    """Whether nearly all letters are capitals."""
    letters = [letter for letter in text if letter.isalpha()]
    return len(letters) > 12 and sum(letter.isupper() for letter in letters) > 0.9 * len(letters)


def weight_changes(spans: list[tuple[int, int, float]]) -> tuple[tuple[int, float], ...]:
    """Where the weight changes, and to what; weights of nested spans multiply."""
    factors = [(start, end, min(max(weight, MIN_WEIGHT), MAX_WEIGHT)) for start, end, weight in spans]
    steps = sorted((*((start, f) for start, _, f in factors), *((end, 1 / f) for _, end, f in factors)))
    product, changes = 1.0, []
    for at, factor in steps:
        product *= factor
        changes.append((at, round(product, 2)))
    return tuple(changes)


def blank_out(text: str, start: int, end: int) -> str:
    """The text with blanks in place of a part of it."""
    return text[:start] + " " * (end - start) + text[end:]


def read_brackets(text: str) -> tuple[str, list[tuple[int, int, float]]]:
    """The text without brackets, and the spans that they weight; brackets of ordinary prose become commas."""
    weighted = MEANT_AS_WEIGHTS.search(text) is not None
    letters, spans, open_at = list(text), [], []
    for at, letter in enumerate(text):
        if letter in OPENING:
            open_at.append(at)
        elif letter in CLOSING and open_at:
            start = open_at.pop()
            explicit = WEIGHT.search(text, start, at)
            letters[start] = letters[at] = " " if weighted else ","
            if explicit:
                letters[explicit.start() : at] = " " * (at - explicit.start())
            if weighted:
                spans.append((start, at, float(explicit[1]) if explicit else BRACKET_WEIGHTS[text[start]]))
    for at in open_at:
        letters[at] = " "
    return "".join(letters), spans
