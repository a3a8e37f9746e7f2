"""The words that the parser knows by heart: what counts, what colours, what relates, what frames the picture."""

from __future__ import annotations

from collections.abc import Iterable


def words(text: str) -> frozenset[str]:
    """A set, written as a line of words; an underscore is a blank."""
    return frozenset(word.replace("_", " ") for word in text.split())


def spelt(table: dict[str, str]) -> dict[str, str]:
    """A table of `name: ways to write it`, turned round."""
    return {way: name for name, ways in table.items() for way in words(ways)}


# ---- how many ------------------------------------------------------------------------------------------------------

ARTICLES = words("a an another")
DEFINITE = words("the this that these those its his her their my your our whose")
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {
    **{name: number for number, name in enumerate([*ONES.split(), "eighteen", "nineteen"])},
    **{name: 10 * number for number, name in enumerate(TENS.split(), 2)},
    "single": 1,
}
MULTIPLES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
PAIRS = words("pair couple")
# What comes in pairs by nature: "a pair of scissors" is one thing.
PAIRED = words(
    "scissors glasses eyeglasses sunglasses spectacles goggles jeans pants trousers shorts leggings tights binoculars "
    "headphones tongs pliers tweezers pajamas overalls"
)
SOME = words("some any")
MANY = words("many numerous multiple various countless innumerable assorted")
MANY_OF = words("dozens hundreds thousands lots plenty loads tons lot variety number range array assortment handful")
# What is said before a number → least and most, as steps from it; None is no bound.
COMPARISONS: dict[str, tuple[int | None, int | None]] = {
    **dict.fromkeys(("at least", "minimum of", "a minimum of", "no fewer than", "no less than"), (0, None)),
    **dict.fromkeys(("not fewer than", "not less than"), (0, None)),
    **dict.fromkeys(("more than", "over"), (1, None)),
    **dict.fromkeys(("at most", "up to", "no more than", "not more than", "a maximum of"), (None, 0)),
    **dict.fromkeys(("fewer than", "less than", "under"), (None, -1)),
    **dict.fromkeys(("exactly", "precisely", "just", "only"), (0, 0)),
}
UNITS = words(
    "year years foot feet ft inch inches meter meters metre metres cm mm km mile miles hour minute day week month"
)
UNITS |= words("story storey legged headed eyed winged wheeled armed horned")
MEASURED = words("old tall long wide high deep thick")
NUMBERED = words("size number route episode chapter level version channel gate platform formula")
# "about twenty": the number is meant, and not to the letter.
ABOUT = words("about around roughly approximately nearly almost some")

# Nouns that say how many of something there are, or how it is gathered; the something is the object.
GROUPS = words(
    "group herd flock bunch crowd pack swarm school series set collection team pride colony gaggle cluster litter row "
    "line stack pile heap fleet band gang squad troop selection company batch trio quartet family_of convoy mob "
    "assortment array variety number range host plethora multitude ring circle column army horde parade procession"
)
GROUP_SIZES = {"trio": 3, "quartet": 4, "duo": 2, "quintet": 5}
# Nouns that say which part or how much of something; the something is the object, so many times.
MEASURES = words(
    "slice piece sheet loaf bar block chunk strip scoop wedge bit lump bale roll stick ball_of length patch drop "
    "sprig spoonful handful mouthful bite fillet cut segment half stalk clove ear head_of cube"
)
# Nouns that say only "some sort of"; the something is the object.
SORTS = words("type kind sort breed species version form pair model brand style")
# What holds something: "a bowl of fruit" is a bowl with fruit.
BODY = words(
    "hair beard mustache moustache head face eye ear nose mouth tooth tongue neck shoulder arm hand finger chest leg "
    "knee foot toe back skin tail wing paw horn mane fur feather beak fin hoof trunk tusk claw smile freckle body lip"
)
CONTAINERS = words(
    "bouquet bowl glass cup plate vase basket bottle box bag jar bucket mug pot tray can carton pitcher tank jug "
    "crate sack barrel pan dish cart wheelbarrow bin packet pack_of container case drawer shelf pint tub tin vial "
    "flask platter teapot kettle cooler truckload suitcase chest pouch goblet tankard flute saucer cone wagon"
)

