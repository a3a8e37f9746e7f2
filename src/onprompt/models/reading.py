"""What all readers of answers need: numbers, strict JSON, and why an answer is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from onprompt.errors import UnreadableAnswer
from onprompt.types import Answer, Reading, Rubric, Sample, Spot

Read = TypeVar("Read")
# A string of JSON, to the end of the text where it has none of its own, so that none is looked for twice.
LITERAL = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))', re.DOTALL)
# Ways in which models say that they won't; only an answer without a score is searched for them.
WONT = re.compile(
    r"\bI(?:['’]m| am) (?:very |so |really )?sorry\b|\bI apologi[sz]e\b|\bI (?:must|have to) (?:\w+ly )?decline\b"
    r"|\bas an AI(?:,| (?:\w+ )?(?:model|assistant)\b)"
    r"|\b(?:I|we)(?: can(?:['’]?t|not| not)| won['’]?t| will not|(?: am|['’]m| are|['’]re) (?:unable|not able) to)"
    r" (?:\w+ly )?(?:help\b(?! but)|(?:assist|comply|continue|provide|evaluate|assess|judge|rate|score|grade|process|"
    r"analy[sz]e|fulfill?|complete|discuss|engage|view|access|identify (?:the )?(?:people|person|individuals?)|"
    r"see (?:the|an|your) (?:image|picture|photo))\b)",
    re.IGNORECASE,
)
OPENING = re.compile(r"<think(?:ing)?>")
CLOSING = re.compile(r"</think(?:ing)?>")
NUMBER = re.compile(r"\d+")
LEAST = 0.5  # of all probability must be on the choices, or the model means to say something else
SEARCHED = 2000  # characters in which a refusal would say so


def read_answer(rubric: Rubric, answer: Answer, sample: Sample) -> Reading:
    """What an answer says by a rubric, or an UnreadableAnswer of the kind that it is."""
    return parse_answer(answer, lambda said: rubric.read(said, sample))


def parse_answer(answer: Answer, reader: Callable[[str], Read]) -> Read:
    """What a reader makes of an answer; the error for what it can't read knows refusals, and keeps the text."""
    check_complete(answer)
    said = without_thinking(answer.text)
    try:
        return reader(said)
    except UnreadableAnswer as why:
        wont = why.kind in ("no_score", "bad_json") and WONT.search(said.lstrip()[:SEARCHED])
        raise UnreadableAnswer("refusal" if wont else why.kind, why.reason, answer.text) from None


def check_complete(answer: Answer) -> None:
    """Complain unless an answer came to its end."""
    if answer.stop == "filter":
        raise UnreadableAnswer("content_filter", "the server's content filter withheld the answer", answer.text)
    if answer.stop == "refusal":
        raise UnreadableAnswer("refusal", "the model refuses to answer", answer.text)
    if answer.stop == "length":  # what comes last counts, and it may not have come yet
        raise UnreadableAnswer("truncated", "the answer was cut off before its end", answer.text)
    if not without_thinking(answer.text).strip():
        raise UnreadableAnswer("empty", "the answer is empty", answer.text)


def without_thinking(text: str) -> str:
    """An answer with what the model thought aloud before it blanked out, so that places stay where they are."""
    if "</think" not in text and "<think" not in text:
        return text
    opened, closed = OPENING.search(text), CLOSING.search(text)
    if opened and not text[: opened.start()].strip():
        end = closed.end() if closed else len(text)  # without an end all is thought
    else:  # an end alone: its beginning was the server's
        end = closed.end() if closed and not (opened and opened.start() < closed.start()) else 0
    return " " * end + text[end:]


def parse_score(number: str, scale: range, what: str = "the score") -> int:
    """An integer of the scale; digits of any script are digits. Nothing is ever clipped."""
    if not re.fullmatch(r"[+-]?\d{1,18}", number):
        raise UnreadableAnswer("off_scale", f"{what} is {shorten(number)}, not a whole number")
    if int(number) not in scale:
        raise UnreadableAnswer("off_scale", f"{what} is {int(number)}, not {scale[0]} to {scale[-1]}")
    return int(number)


