"""Text to tokens: a prompt normalized, the marks of image generators read, cut into sentences and clauses."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from onprompt.errors import PromptError
from onprompt.language import lexicon as lex
from onprompt.language.spelling import correct_word
from onprompt.language.words import is_ing_verb, is_noun, singular
from onprompt.settings import Settings
from onprompt.types import Attribute, Count

QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "´": "'", "`": "'"})
INVISIBLE = {"Cc", "Cf"}  # control characters and zero-width marks
INCHES = re.compile(r"""(\d)(?:""|"(?= (?:x|by|wide|tall|long|high|screen|tv)\b))""")
SINGLE_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,80})'(?!\w)")
LETTERED = re.compile(r"^((?:the )?(?:words?|letters|text|phrase) )([A-Z][A-Z0-9'&!?-]+(?: [A-Z0-9'&!?-]+)*)(?![\w\"])")
WORDY_QUOTED = re.compile(r"(?<=[ (])'((?:[^'\n]|(?<=\w)'(?=\w)){1,120})'(?=[\s.,;:!?)]|$)")  # 'don't panic'
# Midjourney's switches: --ar 16:9; word processors make a long dash of the two hyphens.
DASHES = rf"(?:--(?=[A-Za-z])|[—–](?=(?:{'|'.join(sorted(lex.SWITCHES))})\b))"
WORDED = rf"(?:{'|'.join(sorted(lex.WORDED_SWITCHES))})\s+(?!--|[—–])[^\s,]+"
SWITCH = re.compile(rf"(?<!\S){DASHES}({WORDED}|[A-Za-z]\w*(?:\s+\d[^\s,]*)?)")
UNWANTED = re.compile(rf"(?<!\S)(?:--|[—–])no\s+(?P<list>(?:(?!\s{DASHES}).)+)")
WEIGHT = re.compile(r":\s*(\d+(?:\.\d+)?)\s*$")
TRAILING_WEIGHT = re.compile(r"::(\d+(?:\.\d+)?)(?=[\s,]|$)")  # cat::2
LORA = re.compile(r"<[^<>\s]+:[^<>]*>")  # <lora:name:0.8>
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100.0  # a weight of zero would leave nothing to ask for
BRACKET_WEIGHTS = {"(": 1.1, "{": 1.05, "[": 0.9}  # as in the usual web interfaces
MEANT_AS_WEIGHTS = re.compile(
    r":\s*\d+(\.\d+)?\s*[)\]]|\(\(|\[\[|\{|(^|,)\s*[(\[][^()\[\],]{1,30}[)\]]\s*(,|$)"  # (cat:1.2), ((cat)), [cat],
)
TOKEN = re.compile(
    r"""
    "[^"]*"                                                 # quoted text
    | f/\d+(?:\.\d+)? | (?:2|4|5|8|12|16|32)\ k\b            # f/1.8  4 k
    | \d+\ (?:year|month|week|day|foot|feet|inch|meter)s?\ (?:old|tall|long|wide|high)\b  # 25 year old
    | \d+(?:[.,:/]\d+)*(?:[-–]\d+)?(?:-[^\W\d_]+)*[^\W_]*   # 1,000  16:9  2-3  3-seater  35mm
    | (?:[^\W\d_]\.){2,}                                    # H.R.  U.S.A.
    | n't\b | '(?:s|re|ve|ll|d|m)\b                         # it|'s
    | [^\W_]+?(?=n't\b)                                     # is|n't
    | [^\W_]+(?:[-&][^\W_]+)*                               # t-shirt, AT&T
    | '                                                     # the dogs' bowl
    | [.;:!?]+ | [,/|+]
    """,
    re.VERBOSE | re.IGNORECASE,
)
COUNTED_TAG = re.compile(r"(\d{1,2})([a-z]{3,})", re.IGNORECASE)  # 2girls
MAX_TOKENS = 120  # that are parsed at once
TAG_WORDS = 4.5  # in a tag, on average; captions have more between their commas
MAX_HEAD_WORDS = 8  # of a definition
MARKERS = lex.Phrases(lex.DEFINITION_MARKERS)


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
    text = text if text.isupper() else LETTERED.sub(r'\1"\2"', text)
    if not text:
        raise PromptError("the prompt is empty")
    if not any(letter.isalnum() or unicodedata.category(letter) == "So" for letter in text):
        raise PromptError(f"the prompt {text[:40]!r} holds no word")
    if text.count('"') == 2 and text[0] == text[-1] == '"' and len(text.split()) > 4:
        text = text[1:-1].strip() or text  # the quotes enclose the whole prompt and mark no text
    return read_marks(text)


