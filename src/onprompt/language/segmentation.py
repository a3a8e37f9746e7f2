"""A prompt cut into sentences, clauses and tokens."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onprompt.language import lexicon as lex
from onprompt.language.ontology import singular
from onprompt.language.prompt import Prompt
from onprompt.language.spelling import correct_word
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

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
STOPS, PAUSES = frozenset(".;:!?"), frozenset(",/|+")
MAX_TOKENS = 120  # that are parsed at once
TAG_WORDS = 4.5  # in a tag, on average; captions have more between their commas


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
    yield from tokenize(prompt, prompt.body, 0)
    for start, end in prompt.unwanted:
        for item in (item for tokens in tokenize(prompt, prompt.text[start:end], start) for item in pieces(tokens)):
            yield [Token("no", item[0].start, item[0].start), *item]


def tokenize(prompt: Prompt, body: str, offset: int) -> Iterator[list[Token]]:
    """The sentences of a part of a prompt, with misspelt words corrected."""
    sentence: list[Token] = []
    for match in TOKEN.finditer(body):
        if match[0][0] in STOPS:
            if sentence and not is_abbreviation(sentence[-1].word):
                yield sentence
                sentence = []
        else:
            sentence += tokens_of(match[0], match.start() + offset, match.end() + offset, prompt, sentence)
    if sentence:
        yield sentence


def tokens_of(piece: str, start: int, end: int, prompt: Prompt, before: Sequence[Token]) -> list[Token]:
    """What a match of TOKEN stands for: mostly one token."""
    if piece[0] == '"':
        quoted = prompt.text[start + 1 : end - 1].strip()
        return [Token("Text", start, end, text=quoted)] if quoted else []
    if piece in PAUSES:
        return [Token(",", start, end)]
    if (tag := COUNTED_TAG.fullmatch(piece)) and is_noun(singular(tag[2].lower())):
        middle = start + len(tag[1])
        return [Token(tag[1], start, middle), Token(tag[2], middle, end)]
    piece = piece.replace(" ", "-" if piece.count(" ") > 1 else "")  # "25 year old", "4 k"
    corrected = correct_word(piece, maybe_name=bool(before))
    return [Token(corrected or piece, start, end, misspelt=corrected is not None)]


def is_abbreviation(word: str) -> bool:
    """Whether a full stop belongs to the word before it: Mr., J. Smith."""
    return word.lower() in lex.ABBREVIATIONS or (len(word) == 1 and word.isupper() and word not in "AI")


def pieces(tokens: Sequence[Token]) -> list[list[Token]]:
    """A sentence cut at its commas."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.word == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def bounded(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """An endless sentence cut at its commas, so that the time stays linear in the prompt's length."""
    rest = list(tokens)
    while len(rest) > MAX_TOKENS:
        pauses = [at for at in range(MAX_TOKENS // 2, MAX_TOKENS) if rest[at].lower in {",", "and"}]
        cut = pauses[-1] if pauses else MAX_TOKENS
        yield rest[:cut]
        rest = rest[cut:]
    yield rest


# ---- lists of tags ---------------------------------------------------------------------------------------------------


def is_tag_list(parts: Sequence[Sequence[Token]]) -> bool:
    """Whether a sentence is a list of tags: three or more short pieces, no finite verb, no "and" before one."""
    if len(parts) < 3 or sum(map(len, parts)) > TAG_WORDS * len(parts):
        return False
    words = {token.lower for part in parts for token in part}
    starts = {part[0].lower for part in parts}
    return not words & (lex.BE | {"has", "have"}) and not starts & (lex.CONTINUATIONS - {"no"})


def tags(parts: Sequence[list[Token]]) -> list[list[Token]]:
    """The items of a list of tags; "sitting on a chair" goes on about the first."""
    items: list[list[Token]] = []
    for part in parts:
        first, second = part[0].lower, part[1].lower if len(part) > 1 else ""
        goes_on = is_ing_verb(first) and (second in lex.RELATIONS or second in lex.ARTICLES)
        if items and (goes_on or first == "wearing" or (first in lex.RELATIONS and second)):
            items[0] = joined_by_comma(items[0], part)
        else:
            items.append(list(part))
    return items


def is_ing_verb(word: str) -> bool:
    """Whether a word in -ing is a verb form and not a noun such as "building"."""
    return word.endswith("ing") and word not in lex.ING_NOUNS


def joined_by_comma(left: Sequence[Token], right: Sequence[Token]) -> list[Token]:
    """Two pieces as one."""
    return [*left, Token(",", right[0].start, right[0].start), *right]


# ---- clauses ---------------------------------------------------------------------------------------------------------


def clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """`two dogs, the larger one is black`, `knees bent, head is up`: clauses that can be parsed on their own."""
    parts: list[list[Token]] = []
    for part in (part for piece in pieces(tokens) for half in halves(piece) for part in poses(half)):
        if parts and not is_clause(part, parts[-1]):
            parts[-1] = joined_by_comma(parts[-1], part)
        else:
            parts.append(list(part))
    return parts


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
    asserted = words_before[0] in lex.SUBJECT_PRONOUNS or bool(lex.FINITE_VERBS & set(words_before))
    if asserts and asserted:
        return True
    return len(part) > 1 and bool(lex.POSE_PARTS & set(words[:2]) and lex.POSE_PARTS & set(words_before[:3]))
