"""Read a model's answer: what of a server's text is the answer, refusals, scores, strict JSON and token probabilities.

What is not the answer is blanked out, not cut out: offsets of token probabilities stay valid.
The reason of an UnreadableAnswer is sent to the model when it is asked again: other words make another question.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from onprompt.errors import UnreadableAnswer
from onprompt.types import Answer, Reading, Rubric, Sample, TokenProbs

# ---- the answer in what a server returns ---------------------------------------------------------------------------


def refusals() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of `refusals.toml`: of an answer without a score, and of any."""
    data = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text(encoding="utf-8"))
    found = {name: "|".join(patterns) for name, patterns in data["patterns"].items()}
    for name, part in reversed(data["parts"].items()):
        found = {key: pattern.replace(f"{{{name}}}", part) for key, pattern in found.items()}
    without_score = f"{found['without_score']}|{found['outright']}"
    return re.compile(without_score, re.IGNORECASE), re.compile(found["outright"], re.IGNORECASE)


REFUSAL, OUTRIGHT_REFUSAL = refusals()
REFUSAL_WINDOW = 2000  # characters at either end that are searched for a refusal

THINKING = re.compile(
    r"<(/?)(?:think(?:ing)?|thoughts?|analysis|scratchpad|reflection|seed:think)>|\[(/?)THINK\]|◁(/?)think▷"
    r"|<\|(?:begin|(end))_of_thought\|>"
)
CHANNEL = re.compile(r"<\|channel\|>\s*(\w{1,20})[^<\n]{0,40}<\|message\|>")
STRIPPED_CHANNELS = ("analysis", "assistantfinal")  # what is left of channels where a server drops special tokens
ROLES = r"(user|assistant|model|system)"
# A template's mark for the end of a turn, or for the beginning of one and whose it is.
TURN = re.compile(
    r"<\|(?:im_end|eot_id|eot|eom_id|end|endoftext|end_of_text|return|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>"
    rf"|(?:<\|im_start\|>|<start_of_turn>|<\|start_header_id\|>|<\|start\|>|<\|){ROLES}(?:<\|end_header_id\|>|\|>|\b)"
    r"|<\|begin_of_text\|>|<s>|<bos>"
    r"|(?<=[.)\]!?\d])(assistant|user)(?=\n\n)"
    rf"|^[ \t]*+(?i:{ROLES})[ \t]*+:?[ \t]*+$"
    r"|^[ \t]*+(?:###[ \t]*+)?(USER|ASSISTANT|Assistant|Response|User)[ \t]*:",
    re.MULTILINE,
)
ANSWERING = {"assistant", "model", "response"}
NOT_LINE_END = re.compile(r"[^\n]")


def answer_text(raw: str) -> str:
    """A model's answer, with thinking, other channels, template tokens and further turns blanked out."""
    text = without_thinking(raw.replace("\ufeff", " "))
    channels = list(CHANNEL.finditer(text))
    if channels:
        last = channels[-1]
        text = blank(text, (0, last.end() if last[1] == "final" else len(text)))
    elif text.startswith(STRIPPED_CHANNELS[0]) and STRIPPED_CHANNELS[1] in text:
        text = blank(text, (0, text.rindex(STRIPPED_CHANNELS[1]) + len(STRIPPED_CHANNELS[1])))
    return first_turn(text)


def without_thinking(text: str) -> str:
    """A text with its thinking blanked out, also where the server's template opened it, or where it never ends."""
    tags = list(THINKING.finditer(text))
    if not tags:
        return text
    followed = bool(text[tags[-1].end() :].strip())
    hidden: list[tuple[int, int]] = []
    opened = -1
    for tag in tags:
        if not any(tag.groups()):
            opened = tag.start() if opened < 0 else opened
            continue
        # An end without a beginning: all before it is thinking, unless that was the answer and nothing follows.
        start = opened if opened >= 0 else 0 if followed or tag is tags[0] else tag.start()
        if start == 0:
            hidden.clear()
        hidden.append((start, tag.end()))
        opened = -1
    return blank(text, *hidden, *([(opened, len(text))] if opened >= 0 else []))


def first_turn(text: str) -> str:
    """A text with all but the model's first turn blanked out: a server may show the question, or fail to stop.

    What follows the end of a turn without a role is nobody's, unless nothing came before.
    """
    start, answering, begun, hidden = 0, True, False, list[tuple[int, int]]()
    for mark in TURN.finditer(text):
        spoken = bool(text[start : mark.start()].strip())
        if not answering:
            hidden.append((start, mark.start()))
        role = next(filter(None, mark.groups()), "").lower()
        if answering and begun | spoken and role not in ANSWERING:
            return blank(text, *hidden, (mark.start(), len(text)))
        begun = begun or (answering and spoken)
        hidden.append(mark.span())
        start, answering = mark.end(), role in ANSWERING or (not role and answering)
    return blank(text, *hidden, *([] if answering else [(start, len(text))]))


