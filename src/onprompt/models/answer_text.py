"""The answer itself in what a server returns, and whether it is a refusal.

What is not the answer is blanked out, not cut out: offsets of token probabilities stay valid.
"""

import re
import tomllib
from pathlib import Path


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
