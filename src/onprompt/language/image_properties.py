"""What a prompt says of the image as a whole: medium, style, artist, viewpoint, lighting. It is taken out first."""

import re
from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import attribute_of
from onprompt.language.credits import DETERMINERS, STYLE_INTRODUCERS, split_names
from onprompt.language.ontology import singular
from onprompt.language.segmentation import Token, lower_words
from onprompt.types import Attribute

PICTURE = "(?:image|picture|photo|photograph|scene|painting|drawing|illustration)"
SEEING = (
    rf"(?:(?:in|on) (?:this|the|a|an)(?: \w+)? {PICTURE}s? ?,? ?)?"
    r"(?:(?:(?:i|we|you|one) (?:can|could|may)? ?(?:also |clearly )*(?:see|observe|notice|find)\b"
    r"|there(?: is| are| 's| was| were)\b|(?:this|it|here)(?: is| are| 's)\b)(?: also| only)? ?)?"
)
SHOWING = (
    rf"(?:the|this|an|a)? ?{PICTURE} "
    r"(?:shows?|depicts?|features?|portrays?|contains?|displays?|is showing|consists of|has|includes?) "
)
ASKING = (
    r"(?:/?imagine(?: prompt)? |(?:please )?(?:(?:can|could|would) you )?(?:please )?"
    r"(?:draw|create|generate|make|show|imagine|paint|render|produce|design|visualize|sketch|give)(?: me| us)? "
    r"(?=(?:an?|the|two|three|four|some|\d+)\b)|(?:i|we) (?:want|need|would like|'d like)(?: to see)? )"
)
REFUSING = re.compile(
    r"^(?:please )?(?:(?:do n't|do not|never) (?:show|include|add|draw|put|use|have|depict|render)|exclude|avoid|omit)"
    r"(?: any| the)? "
)
FRAME = re.compile(f"^(?:{ASKING})?(?:{SHOWING}|{SEEING})")
FRAME_LENGTH = 9  # words within which a frame names its medium

MEDIA = lex.MEDIA | lex.GENERIC_MEDIA
PROPERTIES = lex.Phrases(lex.IMAGE_PROPERTIES)
FRAME_WORDS = DETERMINERS | lex.GENERIC_MEDIA | lex.MEDIUM_MODIFIERS | lex.DESCRIBING_MEDIA
ADJECTIVE_ENDINGS = ("ic", "ed", "al", "ive", "ful", "ing", "ish", "ous", "y", "ct", "nt")


def split_frame(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """A sentence without "there is", "we can see" and "a photo of", and what these say of the image."""
    if properties := image_properties(tokens):
        return [], properties
    left, properties = list(tokens), list[Attribute]()
    text = " ".join(lower_words(left))
    if refusal := REFUSING.match(text):
        return [replace(left[0], word="no"), *left[len(refusal[0].split()) :]], properties
    frame = FRAME.match(text)
    if frame and frame[0].strip():
        size = len(frame[0].split())
        properties += [medium(token.lower) for token in left[:size] if token.lower in lex.MEDIA]
        left = left[size:]
        while left and left[0].word == ",":
            left = left[1:]
    inner, of_medium = split_medium(left)
    return (inner, properties + of_medium) if inner or of_medium else (left, properties)


def split_medium(tokens: Sequence[Token]) -> tuple[list[Token], list[Attribute]]:
    """`a black and white photo of a cat` → `a cat`, and what describes the photo."""
    words = lower_words(tokens)
    for at, word in enumerate(words[:FRAME_LENGTH]):
        if (
            word in MEDIA
            and words[at + 1 : at + 2]
            and words[at + 1] in lex.SHOWS
            and all(map(describes_image, words[:at]))
        ):
            inner, more = split_medium(tokens[at + 2 :])
            return inner, [*medium_properties(words[:at], word), *more]
        ends = word in lex.RELATIONS or word in lex.BE - {"'s"} or word == ","
        if ends or tokens[at].relation or tokens[at].text is not None:
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
    name = noun
    if rest and f"{rest[-1]} {noun}" in lex.COMPOUND_MEDIA:
        name = f"{rest.pop()} {noun}"
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
    return lex.IMAGE_PROPERTIES.get(words, by_head)


def bare_adjectives(tokens: Sequence[Token]) -> list[Attribute]:
    """The attributes of a tag of adjectives alone: `fluffy`, `red and shiny`; they describe the main object."""
    words = [word for word in lower_words(tokens) if word not in {"and", "very", "really"}]
    kinds = {lex.kind_of(word) for word in words}
    if not 0 < len(words) <= 3 or kinds & {None, "position", "material"} or lex.COLOUR_NOUNS & set(words):
        return []
    return [] if image_properties(tokens) else [attribute for word in words if (attribute := attribute_of(word))]


def image_properties(tokens: Sequence[Token]) -> list[Attribute]:
    """What a piece between commas says of the image, if it says nothing else."""
    words = lower_words(tokens)
    text = " ".join(words)
    if not words or any(token.text is not None for token in tokens):
        return []
    if artists := artist_names(words):
        return [Attribute("artist", name) for name in artists]
    return [Attribute("style", text)] if STYLE_INTRODUCERS.at(words, 0) else plain_property(words)


def plain_property(words: Sequence[str]) -> list[Attribute]:
    """`soft lighting`, `8k`, `an oil painting`, `in black and white`."""
    plain = " ".join(words)
    for start in ("in ", "at ", "a ", "an ", "the "):
        plain = plain.removeprefix(start)
    kind = property_kind(plain)
    if kind is None or len(words) > 5 or words[0] in {"with", "and", "on"}:
        return []
    if plain not in lex.IMAGE_PROPERTIES and not all(map(may_qualify, words[:-1])):
        return []
    if kind == "mood":
        plain = " ".join(word for word in plain.split() if word not in lex.MOOD_NOUNS) or plain
    return [medium(plain)] if kind == "medium" else [Attribute(kind, plain)]


def may_qualify(word: str) -> bool:
    """Whether a word before a property is no object: `soft studio` lighting, not a `cat` photo."""
    return describes_image(word) or word in lex.IMAGE_PROPERTIES or word.endswith(ADJECTIVE_ENDINGS)


def artist_names(words: Sequence[str]) -> list[str]:
    """`painted by X and Y` → the names; `by a river` names nobody."""
    text = " ".join(words)
    if lex.IMAGE_PROPERTIES.get(text) == "artist":
        return [text]
    if "by" not in words[:3]:
        return []
    at = words.index("by")
    first = words[at + 1] if at + 1 < len(words) else ""
    made = all(word in lex.AUTHORSHIP or word in FRAME_WORDS for word in words[:at])
    common = first in DETERMINERS or first in lex.NUMBERS or first in lex.KIND_OF_ATTRIBUTE
    if not made or not first or common:
        return []
    return split_names(words[at + 1 :])
