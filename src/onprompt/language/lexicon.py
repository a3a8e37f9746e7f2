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

# ---- how things stand to each other --------------------------------------------------------------------------------

# The relation's name → how it is written.
RELATIONS = spelt(
    {
        "left of": "to_the_left_of on_the_left_of on_the_left_side_of at_the_left_of at_the_left_side_of left_of "
        "to_the_left_side_of on_the_left_hand_side_of to_the_left_hand_side_of",
        "right of": "to_the_right_of on_the_right_of on_the_right_side_of at_the_right_of at_the_right_side_of "
        "right_of to_the_right_side_of on_the_right_hand_side_of to_the_right_hand_side_of",
        "above": "above over",
        "on": "on_top_of atop on upon onto on_the_top_of on_the_surface_of at_the_top_of on_the_back_of on_to",
        "under": "beneath under underneath",
        "below": "below",
        "next to": "next_to beside near by alongside close_to adjacent_to nearby next beside_of near_to "
        "in_the_vicinity_of at_the_side_of on_the_side_of by_the_side_of side_by_side_with",
        "in": "inside_of inside within into in in_the_middle_of in_the_center_of in_the_centre_of in_the_midst_of "
        "in_the_corner_of",
        "in front of": "in_front_of in_the_front_of before",
        "behind": "behind in_back_of in_the_back_of at_the_back_of",
        "between": "between in_between",
        "outside": "outside_of outside",
        "out of": "out_of",
        "off": "off off_of",
        "without": "without devoid_of free_of lacking minus sans void_of",
        "with": "with having along_with together_with accompanied_by featuring containing including",
        "toward": "towards toward",
        "around": "around all_around",
        "opposite": "opposite across_from opposite_to opposite_of",
        "parallel to": "parallel_to parallel_with",
        "against": "against",
        "at the end of": "at_the_end_of",
        "at the edge of": "at_the_edge_of on_the_edge_of",
        "below the bottom of": "",
        "at the bottom of": "at_the_bottom_of on_the_bottom_of at_the_foot_of",
        "surrounded by": "surrounded_by surrounded_with",
        "covered with": "covered_with covered_in covered_by",
        "filled with": "filled_with full_of filled_up_with",
        "topped with": "topped_with topped_by",
        "decorated with": "decorated_with adorned_with",
        "attached to": "attached_to connected_to",
        "made of": "made_of made_from made_out_of made_with made_up_of built_of built_from built_out_of composed_of "
        "constructed_from constructed_of carved_from carved_out_of sculpted_from crafted_from formed_from formed_of "
        "woven_from fashioned_from",
        "in the shape of": "in_the_shape_of in_the_form_of shaped_like shaped_as",
        "like": "like",
        "instead of": "instead_of rather_than in_place_of",
        "on each side of": "on_either_side_of on_both_sides_of on_each_side_of",
        "on the other side of": "on_the_other_side_of",
        **{
            name: name
            for name in words(
                "among amongst at through across along from to for of beyond past down up during as about via per than"
            )
        },
    }
)
# Relations that a picture can show between two places; after a verb they hold of the subject.
SPATIAL = words(
    "left_of right_of above on under below next_to in in_front_of behind between outside at around against along "
    "across through among amongst off opposite at_the_edge_of at_the_end_of at_the_bottom_of on_each_side_of beyond "
    "inside on_the_other_side_of near parallel_to surrounded_by covered_with filled_with topped_with decorated_with "
    "attached_to up down past toward"
)
# A word that the tree can read in place of a relation of several words.
STAND_IN = {
    **dict.fromkeys(("with", "filled with", "covered with", "topped with", "decorated with"), "with"),
    **dict.fromkeys(("made of", "in the shape of"), "of"),
    "surrounded by": "with",
    "instead of": "without",
    "without": "without",
    "out of": "from",
}
WEARING = words("wearing wears wear wore worn dressed clad")
# What a person can be in.
# "in red", "dressed in red"
DRESSED = words("in of wearing dressed_in clad_in painted_in painted colored_in coloured_in dyed")
CLOTHES = words(
    "dress suit shirt t-shirt tshirt coat jacket hat cap uniform costume outfit jeans pants shorts skirt sweater "
    "clothes clothing gown robe tuxedo bikini swimsuit wetsuit blouse vest hoodie kimono apron jersey scarf tie boots "
    "shoes sandals sneakers overalls pajamas armor armour cloak tunic trunks leotard tutu sari veil gear attire garb "
    "raincoat helmet sunglasses glasses goggles gloves stockings sock socks headscarf bandana snowsuit jumpsuit "
    "spacesuit turban mask beanie fedora sombrero poncho cape parka sweatshirt tank_top cardigan blazer heels bowtie"
)
# Verbs that aim at somebody: "looking at", "shouting into" are one relation.
AIMING = words(
    "look stare gaze point smile wave shout yell talk speak aim laugh bark listen glance peer peek sing throw reach "
    "sniff"
)
SELECTING = words("at to with into in for from toward towards through on about like")
ALWAYS_SELECTED = words("with to for from like about")
POSTURES = words("stand sit lie lay hang rest float lean kneel perch")
# Verbs whose object goes where the subject goes.
TAKING_ALONG = words("ride drive carry push pull walk lead fly sail paddle steer row build chase drag tow herd")
NOT_ACTIONS = words(
    "be have do can could will would should may might must appear seem show include feature contain use see get go "
    "come take make let start begin try become remain stay locate situate place set position dress"
)
NOT_PARTICLES = words("together away here there while also just very then too still well once now not n't never")
HAVE = words("have has having had with")
BE = words("be is are was were been being 's 're am isn't aren't wasn't weren't")
# What shows a picture rather than being in it: "the image shows", "we can see".
SHOWING = words(
    "show shows showing depict depicts depicting feature features portray portrays portraying contain contains "
    "display displays illustrate illustrates present presents represent represents capture captures include includes"
)
SEEING = words("see seen observe notice find view")