# Adjective and noun, or stuff and noun, that are one name.
COMPOUNDS = words(
    "hot_dog paper_towel paper_clip paper_bag paper_plane paper_airplane orange_juice orange_tree wine_glass "
    "ice_cream ice_cube ice_skate ice_cream_cone gold_fish teddy_bear top_hat black_hole white_board black_board "
    "polar_bear grizzly_bear fire_hydrant hot_air_balloon high_heel high_chair high_school flat_screen living_room "
    "dining_room dining_table rocking_chair washing_machine swimming_pool sewing_machine sleeping_bag rubber_duck "
    "golden_retriever rubber_band wood_stove glass_case rock_star sand_castle rubik_'s_cube snow_leopard snow_globe "
    "sand_dune snow_man straw_hat_stand tin_can wire_fence stuffed_animal stuffed_bear police_officer cotton_candy "
    "chocolate_chip silver_fox gold_medal diamond_ring pearl_earring pine_tree oak_tree pine_cone fur_coat_stand "
    "parking_meter cutting_board running_shoe flying_saucer baking_sheet mixing_bowl frying_pan shopping_cart "
    "shopping_bag potted_plant stained_glass_window traffic_light stop_sign green_bean black_olive red_light "
    "cherry_blossom"
)

# ---- what a thing is like ------------------------------------------------------------------------------------------

