"""What a prompt says of the image as a whole: medium, style, artist, viewpoint, lighting. It is taken out first."""

import re
from collections.abc import Container, Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.tokens import Token, lower_words
from onprompt.language.words import attribute_of, is_noun, singular, vocabulary
from onprompt.types import Attribute

PICTURE = "(?:image|picture|photo|photograph|scene|painting|drawing|illustration)"
SEEING = (
    rf"(?:(?:in|on) (?:this|the|a|an)(?: \w+)? {PICTURE}s? ?,? ?)?"
    r"(?:(?:(?:i|we|you|one) (?:can|could|may)? ?(?:also |clearly )*(?:see|observe|notice|find)\b"
    r"|there(?: is| are| 's| was| were)\b|(?:this|it|here)(?: is| are| 's)\b)(?: also| only)? ?)?"
)
ASKING = (
    r"(?:/?imagine(?: prompt)? |(?:please )?(?:(?:can|could|would) you )?(?:please )?"
    r"(?:draw|create|generate|make|show|imagine|paint|render|produce|design|visualize|sketch|give)(?: me| us)? "
    r"(?=(?:an?|the|two|three|four|some|\d+)\b)|(?:i|we) (?:want|need|would like|'d like)(?: to see)? )"
)
FRAME = re.compile(f"^(?:{ASKING})?{SEEING}")
REFUSING = re.compile(
    r"^(?:please )?(?:(?:do n't|do not|never) (?:show|include|add|draw|put|use|have|depict|render)|exclude|avoid|omit)"
    r"(?: any| the)? "
)
FRAME_LENGTH = 9  # words within which a frame names its medium

DETERMINERS = lex.ARTICLES | lex.DEFINITE
MEDIA = lex.MEDIA | lex.GENERIC_MEDIA
DESCRIBING_MEDIA = {word for word, kind in lex.PROPERTIES.items() if kind not in {"lighting", "artist"}}
FRAME_WORDS = DETERMINERS | MEDIA | lex.MEDIUM_MODIFIERS | DESCRIBING_MEDIA
PROPERTIES, STYLE_INTRODUCERS = lex.Phrases(lex.PROPERTIES), lex.Phrases(lex.STYLE_INTRODUCERS)
AFTER_ARTIST = frozenset((",", "and", "in", "at", "on", "with", "for", "from", "of"))
ADJECTIVE_ENDINGS = ("ic", "ed", "al", "ive", "ful", "ing", "ish", "ous", "y", "ct", "nt")