def blank(text: str, *spans: tuple[int, int]) -> str:
    """A text with blanks in some spans, which are in order; ends of lines stay."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], NOT_LINE_END.sub(" ", text[max(done, start) : end])]
        done = max(done, end)
    return "".join((*parts, text[done:]))


def is_refusal(text: str) -> bool:
    """Whether a text says that the model won't or can't answer: a score beside it means nothing."""
    text = " ".join(text.split())
    ends = text[:REFUSAL_WINDOW], text[REFUSAL_WINDOW:][-REFUSAL_WINDOW:]
    return any(OUTRIGHT_REFUSAL.search(end) for end in ends)


# ---- what it says ---------------------------------------------------------------------------------------------------

Parsed = TypeVar("Parsed")
# A JSON string, up to the end of the text if it is not closed: so that matching takes linear time.
JSON_STRING = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))', re.DOTALL)
FENCED = re.compile(r"\A\s*+```\s*+(?:json)?+(.*)```\s*+\Z", re.DOTALL | re.IGNORECASE)  # a text in a code fence
NUMBER = re.compile(r"\d+")
WRAPPERS = ("answer", "evaluation", "output", "response", "result", "verdict")  # names around the object asked for
AROUND_WORDS = " \n\r\t*_\"'.,:{}"  # what a token may have around a word, in prose or JSON
MIN_CHOICE_PROBABILITY = 0.5  # with less on all choices together, the model means something else
INCOMPLETE = {
    "filter": ("content_filter", "the server's content filter withheld the answer"),
    "refusal": ("refusal", "the model refuses to answer"),
    "length": ("truncated", "the answer was cut off before its end"),  # the score that counts comes last
}


def read_answer(rubric: Rubric, answer: Answer, sample: Sample) -> Reading:
    """What an answer says by a rubric, or UnreadableAnswer."""
    if rubric.choices:  # of which the first word counts
        whole = replace(answer, stop="end") if answer.stop == "length" else answer
        return parse_answer(whole, lambda _: rubric.read_choice(answer))
    return parse_answer(answer, lambda text: rubric.read(text, sample))


def parse_answer(answer: Answer, parser: Callable[[str], Parsed]) -> Parsed:
    """What a parser makes of a complete answer; its UnreadableAnswer gets the raw text, and may become a refusal."""
    if answer.stop in INCOMPLETE:
        raise UnreadableAnswer(*INCOMPLETE[answer.stop], answer.text)
    text = answer_text(answer.text)
    if not text.strip():
        raise UnreadableAnswer("empty", "the answer is empty", answer.text)
    if is_refusal(text):
        raise UnreadableAnswer("refusal", "the model refuses to answer", answer.text)
    try:
        return parser(text)
    except UnreadableAnswer as error:
        refused = error.kind in ("no_score", "bad_json") and REFUSAL.search(text.lstrip()[:REFUSAL_WINDOW])
        raise UnreadableAnswer("refusal" if refused else error.kind, error.reason, answer.text) from None


def parse_score(number: str, scale: range, what: str = "the score") -> int:
    """An integer on the scale, in digits of any script; never clipped."""
    if not re.fullmatch(r"[+-]?\d{1,18}", number):
        raise UnreadableAnswer("off_scale", f"{what} is {shorten(number)}, not a whole number")
    if int(number) not in scale:
        raise UnreadableAnswer("off_scale", f"{what} is {int(number)}, not {scale[0]} to {scale[-1]}")
    return int(number)


def json_integer(value: object, what: str, scale: range) -> int:
    """A JSON integer on the scale; true and 5.0 are none."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableAnswer("off_scale", f"{what} is {shorten(json.dumps(value))}, not a whole number")
    return parse_score(str(value), scale, what)