COLOURS = words(
    "red orange yellow green blue purple pink brown black white gray grey beige tan cream gold golden silver teal "
    "turquoise cyan navy maroon violet magenta lime olive blond blonde brunette scarlet crimson indigo lavender "
    "burgundy khaki ivory amber aqua mauve peach coral bronze-colored rose charcoal lilac fuchsia mint ginger "
    "colorful colourful multicolored multicoloured multi-colored multi-coloured rainbow-colored tricolor auburn "
    "reddish bluish greenish yellowish brownish pinkish purplish whitish blackish greyish grayish rainbow colored "
    "coloured"
)
TONES = words(
    "dark light bright pale deep neon pastel vivid rich soft dull hot navy royal sky baby electric olive lime forest"
)
# Nouns first: a colour only before a noun.
ALSO_NOUNS = words("orange gold silver rose peach coral mint lime olive lavender violet ginger cream tan rainbow amber")
SIZES = spelt(
    {
        "small": "small tiny little mini miniature minuscule petite teeny small-sized pocket-sized micro wee midget",
        "medium": "medium medium-sized mid-sized midsized mid-size midsize average-sized medium-size",
        "large": "large big huge giant enormous massive gigantic colossal oversized large-sized immense vast humongous "
        "gargantuan mammoth towering jumbo",
    }
)
MATERIALS = {
    **{
        stuff: stuff
        for stuff in words(
            "metal glass plastic stone brick leather paper ceramic steel iron concrete marble fabric rubber porcelain "
            "bronze copper crystal cardboard straw wicker velvet silk cotton wood clay granite denim lace linen "
            "bamboo rattan vinyl wool felt brass aluminum foil fur tin chrome nylon canvas ice sand snow chocolate "
            "lego wax plaster mahogany oak pine pearwood teak lucite acrylic suede satin tile cobblestone gravel yarn "
            "wire stainless_steel gingerbread papier-mache tweed burlap asphalt rock log jade pearl diamond glitter "
            "origami"
        )
    },
    **spelt(
        {
            "wood": "wooden wood-paneled",
            "metal": "metallic",
            "wool": "woolen woollen woolly",
            "gold": "gilded",
            "fur": "",
            "earth": "earthen",
            "straw": "thatched",
            "cobblestone": "cobbled",
            "clay": "terracotta",
            "leather": "leathery",
            "stained glass": "stained-glass",
        }
    ),
}
# Nouns that name a stuff only where they stand before another noun and no compound is known.
STUFF_FIRST = words("ice sand snow chocolate oak pine tile wire rock log pearl diamond fur canvas origami")
SHAPES = words(
    "round square circular rectangular triangular oval cubic spherical curved flat tall short long wide narrow thin "
    "thick conical cylindrical pentagonal hexagonal octagonal slim slender skinny fat chubby plump bulky pointed "
    "pointy heart-shaped star-shaped diamond-shaped l-shaped crescent spiral straight wavy curly sharp steep deep "
    "shallow rounded bushy elongated angular geometric arched domed cube-shaped boxy stubby blocky chunky lean "
    "muscular pyramidal cubed jagged high low big-eared long-haired short-haired organic 3-d 3d hollow"
)
PATTERNS = words(
    "striped spotted checkered chequered plaid dotted floral patterned polka-dot polka-dotted polka_dot camouflage "
    "tie-dye tie-dyed paisley herringbone argyle leopard-print zebra-print zigzag marbled speckled tiled swirled "
    "pinstriped pinstripe mottled gingham checked tartan houndstooth brindle tabby calico freckled camo"
)
STYLES = words(
    "modern vintage antique classic rustic futuristic medieval ornate elegant minimalist gothic victorian abstract "
    "cartoon realistic surreal traditional retro contemporary cyberpunk steampunk baroque ornamental decorative "
    "old-fashioned renaissance psychedelic photorealistic stylized anime pixelated impressionist cubist minimal "
    "art-deco art_deco bohemian industrial oriental fancy formal casual japanese chinese egyptian roman greek french "
    "italian american british german spanish indian mexican african asian european russian korean persian turkish "
    "arabic mayan aztec celtic viking native scandinavian tropical cosmic alien fantasy gilded"
)
ORIENTATIONS = words(
    "upside-down upside_down sideways vertical horizontal diagonal tilted inverted upright backwards backward "
    "reversed slanted leaning-over facing lopsided crooked"
)
EXPRESSIONS = words(
    "happy sad angry smiling surprised crying laughing cheerful grinning frowning confused scared frightened bored "
    "excited joyful serious worried sleepy tired furious smirking shocked content proud pensive thoughtful confident "
    "nervous grumpy gloomy annoyed disgusted amused calm-looking stern delighted smug curious anxious weary sorrowful"
)
LIGHTINGS = words(
    "sunlit moonlit backlit lit glowing illuminated shadowy dim dimly-lit well-lit candlelit luminous neon-lit shaded "
    "dark bright sunny shining gleaming glittering sparkling glimmering radiant"
)
STATES = words(
    "old new young open closed empty full broken wet dry clean dirty hot cold fresh ripe rotten sliced burning "
    "melting grassy snowy sandy dusty rusty fluffy furry shiny noble elderly adult busy hungry parked hairy bald "
    "bearded naked nude shirtless barefoot bare bent raised folded crossed stretched outstretched extended dead alive "
    "sick pregnant cloudy rainy foggy misty stormy clear overcast frozen icy muddy rocky leafy wooded green-leaved "
    "feathered cracked torn ruined abandoned crowded deserted messy tidy neat worn weathered faded painted carved "
    "cooked raw fried grilled baked roasted toasted chopped cut peeled half-eaten smooth rough soft hard sticky "
    "slippery fuzzy scruffy shaggy spiky prickly thorny transparent translucent opaque reflective matte glossy "
    "polished lush barren blooming blossoming flowering wilted dried autumn wild tame stuffed electric solar "
    "wooden-handled armed injured blind lone lonely single-story two-story multi-story double-decker unlit lighted "
    "running moving flying floating standing sitting sleeping seated lying hanging turned-on blank decorated loaded "
    "filled topped mounted framed calm still turbulent choppy overgrown mature human robotic mechanical magical "
    "mythical spectral ghostly zombie undead evil demonic winged horned tattooed masked hooded bent-over unidentified "
    "isolated studded"
)
POSITIONS_ADJECTIVE = words(
    "left right upper lower top bottom middle central center front rear back outer inner left-hand right-hand"
)
KIND_OF_ATTRIBUTE: dict[str, str] = {
    **dict.fromkeys(STATES, "state"),
    **dict.fromkeys(POSITIONS_ADJECTIVE, "position"),
    **dict.fromkeys(LIGHTINGS, "lighting"),
    **dict.fromkeys(STYLES, "style"),
    **dict.fromkeys(SHAPES, "shape"),
    **dict.fromkeys(PATTERNS, "pattern"),
    **dict.fromkeys(ORIENTATIONS, "orientation"),
    **dict.fromkeys(EXPRESSIONS, "expression"),
    **dict.fromkeys(MATERIALS, "material"),
    **dict.fromkeys(SIZES, "size"),
    **dict.fromkeys(COLOURS, "color"),
}
# Adjectives that point, count or hedge and describe nothing.
NOT_DESCRIBING = words(
    "the this that these those his her its their my your our whose other another same such own several many few more "
    "most much all both each every only main very first second third last next certain whole entire various multiple "
    "numerous single some any so too also just really quite rather typical particular specific available able visible "
    "present seen alone"
)
COMPARATIVES = {
    "bigger": "larger than",
    "larger": "larger than",
    "smaller": "smaller than",
    "taller": "taller than",
    "shorter": "shorter than",
    "longer": "longer than",
    "higher": "higher than",
    "lower": "lower than",
    "wider": "wider than",
    "thicker": "thicker than",
    "thinner": "thinner than",
    "brighter": "brighter than",
    "darker": "darker than",
    "older": "older than",
    "younger": "younger than",
    "heavier": "heavier than",
    "lighter": "lighter than",
    "closer": "closer than",
    "faster": "faster than",
    "fatter": "fatter than",
}
NTH = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
ORDINALS = words("first second third fourth fifth sixth seventh eighth ninth tenth last middle leftmost rightmost")
DEGREES = words(
    "very slightly extremely really quite rather somewhat fairly highly mostly partially fully completely almost half "
    "brightly lightly heavily neatly beautifully intricately too so"
)

