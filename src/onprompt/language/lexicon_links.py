"""The words that link: relations, places, absences, what can be read, pronouns, and nouns that name no thing."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language.lexicon import spelt, words

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

# ---- words between phrases -----------------------------------------------------------------------------------------

SUBJECTS = words("he she it they we you i")
STARTERS = lex.ARTICLES | lex.DEFINITE | SUBJECTS | words("there one two three four five six seven eight nine ten some")
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