def split_frame(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """A sentence without "there is", "we can see" and "a photo of", and what these say of the image."""
    left, properties, text = list(tokens), list[Attribute](), " ".join(lower_words(tokens))
    if refusal := REFUSING.match(text):
        return [replace(left[0], word="no"), *left[len(refusal[0].split()) :]], []
    if (frame := FRAME.match(text)) and (size := len(frame[0].split())):
        properties = [medium(token.lower) for token in left[:size] if token.lower in lex.MEDIA]
        left = left[size:]
    inner, of_medium = split_medium(left)
    return (inner, properties + of_medium) if inner or of_medium else (left, properties)


def split_medium(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """`a black and white photo of a cat` → `a cat`, and what describes the photo."""
    words = lower_words(tokens)
    for at, word in enumerate(words[:FRAME_LENGTH]):
        linked = at + 1 < len(words) and words[at + 1] in lex.SHOWS
        if word in MEDIA and linked and all(map(describes_image, words[:at])):
            inner, more = split_medium(tokens[at + 2 :])
            return inner, [*medium_properties(words[:at], word), *more]
        if word in lex.RELATIONS or word in lex.BE - {"'s"} or word == "," or tokens[at].text is not None:
            break
    return list(tokens), []


def describes_image(word: str) -> bool:
    """Whether a word before a medium describes the medium."""
    return word in FRAME_WORDS or word in lex.KIND_OF_ATTRIBUTE or word.endswith(("ed", "ly", "ic"))


def medium(words: str) -> Attribute:
    """A medium by its usual name; some are viewpoints."""
    if words.split()[-1] in lex.VIEWPOINT_NOUNS:
        return Attribute("viewpoint", words.replace("closeup", "close-up"))
    name = singular(words)
    return Attribute("medium", lex.PROPERTY_SYNONYMS.get(name, name))


def medium_properties(words: Sequence[str], noun: str) -> list[Attribute]:
    """What the words before a medium say: `a black and white` photo, `an oil` painting, `a close-up` photo."""
    rest = [word for word in words if word not in DETERMINERS]
    name = f"{rest.pop()} {noun}" if rest and f"{rest[-1]} {noun}" in lex.COMPOUND_MEDIA else noun
    properties: list[Attribute] = []
    while rest:
        phrase = PROPERTIES.at(rest, 0) or rest[0]
        if kind := property_kind(phrase):
            properties.append(Attribute(kind, lex.PROPERTY_SYNONYMS.get(phrase, phrase)))
        rest = rest[len(phrase.split()) :]
    return properties if name in lex.GENERIC_MEDIA else [*properties, medium(name)]


def property_kind(words: str) -> str | None:
    """Which property of the image words name."""
    by_head = lex.PROPERTY_HEADS.get(words.split()[-1]) if " " in words else None
    return lex.PROPERTIES.get(words, by_head)


def image_properties(tokens: Sequence[Token]) -> list[Attribute]:
    """What a piece between commas says of the image, if it says nothing else: `soft lighting`, `8k`, `by X and Y`."""
    words = lower_words(tokens)
    if not words or any(token.text is not None for token in tokens):
        return []
    left, credited = take_credits(tokens)
    if not left:
        return credited
    plain = " ".join(words)
    for start in ("in ", "at ", "a ", "an ", "the "):
        plain = plain.removeprefix(start)
    kind = property_kind(plain)
    if kind is None or len(words) > 5 or singular(plain) in lex.COMPOUNDS:  # a traffic light
        return []
    qualified = (  # `soft studio` lighting, not a `cat` photo
        describes_image(word) or word in lex.PROPERTIES or word.endswith(ADJECTIVE_ENDINGS) for word in words[:-1]
    )
    if plain not in lex.PROPERTIES and not all(qualified):
        return []
    if kind == "mood":
        plain = " ".join(word for word in plain.split() if word not in lex.MOOD_NOUNS)
    return [medium(plain)] if kind == "medium" else [Attribute(kind, plain)]


def bare_adjectives(tokens: Sequence[Token]) -> list[Attribute]:
    """The attributes of a tag of adjectives alone: `fluffy`, `red and shiny`; they describe the main object."""
    words = [word for word in lower_words(tokens) if word not in {"and", "very", "really"}]
    kinds = {lex.kind_of(word) for word in words}
    if not 0 < len(words) <= 3 or kinds & {None, "position", "material"} or lex.COLOUR_NOUNS & set(words):
        return []
    return [attribute for word in words if (attribute := attribute_of(word))]


def take_credits(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """A sentence without `painted by X, Y and Z` and `in the style of X`, and these."""
    words, at = lower_words(tokens), 0
    left, credited = list[Token](), list[Attribute]()
    while at < len(tokens):
        near = "by" in words[at : at + 3]
        start, end = find_artist(tokens, words, at, not left or left[-1].word == ",") if near else (0, 0)
        if STYLE_INTRODUCERS.at(words, at):
            end = more_names(words, first_of({","}, words, at))
            credited.append(Attribute("style", " ".join(words[at:end])))
        elif start < end:
            end = more_names(words, end)
            names = " ".join(words[start:end]).replace(" & ", " and ").replace(" ,", " and ").split(" and ")
            credited += [Attribute("artist", name.strip()) for name in names if name.strip()]
        else:
            left.append(tokens[at])
            end = at + 1
        at = end
    return left, credited


def find_artist(tokens: Sequence[Token], words: Sequence[str], at: int, opens: bool) -> tuple[int, int]:
    """Where the first name of `drawn by X` begins and ends; nothing from 0 to 0.

    At the opening of a piece any name is an artist's; elsewhere one in capitals, a known one, or no English words.
    """
    by = words.index("by", at)
    first, lead = words[by + 1 : by + 2], words[at:by]
    if not first or first[0] in DETERMINERS or first[0] in lex.NUMBERS or lex.kind_of(first[0]):
        return 0, 0
    made = len(lead) < 2 and all(word in lex.AUTHORSHIP and word.endswith(("ed", "wn", "en")) for word in lead)
    if opens and all(word in lex.AUTHORSHIP or word in FRAME_WORDS for word in lead):
        return by + 1, first_of({","}, words, by)
    end = first_of(AFTER_ARTIST, words, by + 1)
    name = words[by + 1 : end]
    capitals = len(name) > 1 and all(token.word[0].isupper() for token in tokens[by + 1 : end])
    return (by + 1, end) if made and name and (capitals or is_name(name)) else (0, 0)


def first_of(ends: Container[str], words: Sequence[str], at: int) -> int:
    """The place of the first of some words from here on, or the end."""
    return next((place for place in range(at, len(words)) if words[place] in ends), len(words))


def more_names(words: Sequence[str], end: int) -> int:
    """Where a list of names ends that goes on after the first."""
    start = next((at for at in range(end, len(words)) if words[at] not in {",", "and"}), end)
    after = first_of(AFTER_ARTIST, words, start)
    return more_names(words, after) if end < start < after and is_name(words[start:after]) else end


def is_name(words: Sequence[str]) -> bool:
    """Whether words are a name: a known artist's, or two or three with a surname."""
    plain = not any(word in lex.RELATIONS or word in DETERMINERS or lex.kind_of(word) for word in words)
    surname = not is_noun(singular(words[-1])) and words[-1] not in vocabulary().common
    return lex.PROPERTIES.get(" ".join(words)) == "artist" or (1 < len(words) < 4 and plain and surname)