# ---- where in the picture ------------------------------------------------------------------------------------------

SHOWN = words("image picture photo photograph frame")
PICTURES = words("image picture photo frame scene photograph painting canvas screen page")


def in_the(*parts: str) -> list[str]:
    """`in the PART`, `at the PART` …"""
    return [f"{start} the {part}" for start in ("in", "on", "at", "to") for part in parts]


POSITIONS: dict[str, str] = {
    **{
        way: side
        for side in ("left", "right")
        for way in in_the(side, f"{side} side", f"{side}-hand side", f"far {side}", f"{side} hand side")
    },
    **dict.fromkeys(in_the("center", "centre", "middle", "very center"), "center-middle"),
    **{way: side for side in ("top", "bottom") for way in in_the(side, f"very {side}")},
    **{
        way: f"{y}-{x}"
        for word, y in (("top", "top"), ("upper", "top"), ("bottom", "bottom"), ("lower", "bottom"))
        for x in ("left", "right")
        for way in in_the(
            f"{word} {x}", f"{word} {x} corner", f"{word}-{x} corner", f"{word}-{x}", f"{word} {x}-hand corner"
        )
    },
    **{way: part for part in ("background", "foreground") for way in in_the(part)},
    **{
        f"{start} the {part}": part
        for start in ("in", "into", "at", "through")
        for part in ("distance", "air", "front", "back")
    },
    **{f"in {part}": part for part in ("front", "back", "midair", "mid-air", "mid air")},
    "in the middle ground": "middle ground",
    "in the far distance": "distance",
    "off in the distance": "distance",
    "up in the air": "air",
    "high in the air": "air",
    "in the corner": "corner",
    "on the side": "side",
    "to the side": "side",
    "on its side": "side",
    "on top": "top",
    "at the front": "front",
    "at the back": "back",
    "in the front": "front",
    "upside down": "upside down",
    "side by side": "side by side",
    "in a row": "in a row",
    "in a line": "in a line",
    "in a circle": "in a circle",
}
SIDES = words("left right top bottom front back")
ALSO_THINGS = words(
    "in_the_corner on_the_side to_the_side in_front in_back on_top in_the_front in_the_back at_the_front at_the_back "
    "in_the_air"
)
NOT_PLACES = {
    "upside down": "orientation",
    "side by side": "state",
    "in a row": "state",
    "in a line": "state",
    "in a circle": "state",
}
# Prepositional phrases that say how something is, not where.
FACING = words(
    "looking_at_viewer looking_at_the_viewer looking_at_camera looking_at_the_camera looks_at_the_camera "
    "looking_into_the_camera looks_directly_at_the_camera looking_directly_at_the_camera facing_left facing_right "
    "facing_forward facing_backward facing_away facing_up facing_down facing_each_other facing_upwards "
    "facing_downwards facing_the_camera facing_the_viewer facing_sideways facing_straight"
)
CONDITIONS = words(
    "in_motion in_flight on_fire at_rest in_bloom in_full_bloom on_display for_sale in_use at_play at_work "
    "in_black_and_white on_sale in_action in_profile by_hand in_shape in_progress on_foot by_day in_line "
    "under_construction in_costume in_uniform on_guard in_love in_pairs in_flames in_ruins in_mid-air in_midair "
    "in_sync on_duty"
)