def strict_json(text: str) -> Any:
    """The one JSON value that a text consists of, with a code fence around it or none; strict in all else."""
    try:
        value = json.loads(plain_digits(unfenced(text)), object_pairs_hook=unique, parse_constant=no_number)
        json.dumps(value, ensure_ascii=False).encode()  # half of a character can't be written anywhere
        return value
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswer("bad_json", f"the answer is not one block of strict JSON: {error}") from None


def unfenced(text: str) -> str:
    """What stands in the code fence that is around a text, or the text."""
    words = text.strip()
    if len(words) < 6 or not words.startswith("```") or not words.endswith("```"):
        return text
    inner = words[3:-3].lstrip()
    return inner[4:] if inner[:4].lower() == "json" else inner


def json_object(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a text is, if that is what it is."""
    if not text.lstrip().startswith(("{", "```")):
        return None
    try:
        value = strict_json(text)
    except UnreadableAnswer:
        return None
    return value if isinstance(value, dict) else None


def plain_digits(text: str) -> str:
    """Digits of other scripts as ASCII, but not inside of strings."""
    digits = {ord(each): str(int(each)) for each in set(text) if each.isdecimal() and not each.isascii()}
    if not digits:
        return text
    parts = LITERAL.split(text)
    return "".join(part if index % 2 else part.translate(digits) for index, part in enumerate(parts))


def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name comes twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


def no_number(name: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is no JSON")


def json_integer(value: object, what: str, scale: range) -> int:
    """A JSON integer of the scale; true and 5.0 are none."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableAnswer("off_scale", f"{what} is {shorten(json.dumps(value))}, not a whole number")
    return parse_score(str(value), scale, what)


def one_line(words: str) -> str:
    """A model's words in one line, without what would steer a terminal."""
    return "".join(letter for letter in " ".join(words.split()) if letter.isprintable())


def shorten(text: str) -> str:
    """A value in an error message."""
    return text if len(text) <= 40 else text[:39] + "…"


def number_spots(
    text: str, tokens: Sequence[tuple[str, Mapping[str, float]]], choices: Sequence[str]
) -> tuple[Spot, ...]:
    """Where numbers stand in an answer that came in tokens, each with its chances; for a choice, where it begins."""
    if "".join(token for token, _ in tokens) != text:
        return ()  # a character that is split among tokens: nothing can be placed
    spots: list[Spot] = []
    start = 0
    for token, chances in tokens:
        if NUMBER.search(token) if not choices else not spots:
            spots.append(Spot(start, start + len(token), {name: round(chance, 6) for name, chance in chances.items()}))
        start += len(token)
    return tuple(spots)


def expected_score(spots: Sequence[Spot], start: int, scale: range) -> float | None:
    """The mean score over the scale, by the probabilities of what might stand where the score stands."""
    spot = next((each for each in spots if each.start <= start < each.end), None)
    if spot is None:
        return None
    chances: dict[int, float] = {}
    for token, chance in spot.chances.items():
        digits = NUMBER.findall(token)
        if len(digits) == 1 and int(digits[0]) in scale:
            chances[int(digits[0])] = chances.get(int(digits[0]), 0.0) + chance
    total = sum(chances.values())
    return round(sum(score * chance for score, chance in chances.items()) / total, 4) if total else None


def choice_probabilities(
    spots: Sequence[Spot], choices: Sequence[str], least: float = LEAST
) -> dict[str, float] | None:
    """The probabilities of the choices as the answer's first word, of all that is on them, if that is enough."""
    if not spots:
        return None
    found = dict.fromkeys(choices, 0.0)
    for token, chance in spots[0].chances.items():
        word = token.strip(" \n\t*_\"'.").lower()
        if word in found:
            found[word] += chance
    total = sum(found.values())
    if not total or total < least:
        return None
    return {word: round(chance / total, 6) for word, chance in found.items()}