def read_marks(text: str) -> Prompt:
    """A prompt with the generator's marks read and blanked out; one in capitals is read in lower case."""
    unwanted = tuple(match.span("list") for match in UNWANTED.finditer(text))
    body = UNWANTED.sub(blanks, text)
    parameters = tuple(" ".join(match[1].split()) for match in SWITCH.finditer(body))
    body = LORA.sub(blanks, SWITCH.sub(blanks, body))
    letters = [letter for letter in text if letter.isalpha()]
    shouted = len(letters) > 12 and sum(letter.isupper() for letter in letters) > 0.9 * len(letters)
    if shouted and len(body.lower()) == len(body):
        body = body.lower()
    body, weights = read_weights(body)
    return Prompt(text, body, parameters, unwanted, weights)


def blanks(match: re.Match[str]) -> str:
    """As many blanks as a match is long."""
    return " " * len(match[0])


def read_weights(text: str) -> tuple[str, tuple[tuple[int, float], ...]]:
    """The text without weights, and where the weight changes; brackets of ordinary prose become commas."""
    in_brackets = MEANT_AS_WEIGHTS.search(text) is not None
    letters, spans, open_at = list(text), [], []
    for at, letter in enumerate(text):
        if letter in "([{":
            open_at.append(at)
        elif letter in ")]}" and open_at:
            start = open_at.pop()
            explicit = WEIGHT.search(text, start, at)
            letters[start] = letters[at] = " " if in_brackets else ","
            if explicit:
                letters[explicit.start() : at] = " " * (at - explicit.start())
            if in_brackets:
                spans.append((start, at, float(explicit[1]) if explicit else BRACKET_WEIGHTS[text[start]]))
    for match in TRAILING_WEIGHT.finditer(text):
        at = match.start()
        spans.append((max(text.rfind(mark, 0, at) for mark in ",:") + 1, at, float(match[1])))
        letters[slice(*match.span())] = "," + blanks(match)[1:]
    factors = [(start, end, min(max(factor, MIN_WEIGHT), MAX_WEIGHT)) for start, end, factor in spans]
    product, changes = 1.0, []
    for at, factor in sorted((*((start, f) for start, _, f in factors), *((end, 1 / f) for _, end, f in factors))):
        product *= factor  # weights of nested spans multiply
        changes.append((at, round(product, 2)))
    return "".join(letters), tuple(changes)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a phrase: `word` is what the dependency parser reads, the rest what it means."""

    word: str
    start: int
    end: int
    relation: str = ""
    count: Count | None = None
    attributes: tuple[Attribute, ...] = ()
    text: str | None = None  # quoted
    name: str = ""  # of several words or proper, in lower case
    one: bool = False  # "the other one": an object of a kind named before
    detached: bool = False  # not shown to the dependency parser
    of_image: bool = False  # describes the image as a whole
    misspelt: bool = False

    @property
    def lower(self) -> str:
        return self.word.lower()


def lower_words(tokens: Sequence[Token]) -> list[str]:
    """The words in lower case."""
    return [token.lower for token in tokens]


def sentences(prompt: Prompt) -> Iterator[list[Token]]:
    """The tokens of each sentence; then, each with a "no", the items that `--no` lists."""
    yield from tokenize(prompt, prompt.body, 0, len(prompt.body))
    for span in prompt.unwanted:
        for item in (item for tokens in tokenize(prompt, prompt.text, *span) for item in pieces(tokens)):
            yield [Token("no", item[0].start, item[0].start), *item]


def tokenize(prompt: Prompt, text: str, first: int, last: int) -> Iterator[list[Token]]:
    """The sentences of a part of a text, with misspelt words corrected."""
    sentence: list[Token] = []
    for match in TOKEN.finditer(text, first, last):
        piece, start, end = match[0], *match.span()
        if piece[0] in ".;:!?":
            if sentence and sentence[-1].lower not in lex.ABBREVIATIONS:
                yield sentence
                sentence = []
        elif piece[0] == '"':
            if quoted := prompt.text[start + 1 : end - 1].strip():
                sentence.append(Token("Text", start, end, text=quoted))
        elif piece in ",/|+":
            sentence.append(Token(",", start, end))
        elif (tag := COUNTED_TAG.fullmatch(piece)) and is_noun(singular(tag[2].lower())):
            middle = start + len(tag[1])
            sentence += [Token(tag[1], start, middle), Token(tag[2], middle, end)]
        else:
            piece = piece.replace(" ", "-" if piece.count(" ") > 1 else "")  # "25 year old", "4 k"
            corrected = correct_word(piece, maybe_name=bool(sentence))
            sentence.append(Token(corrected or piece, start, end, misspelt=corrected is not None))
    if sentence:
        yield sentence


def pieces(tokens: Sequence[Token]) -> list[list[Token]]:
    """A sentence cut at its commas."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.word == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def joined(left: Sequence[Token], right: Sequence[Token]) -> list[Token]:
    """Two pieces as one, with a comma between them."""
    return [*left, Token(",", right[0].start, right[0].start), *right]