# ---- what must not be there, what can be read ----------------------------------------------------------------------

NEGATIONS = words("no not n't without never neither nor nobody none cannot")
TEXT_NOUNS = words(
    "text word words letter letters lettering caption title phrase message slogan inscription logo quote sentence"
)
# What words are written in: "in flowing cursive", "in chalk".
WRITTEN = words(
    "written painted printed drawn carved spelled spelt rendered typed embroidered engraved inscribed etched scrawled"
)
SCRIPTS = words(
    "cursive calligraphy letter lettering font script handwriting chalk paint ink typeface type crayon marker pencil "
    "graffiti style neon cap capital serif brush stroke trail color colour"
)
TEXT_VERBS = words(
    "say says saying said read reads reading spell spells spelling label labeled labelled title titled caption "
    "captioned write written writing print printed inscribe inscribed name named call called display displaying bear "
    "bearing"
)

# What words are usually on.
BEARERS = words(
    "sign poster banner shirt t-shirt book cake mug card board billboard label screen plate note paper letter cup "
    "bottle jar box storefront building wall tattoo logo badge button newspaper magazine envelope flag chalkboard "
    "blackboard whiteboard menu cover graffiti balloon jersey hoodie truck van placard plaque tombstone"
)
# What comes between a thing and the quoted words on it.
BEARING = words(
    "that_says that_say which_says saying that_reads that_read which_reads reading titled entitled labeled labelled "
    "captioned named called spelling says reads bearing marked stamped"
)
SAYS = words(
    "that_says that_say which_says saying that_reads that_read which_reads with_the_text with_the_words with_the_word"
)

# ---- what frames the picture ---------------------------------------------------------------------------------------

