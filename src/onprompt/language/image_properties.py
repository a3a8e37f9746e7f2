"""What a prompt says of the picture as a whole: medium, style, artist, view, light. It is taken out first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language import lexicon_pictures as pics
from onprompt.language.attributes import attribute
from onprompt.language.ontology import singular
from onprompt.language.phrases import Phrases, phrase_at
from onprompt.language.units import Unit
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
SHOWS = lex.words("of showing depicting featuring portraying")
UNLINKED = lex.words("shot photo photograph picture close-up closeup portrait painting")
FRAME_REACH = 9  # words within which a frame names its medium
USUAL = {"photograph": "photo", "photography": "photo", "pic": "photo", "black-and-white": "black and white"}
PROPERTIES = {
    **dict.fromkeys(pics.MEDIA - pics.EMPTY_MEDIA, "medium"),
    **dict.fromkeys(pics.GLOBAL_STYLES, "style"),
    **dict.fromkeys(pics.MOODS, "mood"),
    **dict.fromkeys(pics.LIGHT_AND_TIME, "lighting"),
    **dict.fromkeys(pics.QUALITIES, "quality"),
    **dict.fromkeys(pics.VIEWS - {"view", "shot", "angle", "perspective"}, "viewpoint"),
    **dict.fromkeys(pics.ARTISTS, "artist"),
    **dict.fromkeys(pics.LONG_MEDIA, "medium"),
}
KNOWN = Phrases(PROPERTIES)
# Of which kind a property is, by its last word: "soft studio lighting".
BY_LAST = lex.spelt(
    {
        "lighting": "lighting light lights sunlight moonlight daylight glow shadows",
        "style": "style aesthetic design colors colours tones palette",
        "mood": "mood atmosphere vibe vibes ambience",
        "viewpoint": "view angle perspective shot close-up lens",
        "quality": "resolution quality focus detail details engine detailed field render realistic",
        "medium": "painting art photography illustration sketch drawing photo photograph",
    }
)
FRAME_WORDS = (
    lex.ARTICLES
    | lex.DEFINITE
    | pics.MEDIA
    | pics.QUALITIES
    | pics.GLOBAL_STYLES
    | pics.VIEWS
    | pics.MOODS
    | pics.FRAMING
)
SOFT_ENDINGS = ("ic", "ed", "al", "ive", "ful", "ing", "ish", "ous", "y", "ct", "nt")


def unframed(units: Sequence[Unit]) -> tuple[list[Unit], list[Attribute]]:
    """A sentence without "there is", "we can see" and "a photo of", and what these said of the picture."""
    if whole := property_of(units):
        return [], whole
    left, said = list(units), list[Attribute]()
    if refused := REFUSING.match(" ".join(unit.lower for unit in left)):
        taken = len(refused[0].split())
        return [replace(left[0], word="no"), *left[taken:]], said
    frame = FRAME.match(" ".join(unit.lower for unit in left))
    if frame and frame[0].strip():
        taken = len(frame[0].split())
        said += [medium(unit.lower) for unit in left[:taken] if unit.lower in pics.MEDIA - pics.EMPTY_MEDIA]
        left = left[taken:]
        while left and left[0].word == ",":
            left = left[1:]
    inner, framed = without_medium(left)
    return (inner, said + framed) if inner or framed else (left, said)


def without_medium(units: Sequence[Unit]) -> tuple[list[Unit], list[Attribute]]:
    """`a black and white photo of a cat` → `a cat`, and the photo."""
    words = [unit.lower for unit in units]
    for at, word in enumerate(words[:FRAME_REACH]):
        rest = words[at + 1 : at + 3]
        skip = 2 if rest and rest[0] in SHOWS else 3 if rest in (["that", "shows"], ["which", "shows"]) else 0
        if not skip and at and word in UNLINKED and rest and rest[0] in lex.ARTICLES:  # "macro shot a kitten"
            skip = 1
        if word in pics.MEDIA and skip and all(map(describes_picture, words[:at])):
            inner, more = without_medium(units[at + skip :])
            return inner, [*described(words[:at], word), *more]
        ends = word in links.RELATIONS or word in links.BE - {"'s"} or word == ","
        if ends or units[at].relation or units[at].text is not None:
            break
    return list(units), []


def describes_picture(word: str) -> bool:
    """Whether a word before a medium describes the medium."""
    return word in FRAME_WORDS or word in lex.KIND_OF_ATTRIBUTE or word.endswith(("ed", "ly", "ic"))


def medium(words: str) -> Attribute:
    """A medium by its usual name; some are ways to look."""
    if words.split()[-1] in {"close-up", "closeup", "view", "shot", "headshot"}:
        return Attribute("viewpoint", words.replace("closeup", "close-up"))
    one = singular(words)
    return Attribute("medium", USUAL.get(one, one))


def described(words: Sequence[str], noun: str) -> list[Attribute]:
    """What the words before a medium say: `a black and white` photo, `an oil` painting, `a close-up` photo."""
    rest = [word for word in words if word not in lex.ARTICLES | lex.DEFINITE]
    name = noun
    if rest and f"{rest[-1]} {noun}" in pics.LONG_MEDIA:
        name = f"{rest.pop()} {noun}"
    found: list[Attribute] = []
    while rest:
        phrase = phrase_at(rest, 0, KNOWN) or rest[0]
        if kind := property_kind(phrase):
            found.append(Attribute(kind, USUAL.get(phrase, phrase)))
        rest = rest[len(phrase.split()) :]
    if noun == "view" and "eye" in words:
        found.append(Attribute("viewpoint", " ".join(words[1:]).replace(" 's", "'s") + " view"))  # a bird's eye view
    return found if name in pics.EMPTY_MEDIA else [*found, medium(name)]


def property_kind(words: str) -> str | None:
    """Of which kind a property of the whole picture is."""
    if words in PROPERTIES:
        return PROPERTIES[words]
    return BY_LAST.get(words.split()[-1]) if " " in words else None


def loose(units: Sequence[Unit]) -> list[Attribute]:
    """What a tag of adjectives only says: `fluffy`, `red and shiny`; it is told to the main thing."""
    words = [unit.lower for unit in units if unit.lower not in {"and", "very", "really"}]
    plain = all(
        lex.kind_of(word) not in {None, "position", "material"} and word not in lex.ALSO_NOUNS for word in words
    )
    if not words or not plain or len(words) > 3 or property_of(units):
        return []
    return [each for word in words for each in [attribute(word)] if each]


def property_of(units: Sequence[Unit]) -> list[Attribute]:
    """What a piece between commas says of the whole picture, if that is all it does."""
    words = [unit.lower for unit in units]
    text = " ".join(words)
    if not words or any(unit.text is not None for unit in units):
        return []
    if artists := artist_names(words):
        return [Attribute("artist", name) for name in artists]
    if phrase_at(words, 0, IN_STYLE):
        return [Attribute("style", text)]
    if text.startswith("trending on"):
        return [Attribute("quality", text)]
    if text in pics.SEEN_FROM or text in {"from behind", "from the side"}:
        return [Attribute("viewpoint", text.removeprefix("seen ").removeprefix("viewed "))]
    return plain_property(words)


IN_STYLE = Phrases(pics.IN_STYLE)


def plain_property(words: Sequence[str]) -> list[Attribute]:
    """`soft lighting`, `8k`, `an oil painting`, `in black and white`."""
    plain = " ".join(words)
    for start in ("in ", "at ", "a ", "an ", "the "):
        plain = plain.removeprefix(start)
    kind = property_kind(plain)
    if kind is None or len(words) > 5 or words[0] in {"with", "and", "on"}:
        return []
    if plain not in PROPERTIES and not all(map(qualifies, words[:-1])):
        return []
    if kind == "mood":
        plain = " ".join(word for word in plain.split() if word not in pics.MOOD_NOUNS) or plain
    return [medium(plain)] if kind == "medium" else [Attribute(kind, plain)]


def qualifies(word: str) -> bool:
    """Whether a word may stand before a property and is no thing: `soft studio` lighting, not a `cat` photo."""
    return describes_picture(word) or word in PROPERTIES or word.endswith(SOFT_ENDINGS)


def artist_names(words: Sequence[str]) -> list[str]:
    """`painted by X and Y` → the names; `by a river` names nobody."""
    if " ".join(words) in pics.ARTISTS:
        return [" ".join(words)]
    if "by" not in words[:3]:
        return []
    at = words.index("by")
    first = words[at + 1] if at + 1 < len(words) else ""
    made = all(word in pics.MADE_BY or word in FRAME_WORDS for word in words[:at])
    if (
        not made
        or not first
        or first in lex.ARTICLES | lex.DEFINITE | lex.NUMBERS.keys() | lex.KIND_OF_ATTRIBUTE.keys()
    ):
        return []
    names = " ".join(words[at + 1 :]).replace(" & ", " and ").split(" and ")
    return [name.strip() for name in names if name.strip()]