def bounded(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """An endless sentence cut at its commas, so that the time stays linear in the prompt's length."""
    rest = list(tokens)
    while len(rest) > MAX_TOKENS:
        pauses = [at for at in range(MAX_TOKENS // 2, MAX_TOKENS) if rest[at].lower in {",", "and"}]
        cut = pauses[-1] if pauses else MAX_TOKENS
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


def defined(tokens: list[Token]) -> list[Token]:
    """The head of a definition with its plain adjectives: "A long fruit which grows …"; nothing for other sentences.

    A definition opens with a generic noun, and goes on with what such things are used for or usually have.
    """
    words = lower_words(tokens)
    head = next((at for at, word in enumerate(words[:MAX_HEAD_WORDS]) if singular(word) in lex.GENERIC_NOUNS), 0)
    inner = {*words[1:head]}
    outside = lex.ARTICLES | lex.BE | {","} | (lex.RELATIONS.keys() - {"of"})
    if not head or words[0] not in lex.ARTICLES or inner & outside:
        return []
    placed = [at for at, word in enumerate(words) if lex.RELATIONS.get(word) in lex.SPATIAL and word != "by"]
    for at in range(head + 1, len(words)):
        purpose = words[at] == "for" and at + 1 < len(words) and is_ing_verb(words[at + 1])
        if MARKERS.at(words, at) or (purpose and not (placed and placed[-1] >= at)):
            break
    else:
        return []
    end = head + 1
    if words[head] in lex.SORT_NOUNS and words[end : end + 1] == ["of"]:  # "a type of large bird"
        ends = (at for at in range(end + 1, len(words)) if words[at] in lex.RELATIONS or words[at] in lex.PHRASE_ENDS)
        end = next(ends, len(words))
    kept = [word not in lex.PHRASE_ENDS and bool(lex.kind_of(word) or is_noun(word)) for word in words[1:head]]
    return [tokens[0], *compress(tokens[1:head], kept), *tokens[head:end]]


def cut_clauses(
    tokens: Sequence[Token], parts: Sequence[list[Token]], of_image: Sequence[list[Token]]
) -> list[list[Token]]:
    """A list of tags cut tag by tag, a sentence clause by clause; pieces about the image come last.

    A list of tags has three or more short pieces, no finite verb, and no "and" before one.
    """
    words, starts = {token.lower for part in parts for token in part}, {part[0].lower for part in parts}
    short = len(parts) >= 3 and sum(map(len, parts)) <= TAG_WORDS * len(parts)
    if short and not words & (lex.BE | {"has", "have"}) and not starts & (lex.CONTINUATIONS - {"no"}):
        return [*tags([part for part in parts if part not in of_image]), *of_image]
    taken = {token.start for part in of_image for token in part}
    cut = pieces([token for token in tokens if token.start not in taken])
    clauses: list[list[Token]] = []
    for part in (part for piece in cut for half in halves(piece) for part in poses(half)):
        if clauses and not is_clause(part, clauses[-1]):
            clauses[-1] = joined(clauses[-1], part)
        else:
            clauses.append(list(part))
    return [*clauses, *of_image]


def tags(parts: Sequence[list[Token]]) -> list[list[Token]]:
    """The items of a list of tags; "sitting on a chair" goes on about the first."""
    items: list[list[Token]] = []
    for part in parts:
        first, second = part[0].lower, part[1].lower if len(part) > 1 else ""
        goes_on = is_ing_verb(first) and (second in lex.RELATIONS or second in lex.ARTICLES)
        if items and (goes_on or first == "wearing" or (first in lex.RELATIONS and second)):
            items[0] = joined(items[0], part)
        else:
            items.append(list(part))
    return items


def halves(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """`the statue is golden and the bench is wooden`: main clauses that a conjunction joins."""
    words = lower_words(tokens)
    for at, word in enumerate(words):
        if word in {"and", "while", "but"} and 0 < at < len(words) - 2 and words[at + 1] in lex.CLAUSE_STARTERS:
            asserts = words[0] in lex.SUBJECT_PRONOUNS or lex.FINITE_VERBS & set(words[:at])
            relative = lex.RELATIVE_PRONOUNS & set(words[at - 3 : at])
            if asserts and lex.FINITE_VERBS & set(words[at + 1 :]) and not relative:
                yield list(tokens[:at])
                yield from halves(tokens[at + 1 :])
                return
    yield list(tokens)


def poses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """`knees together feet apart right arm up`: each part of the body begins a clause."""
    words, start = lower_words(tokens), 0
    for at in range(1, len(words)):
        word, after = words[at], words[at + 1 : at + 2]
        sided = word in {"left", "right", "both"} and after and after[0] in lex.POSE_PARTS
        if (sided or word in lex.POSE_PARTS - lex.POSE_STATES) and words[at - 1] in lex.POSE_ENDS:
            yield list(tokens[start:at])
            start = at
    yield list(tokens[start:])


def is_clause(part: Sequence[Token], before: Sequence[Token]) -> bool:
    """Whether a piece is a clause of its own, not an item of a list or an addition to the clause before it."""
    if part[0].lower in {"and", "but"} and len(part) > 2:
        part = part[1:]
    words, words_before = lower_words(part), lower_words(before)
    first, asserts = words[0], bool(lex.FINITE_VERBS & set(words))
    if first in lex.CONTINUATIONS or first in lex.RELATIONS or first in {*lex.RELATIVE_PRONOUNS, "one", "ones"}:
        return first == "one" and asserts
    if is_ing_verb(first):
        return False
    if asserts and (words_before[0] in lex.SUBJECT_PRONOUNS or lex.FINITE_VERBS & set(words_before)):
        return True
    return len(part) > 1 and bool(lex.POSE_PARTS & set(words[:2]) and lex.POSE_PARTS & set(words_before[:3]))