LONG_ADJECTIVES = {
    **dict.fromkeys(words("polka_dot polka_dotted tie_dye zebra_print leopard_print animal_print"), "pattern"),
    **dict.fromkeys(words("stainless_steel stained_glass"), "material"),
    **dict.fromkeys(words("art_deco art_nouveau mid_century"), "style"),
    **dict.fromkeys(words("upside_down"), "orientation"),
    **dict.fromkeys(words("half_eaten well_dressed wide_open"), "state"),
}
# What has no number: "bread" is any amount of it.
MASS = words(
    "water hair bread cheese snow grass sand coffee tea milk soup wine beer juice rice pasta butter sugar salt smoke "
    "fire mud ice meat armor armour clothing furniture luggage traffic graffiti food fruit hay straw honey chocolate "
    "cream rain fog mist steam dust dirt foam lava oil ink blood fur foliage vegetation text writing lettering "
    "sunlight moonlight light jewelry money paper wood metal glass_of ketchup mustard sauce jam cereal flour dough "
    "seaweed moss ivy confetti glitter garbage trash rubble equipment sky_blue spaghetti orange_juice champagne "
    "whiskey lemonade salad_dressing broccoli lettuce cabbage corn bacon ham popcorn candy bamboo underwear makeup "
    "coca-cola fabric"
)


def kind_of(word: str) -> str | None:
    """The kind of attribute that a word names, if it is one we know."""
    return KIND_OF_ATTRIBUTE.get(word)


def longest(phrases: Iterable[str]) -> int:
    """Words in the longest phrase."""
    return max(len(phrase.split()) for phrase in phrases)