MEDIA = words(
    "photo photograph photography picture image painting drawing sketch illustration render rendering cartoon comic "
    "watercolor watercolour poster print engraving etching mosaic collage screenshot artwork art photorealism "
    "snapshot portrait doodle clipart clip_art vector lithograph mural graphic shot view close-up closeup still "
    "selfie scene animation anime stock footage logo icon woodcut diorama tapestry fresco polaroid daguerreotype "
    "selfies photos pictures images paintings drawings illustrations visualization depiction headshot scan x-ray "
    "woodblock pic gif wallpaper infographic storyboard concept_art pixel_art line_art digital_art oil_painting"
)
LONG_MEDIA = words(
    "oil_painting digital_painting digital_art pencil_sketch pencil_drawing charcoal_drawing charcoal_sketch "
    "ink_drawing ink_sketch line_drawing crayon_drawing pastel_drawing acrylic_painting watercolor_painting "
    "matte_painting 3d_render 3d_rendering oil_on_canvas concept_art pixel_art clip_art line_art digital_illustration "
    "vector_illustration digital_image stock_photo macro_photo aerial_photo aerial_view overhead_view side_view "
    "front_view top_view close-up_view aerial_shot overhead_shot wide_shot macro_shot close-up_shot"
)
# What else is said of a medium before its noun.
FRAMING = words(
    "body half-body length and oil digital pencil charcoal ink pen crayon pastel acrylic line pixel concept clip "
    "child 's stock product book cover studio street night film movie dslr 2d good nice great amazing blurry candid "
    "professional color colour hand-drawn iphone medium full extreme side front top back wide up close one two hd "
    "very highly ultra hyper bird eye comic watercolor satellite security camera polaroid"
)
MOOD_NOUNS = words("mood atmosphere vibe vibes ambience feeling")
EMPTY_MEDIA = words("image picture scene view images pictures shot")
VIEWS = words(
    "close-up closeup close_up view shot aerial overhead macro wide-angle wide_angle panorama panoramic bird's-eye "
    "low-angle high-angle top-down side-view front-view back-view pov first-person isometric fisheye fish-eye "
    "full-body full_body headshot zoomed-in telephoto angle perspective bird's_eye_view from_above from_below "
    "from_behind from_the_side low_angle high_angle eye-level top_view side_view front_view extreme_close-up "
    "drone_shot aerial_view"
)
LIGHT_AND_TIME = words(
    "night day daytime nighttime sunset sunrise dusk dawn twilight noon midday midnight evening morning afternoon "
    "golden_hour blue_hour daylight sunlight moonlight candlelight backlighting lighting light volumetric rim ambient "
    "neon_lights studio_lighting soft_light"
)
MOODS = words(
    "eerie peaceful moody dreamy gloomy serene ominous spooky creepy cheerful whimsical mysterious romantic nostalgic "
    "melancholic epic dramatic tranquil cozy atmospheric ethereal haunting joyful uplifting horror scary majestic "
    "calm mood atmosphere vibe ambience aesthetic"
)
QUALITIES = words(
    "shallow_depth_of_field long_exposure double_exposure unreal_engine_5 lowres 4k 8k hd uhd hdr 16k 2k detailed "
    "highly_detailed ultra_detailed masterpiece high_quality best_quality sharp_focus sharp high_resolution hi-res "
    "award-winning award_winning intricate trending_on_artstation artstation hyperdetailed trending professional "
    "quality resolution detail details dof bokeh depth_of_field 35mm unreal_engine octane_render octane "
    "hyperrealistic photorealistic ultrarealistic realistic stunning beautiful unreal 50mm 85mm dslr hyper-realistic "
    "high_detail extremely_detailed cinematic ultra-detailed 3d 4d ultra_hd focus hyper raytracing ray_tracing vray "
    "cgi"
)
GLOBAL_STYLES = words(
    "impressionist impressionism cyberpunk steampunk minimalist minimalistic surreal surrealism surrealist abstract "
    "expressionist cubist cubism baroque renaissance gothic anime manga pixar disney ghibli studio_ghibli vaporwave "
    "synthwave art_deco art_nouveau pop_art pixel_art low_poly noir film_noir retro vintage photorealism hyperrealism "
    "realism fantasy sci-fi science_fiction futuristic psychedelic graffiti flat_design isometric line_art vector "
    "cartoon comic ukiyo-e pointillism dieselpunk solarpunk concept_art digital_art digital_painting monochrome "
    "black_and_white black-and-white sepia grayscale in_black_and_white matte_painting claymation stop_motion "
    "photography fine_art conceptual post-apocalyptic dystopian rococo romanticism"
)
ARTISTS = words(
    "artgerm greg_rutkowski alphonse_mucha mucha klimt gustav_klimt van_gogh vincent_van_gogh picasso pablo_picasso "
    "monet claude_monet salvador_dali dali rembrandt vermeer da_vinci leonardo_da_vinci michelangelo caravaggio "
    "hokusai hieronymus_bosch h.r._giger giger beksinski zdzislaw_beksinski moebius james_jean simon_stalenhag wlop "
    "ross_draws ansel_adams annie_leibovitz andy_warhol warhol banksy basquiat frida_kahlo magritte rene_magritte "
    "edward_hopper norman_rockwell thomas_kinkade bob_ross craig_mullins frank_frazetta frazetta hayao_miyazaki "
    "makoto_shinkai kandinsky matisse cezanne degas renoir turner munch edvard_munch botticelli raphael gustave_dore "
    "peter_mohrbacher ilya_kuvshinov loish magali_villeneuve tim_burton wes_anderson ghibli stanley_artgerm_lau "
    "takashi_murakami"
)

TIMES = words(
    "night day daytime nighttime sunset sunrise dusk dawn twilight noon midday midnight golden_hour blue_hour "
    "moonlight daylight morning evening afternoon sunlight candlelight"
)
SEEN_FROM = words(
    "seen_from_above seen_from_below seen_from_behind seen_from_the_side seen_from_the_front seen_from_afar "
    "viewed_from_above viewed_from_below viewed_from_behind from_above from_below from_afar from_a_distance"
)
IN_STYLE = words("in_the_style_of in_style_of in_the_manner_of styled_after styled_like inspired_by in_the_style")
MADE_BY = words(
    "painted drawn designed photographed illustrated sculpted directed taken created art artwork photo photography "
    "illustration painting made shot rendered portrait work"
)

