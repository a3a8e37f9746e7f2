"""The words that the parser knows: what counts, what colours, what relates."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """A set, written as a line of words."""
    return frozenset(text.split())


ARTICLES = words("a an another")
DETERMINERS = words("the this that these those its his her their my your our")
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {
    **{name: number for number, name in enumerate([*ONES.split(), "eighteen", "nineteen"])},
    **{name: 10 * number for number, name in enumerate(TENS.split(), 2)},
    "single": 1,
}
MULTIPLES = {"dozen": 12, "hundred": 100, "thousand": 1000}
PAIRS = words("pair couple")
PAIRED = words("scissors glasses eyeglasses sunglasses jeans pants trousers shorts binoculars headphones tongs pliers")
SOME = words("some any")
MANY = words("dozens hundreds thousands many numerous multiple various lots plenty countless")
# What is said before a number → least and most, as steps from it; None is no bound.
COMPARISONS: dict[str, tuple[int | None, int | None]] = {
    **dict.fromkeys(("at least", "minimum of", "no fewer than", "no less than"), (0, None)),
    **dict.fromkeys(("not fewer than", "not less than"), (0, None)),
    **dict.fromkeys(("more than",), (1, None)),
    **dict.fromkeys(("at most", "up to", "no more than", "not more than"), (None, 0)),
    **dict.fromkeys(("fewer than", "less than"), (None, -1)),
    **dict.fromkeys(("exactly", "precisely", "just", "only"), (0, 0)),
}

COLOURS = words(
    "red orange yellow green blue purple pink brown black white gray grey beige tan cream gold golden "
    "silver teal turquoise "
    "cyan navy maroon violet magenta lime olive blond blonde"
)
TONES = words("dark light bright pale deep")
SIZES = {
    **dict.fromkeys(("small", "tiny", "little", "mini", "miniature"), "small"),
    **dict.fromkeys(("medium", "medium-sized", "mid-sized"), "medium"),
    **dict.fromkeys(("large", "big", "huge", "giant", "enormous", "massive", "gigantic"), "large"),
}
ATTRIBUTES = {
    "material": words(
        "wooden metal metallic glass plastic stone brick leather paper ceramic steel iron concrete marble "
        "woolen fabric rubber "
        "porcelain bronze copper crystal cardboard straw wicker velvet silk cotton"
    ),
    "shape": words(
        "round square circular rectangular triangular oval cubic spherical curved flat tall short long wide "
        "narrow thin thick "
        "conical cylindrical pentagonal hexagonal octagonal"
    ),
    "pattern": words("striped spotted checkered plaid dotted floral patterned colorful colourful multicolored"),
    "style": words(
        "modern vintage antique classic rustic futuristic medieval ornate elegant minimalist gothic victorian "
        "abstract cartoon "
        "realistic surreal traditional"
    ),
    "expression": words("happy sad angry smiling surprised crying laughing cheerful"),
    "state": words(
        "old new young open closed empty full broken wet dry clean dirty hot cold fresh ripe rotten sliced "
        "burning melting grassy "
        "sunny snowy sandy dusty rusty fluffy furry shiny beautiful cute noble elderly adult sleepy busy "
        "hungry high low parked"
    ),
}
KIND_OF_ATTRIBUTE = {word: kind for kind, members in ATTRIBUTES.items() for word in members}
ADJECTIVE_ENDINGS = ("ful", "ous", "ive", "less", "ible", "able", "ical", "ish", "esque")
ALSO_NOUNS = words("orange glass square paper stone brick gold silver straw iron cartoon")

# How it is written → the relation's name.
RELATIONS = {
    **dict.fromkeys(("to the left of", "on the left of", "on the left side of", "left of"), "left of"),
    **dict.fromkeys(("to the right of", "on the right of", "on the right side of", "right of"), "right of"),
    **dict.fromkeys(("above", "over"), "above"),
    **dict.fromkeys(("on top of", "atop", "on", "upon", "onto"), "on"),
    **dict.fromkeys(("beneath", "under", "underneath"), "under"),
    **dict.fromkeys(("next to", "beside", "near", "by", "alongside", "close to", "adjacent to"), "next to"),
    **dict.fromkeys(("inside of", "inside", "within", "into", "in"), "in"),
    **dict.fromkeys(("with", "having", "has", "have"), "with"),
    **dict.fromkeys(("wearing", "wears"), "wearing"),
    **dict.fromkeys(("holding", "holds", "carrying", "carries"), "holding"),
    **dict.fromkeys(("riding", "rides"), "riding"),
    **dict.fromkeys(("towards", "toward"), "toward"),
    **{
        name: name
        for name in ("below", "in front of", "behind", "between", "among", "around", "at", "against", "through")
    },
    **{name: name for name in ("across", "along", "from", "to", "for", "of", "eating", "playing with")},
}

DEEDS = words("wearing holding riding eating")  # relations that only somebody can have

PICTURES = ("image", "picture", "photo", "frame", "scene")
SIDE_ENDS = ("", " side", "-hand side", *(f"{part} of the {name}" for part in ("", " side") for name in PICTURES))
POSITIONS = {
    **{
        f"{start} {side}{end}": side
        for side in ("left", "right")
        for start in ("on the", "to the", "at the")
        for end in SIDE_ENDS
    },
    **dict.fromkeys(("in the center", "in the centre", "in the middle"), "center-middle"),
    "at the top": "top",
    "at the bottom": "bottom",
    **{
        f"{start} the {word} {x}{end}": f"{y}-{x}"
        for start in ("in", "at", "on")
        for word, y in (("top", "top"), ("upper", "top"), ("bottom", "bottom"), ("lower", "bottom"))
        for x in ("left", "right")
        for end in ("", " corner")
    },
}
NOT_ABSENCES = ("not only", "not just")
ABSENCES = ("without", "without any", "no", "with no", "not", "neither", "nor", "never")
COMPOUNDS = {
    name.replace("_", " ")
    for name in words(
        "hot_dog hot_dogs hot_air_balloon hot_air_balloons paper_towel paper_clip orange_juice wine_glass"
    )
}
TEXT_MARKS = (
    *(
        "that says",
        "that reads",
        "saying",
        "reading",
        "says",
        "reads",
        "with the text",
        "with the word",
        "with the words",
    ),
    *("labeled", "labelled", "titled", "with text"),
)

TEXT_NOUNS = words("text word words letter letters lettering caption title phrase message")

MEDIA = words("painting drawing sketch illustration portrait poster print")  # frames too, if "of" follows

# Words that frame the picture or a part of it and are not things in it.
FRAMES = words(
    "photo photograph picture image render rendering view scene shot "
    "close-up closeup "
    "background foreground style type kind piece side top bottom left right middle center centre "
    "front back way lot "
    "number group bunch row corner one ones other others time day night"
)
FUNCTION_WORDS = words(
    "only just it they he she them him who which there each both all what where while when as is are was were be "
    "being been seems appears "
    "can could will would must should do does did then plus also but or very so too"
)
VERBS = words(
    "sits stands lies lays runs walks plays eats drinks looks jumps flies swims sleeps rests hangs sit "
    "stand lie run walk play eat "
    "drink look jump fly swim sleep rest hang say says read shows show placed stacked filled covered surrounded made "
    "seen taken displayed located"
)
ING_NOUNS = words(
    "building painting ring king ceiling wing string clothing railing earring wedding swing spring thing "
    "lightning evening morning "
    "parking dining washing racing sewing swimming rocking pudding drawing icing duckling dumpling sling "
    "awning bedding frosting stuffing earrings paintings buildings"
)