def strict_json(text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The one JSON value that a text consists of, in a code fence or not; no name may come twice in an object."""
    try:
        value = json.loads(
            ascii_digits(FENCED.sub(r"\1", text)),
            object_pairs_hook=pairs_hook or reject_duplicates,
            parse_constant=reject_constant,
        )
        json.dumps(value, ensure_ascii=False).encode()  # rejects lone surrogates, which can't be written anywhere
        return value
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswer("bad_json", f"the answer is not one block of strict JSON: {error}") from None


def json_block(text: str) -> tuple[Any, str]:
    """The one block of strict JSON in a text, in a code fence or not, and the words around it."""
    try:
        return strict_json(text), ""
    except UnreadableAnswer:
        start, end = text.find("{"), text.rfind("}") + 1
        if not 0 <= start < end or not (around := text[:start] + "\n" + text[end:]).strip():
            raise
    return strict_json(text[start:end]), around


def json_object(text: str) -> Mapping[str, Any] | None:
    """The JSON object that a text consists of, if it does: its names in small letters, and without a name around it."""
    if not text.lstrip().startswith(("{", "```")):
        return None
    try:
        value = strict_json(text)
    except UnreadableAnswer:
        return None
    while isinstance(value, dict) and len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        value = inner if next(iter(value)).lower() in WRAPPERS else {}
    return {name.lower(): each for name, each in value.items()} if isinstance(value, dict) else None


def json_score(document: Mapping[str, Any], answer: str, scale: range) -> tuple[int, int]:
    """The score in a JSON object, as a number or as a text, and where it stands in the answer."""
    given = [document[name] for name in ("score", "final_score") if name in document]
    if not given:
        raise UnreadableAnswer("no_score", "the JSON has no score")
    if len(set(map(str, given))) > 1:
        raise UnreadableAnswer("two_scores", "the JSON has two scores that differ")
    value = given[0].strip(" ()") if isinstance(given[0], str) else given[0]
    score = parse_score(value, scale) if isinstance(value, str) else json_integer(value, "the score", scale)
    places = [place.start(1) for place in re.finditer(r'score"\s*:\s*"?\(?(\d)', answer, re.IGNORECASE)]
    return score, places[-1] if places else -1


def ascii_digits(text: str) -> str:
    """Digits of other scripts as ASCII, except in JSON strings."""
    digits = {ord(letter): str(int(letter)) for letter in set(text) if letter.isdecimal() and not letter.isascii()}
    if not digits:
        return text
    parts = JSON_STRING.split(text)
    return "".join(part if index % 2 else part.translate(digits) for index, part in enumerate(parts))


def reject_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object without duplicate names, in capitals or not."""
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return dict(pairs)


def reject_constant(name: str) -> None:
    """NaN and Infinity are not JSON."""
    raise ValueError(f"{name} is no JSON")


def one_line(text: str) -> str:
    """A model's text on one line, without control characters."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def shorten(text: str) -> str:
    """A value for an error message."""
    return text if len(text) <= 40 else text[:39] + "…"


def number_spots(
    text: str,
    tokens: Sequence[tuple[str, Mapping[str, float]]],
    choices: Sequence[str] = (),
    words: Sequence[str] = (),
) -> tuple[TokenProbs, ...]:
    """Where the numbers or some words of an answer are, or its first token if it is a choice, with probabilities."""
    if "".join(token for token, _ in tokens) != text:
        return ()  # a character is split between tokens, so that offsets are unknown
    token_probs: list[TokenProbs] = []
    start = 0
    for token, probabilities in tokens:
        if not token_probs if choices else is_wanted(token, words):
            rounded = {name: round(p, 6) for name, p in probabilities.items()}
            token_probs.append(TokenProbs(start, start + len(token), rounded))
        start += len(token)
    return tuple(token_probs)


def is_wanted(token: str, words: Sequence[str]) -> bool:
    """Whether the probabilities of a token are wanted: it is one of the words, or has a digit if there are none."""
    return plain_word(token) in words if words else bool(NUMBER.search(token))


def plain_word(token: str) -> str:
    """A token without what is around its word, in lower case."""
    return token.strip(AROUND_WORDS).lower()


def expected_score(token_probs: Sequence[TokenProbs], start: int, scale: range) -> float | None:
    """The mean score over the scale, by the probabilities of the tokens at the score's position."""
    spot = next((spot for spot in token_probs if spot.start <= start < spot.end), None)
    if spot is None:
        return None
    probabilities: dict[int, float] = {}
    for token, probability in spot.probabilities.items():
        numbers = NUMBER.findall(token)
        if len(numbers) == 1 and int(numbers[0]) in scale:
            probabilities[int(numbers[0])] = probabilities.get(int(numbers[0]), 0.0) + probability
    total = sum(probabilities.values())
    return round(sum(score * p for score, p in probabilities.items()) / total, 4) if total else None


def choice_probabilities(
    token_probs: Sequence[TokenProbs], choices: Sequence[str], minimum: float = MIN_CHOICE_PROBABILITY
) -> dict[str, float] | None:
    """The choices' probabilities as the first word, normalized; None if they have too little of all probability."""
    if not token_probs:
        return None
    probabilities = dict.fromkeys(choices, 0.0)
    for token, probability in token_probs[0].probabilities.items():
        word = plain_word(token)
        if word in probabilities:
            probabilities[word] += probability
    total = sum(probabilities.values())
    if not total or total < minimum:
        return None
    return {word: round(p / total, 6) for word, p in probabilities.items()}