# ---- words between phrases -----------------------------------------------------------------------------------------

SUBJECTS = words("he she it they we you i")
STARTERS = ARTICLES | DEFINITE | SUBJECTS | words("there one two three four five six seven eight nine ten some")
RELATIVE = words("who which that where whose")
RESUMING = words("the one its his her their each another both some")
FINITE = words("is are was were has have 's wears holds")
# How a part of the body is held: "knees bent", "right arm up straight".
HELD = words(
    "closed tied open together apart up down straight bent raised lifted forward forwards back backward backwards out "
    "outstretched extended stretched crossed away tilted turned angled pushed pointed lowered spread twisted folded "
    "arched upright overhead outward inward sideways unbent relaxed"
)
HOW = words("slightly very well almost fully completely far wide partially straight all")
LIMBS = words(
    "arm arms leg legs knee knees head hand hands foot feet torso elbow elbows chest waist side face shoulder hip"
)
# How a clause about a pose begins: "head up, left arm bent".
POSES = words(
    "left right both arm arms leg legs knee knees head hand hands foot feet torso body elbow elbows back shoulder "
    "shoulders hip hips waist chest chin face eyes wrist wrists ankle ankles buttocks"
)
NOT_IN_PHRASE = words(", and or also only just even not_only but too then")
JOINERS = words("and or with while but nor no")
AFTER_PHRASE = words(
    ", . and or but while who which that is are was were has have as then when where with without looking"
)
IN_NAMES = words("of the de la van der von da di and's")
OPENERS = words(
    "a an the this that these those two three four five six seven eight nine ten some many several few there here in "
    "on at with while when it he she they we i you photo photograph picture image painting drawing portrait "
    "illustration one his her their its my our young old large small big little tall red blue green yellow black "
    "white brown close-up aerial view group set man woman boy girl people men women children kids dogs cats people's "
    "no both each every all"
)
FIRST_OF_NAMES = words("new san los las saint north south east west big great old golden white red black blue iron")
NEVER_NAMES = words("i a an the and of in on with at to for by is are tv ar")

# ---- nouns that are no things --------------------------------------------------------------------------------------

# They name a part of space, a manner or nothing at all.
NO_THINGS = words(
    "viewer nothing everything anything solo being left right top bottom middle center centre side front back way lot "
    "kind type sort style manner fashion background foreground distance air midair one ones other others time times "
    "thing_of order direction case addition general total color colour colors colours size sizes shape shapes kinds "
    "types sorts number numbers look effect angle detail details height width length amount ease fun use sense rest "
    "example instance motion flight action variety part parts half ago sight display pose focus mid-air presence "
    "return preparation midst process sides ways beginning end turn turns"
)
GROUNDS = words("background foreground backdrop")
PRONOUNS = words(
    "it you they them he she him her its his their theirs hers himself herself itself themselves each_other "
    "one_another both who which that whom whose"
)
PERSONAL = words("he she him her his hers himself herself")
PLURAL_PRONOUNS = words("they them their theirs themselves both each_other one_another")
# Somebody whom nothing before has named.
PEOPLE = {
    **dict.fromkeys(("he", "him", "himself"), "man"),
    **dict.fromkeys(("she", "herself"), "woman"),
    "you": "person",
}
PEOPLE_PRONOUNS = words("someone somebody anyone anybody everyone everybody")
ING_NOUNS = words(
    "building painting ring king ceiling wing string clothing railing earring wedding swing spring thing lightning "
    "evening morning drawing icing duckling dumpling sling awning bedding frosting stuffing earrings paintings "
    "buildings rings wings kings crossing landing lighting pudding briefing writing lettering covering setting "
    "carving stocking viking herring sibling darling filling topping flooring siding tubing wiring clearing opening "
    "meeting parking drawings railings strings ceilings carvings"
)


def kind_of(word: str) -> str | None:
    """The kind of attribute that a word names, if it is one we know."""
    return KIND_OF_ATTRIBUTE.get(word)


def longest(phrases: Iterable[str]) -> int:
    """Words in the longest phrase."""
    return max(len(phrase.split()) for phrase in phrases)
