"""The words of instructions: how a wish is opened, what each verb asks for, what names the whole picture."""

from __future__ import annotations

import re

from onprompt.language import lexicon as lex
from onprompt.language.lexicon import words


def phrases(text: str) -> tuple[str, ...]:
    """One phrase a line or between semicolons; `(a|b)` stands for either."""
    return tuple(way for part in re.split(r"[;\n]", text) for way in ways(" ".join(part.split())) if way)


def ways(phrase: str) -> list[str]:
    """All phrases that a notation with `(a|b)` stands for."""
    choice = re.search(r"\(([^()]*)\)", phrase)
    if not choice:
        return [phrase]
    before, after = phrase[: choice.start()], phrase[choice.end() :]
    return [way for each in choice[1].split("|") for way in ways(before + each + after)]


# ---- how an instruction opens and closes ---------------------------------------------------------------------------

# Said before a verb of editing; nothing is lost without it.
POLITE = frozenset(phrases("""
    please; kindly; now; next; also; finally; first; second; lastly; ok; okay; hey; hi; hello; so; just; maybe; perhaps
    oh; and; but; then; additionally; again; simply; plus; yes; well; after that; afterwards; if possible; as well
    (could|can|would|will) (you|u|we|i); (could|can|would|will) you please; you (should|could|can|must)
    i (want|need) you to; i (would|'d) (like|love) you to; i (want|need) to; i (would|'d) (like|love) to
    we (should|could); let us; let 's; try to; try; go ahead and; do you mind; would you mind; is it possible to
    would it be possible to; be sure to; how about we; why do n't (we|you); i think (you|we) should; you need to
    we need to; i 'm going to; help me; help me to; can you help me; what if (we|you|i); how about; what about
    consider; (in|on|for) (the|this) (image|picture|photo); i would; i 'd; let me
"""))  # fmt: skip
# Said before what should be seen.
WISHES = frozenset(phrases("""
    what if; how about; what about; imagine; imagine that; imagine if; suppose; suppose that; pretend; i wish
    i (want|need|wish|prefer|expect); i want (to see|that|to have); i (would|'d) (like|love|prefer); we (want|need)
    i (would|'d) (like|love) (to see|to have|it if); i (would|'d) rather have; (could|can|may) (we|i) (have|see)
    it (would|'d) be (nice|nicer|better|great|cool|good|best|fun|lovely|perfect|interesting) if; see; show me
    it (would|'d) be (nice|nicer|better|great|cool|good|best|fun|lovely|perfect) to (have|see); let me see
    it (would|might) look better if; would it (be|look) (better|nicer) if; i wonder if; make sure; make sure that
    ensure; ensure that; i think (it|there) (would|should) be; (image|picture|photo|scene) with
    (edit|change|modify|alter) (the|this) (image|picture|photo) (so that|so|such that|to show|to have)
    the (image|picture|photo|scene) should (show|have|contain|include)
    (it|this) should (show|have|contain|include); we should (have|see); what would it look like if
    how would it look if; (it|this) needs
"""))  # fmt: skip
FAREWELLS = phrases("please; thanks; thank you; now; instead; too; as well; if possible; for me; if you can; ok; again")
IN_PICTURE = phrases("""
    (from|in|to|into|of) (the|this|my|that|your) (image|picture|photo|photograph|pic)
    (from|in|to|into) (the|this|that) (whole image|entire image|scene)
""")
BUT = words("without but keeping leaving")  # a new operation, though no "and" stands before it

# ---- verbs ---------------------------------------------------------------------------------------------------------

VERBS: dict[str, tuple[str, ...]] = {
    "REMOVE": phrases("""
        remove; delete; erase; eliminate; get rid of; take (away|out|off); (cut|crop|edit|paint|photoshop|rub|pull) out
        clear (away|out); wipe (out|away|off); omit; exclude; leave out; discard; lose; ditch; do away with; hide
        scrap; dispose of; throw (away|out); strip away; cut off; clean off; clean up; subtract; banish
    """),
    "TAKE": phrases("take; get; throw; cut; crop; edit; photoshop; clear; wipe; leave; pull"),
    "AWAY": phrases("away; out; off"),
    "ADD": phrases("""
        add; insert; include; introduce; create; generate; draw; attach; edit; edit in; photoshop in; photoshop; append
        superimpose; overlay; plant; build; install; throw in; sprinkle; bring in; add in; put in; fit; scatter
    """),
    "PUT": phrases("put; place; set; position; lay; stick; park; seat; stand; hang; drop; pop; bring"),
    "MOVE": phrases("""
        move; shift; relocate; drag; slide; push; pull; reposition; transfer; nudge; raise; lower; lift; bring; send
    """),
    "TURN": phrases("rotate; flip; mirror; tilt; spin; invert; turn"),
    "ROTATE": phrases("rotate; flip; mirror; tilt; spin; invert"),
    "REPLACE": phrases("replace; substitute; swap; switch; exchange; trade; swap out; switch out; interchange"),
    "SWAP": phrases("swap; switch; exchange; interchange"),
    "CHANGE": phrases("change; turn; transform; convert; morph; modify; alter; switch; adjust; update; edit; set"),
    "MAKE": phrases("make; have; let; get; render; show; leave; turn; set"),
    "PAINT": phrases("paint; color; colour; dye; tint; recolor; recolour; repaint; shade; tinge; spray; spray paint"),
    "GROW": phrases("""
        enlarge; expand; magnify; grow; scale up; blow up; extend; stretch; lengthen; widen; upscale; increase
    """),
    "SHRINK": phrases("shrink; reduce; scale down; downsize; minimize; minimise; shorten; narrow; decrease"),
    "WRITE": phrases("write; print; engrave; inscribe; type; spell; spell out; carve; stamp"),
    "MULTIPLY": phrases("duplicate; clone; copy; double; triple; multiply"),
    "STYLE": phrases("stylize; stylise; restyle; render; redraw; repaint; reimagine; draw; paint; depict; redo; style"),
    "COVER": phrases("fill; fill in; fill up; cover; surround; decorate; top; adorn; wrap; line; stuff; load"),
    "DO": phrases("""
        open; close; shut; light; empty; break; fold; unfold; peel; slice; cut; cook; melt; freeze; wet; dry; tie; untie
        straighten; bend; lock; unlock; crack; tear; burn; ignite; clean; wash; tidy; smash; split; stack; wake; raise
        age; inflate; deflate; crush; squash; sharpen; blur; brighten; darken; lighten; lower
    """),
    "KEEP": phrases("""
        without (changing|touching|altering|affecting|modifying|moving|removing|editing|replacing)
        (do n't|do not|never) (change|touch|alter|affect|modify|move|remove|edit|replace)
        keep; keeping; leave; leaving; preserve; preserving; retain; retaining; maintain; maintaining
    """),
    "ALONE": phrases("alone; as is; as (it is|they are); untouched; unchanged; intact; in place; the same; there"),
    "COLOR": phrases("color; colour; colors; colours; hue; shade"),
    "TO": phrases("to; into; in to; to be; to become; to look like"),
    "WITH": phrases("with; by; for; to; into"),
    "BE": phrases("""
        is; are; was; were; be; became; becomes; turned into; turned to; turned; turns into; looked; looked like; got
        (should|could|would|must|will|can|to|needs to|need to|has to|have to) (be|become|turn into|look|look like)
        should all be; were all; are all; is now; are now
    """),
    "NOT": phrases("(is|are|was|were) (not|n't); (should|could|would|must|can) (not|n't) be"),
    "HAVE": phrases("has; have; had; (should|could|would|must|to) have; needs; need; should get; got"),
    "WOULD": phrases("should; could; would; must; will; can; might; has to; have to; needs to; need to; to; ought to"),
    "ON": phrases("on; onto; in; into; inside; at; above; over; below; under; across; to; upon; on to"),
    "LESS": phrases("reduce; decrease; halve; lower; cut; limit"),
}
# Those with which an instruction may begin.
BEGINNING = words("REMOVE ADD PUT MOVE TURN REPLACE CHANGE MAKE PAINT GROW SHRINK WRITE MULTIPLY STYLE COVER KEEP DO")
IRREGULAR = {
    **{"took": "take", "made": "make", "gave": "give", "wrote": "write", "drew": "draw", "threw": "throw"},
    **{"got": "get", "hid": "hide", "grew": "grow", "shrank": "shrink", "making": "make", "putting": "put"},
}

# What an instruction may say, the narrowest first → what is done. One capital letter stands for words that are
# captured, several for a list of verbs, `_` for words that do not matter; `a/b` is either, `a?` may be missing.
RULES = """
keep/leave only/just X                                  = only
only/just keep/leave X                                  = only
KEEP X ALONE                                            = keep
KEEP X                                                  = keep
do/please not/n't Y                                     = denied
REMOVE everything/everyone/all except/but for? X        = only
CHANGE/increase/raise/LESS the? number/amount of X from _ to Y = count
CHANGE the? number/amount of X to/from Y                = count
increase/raise/LESS the? number/amount of X to Y        = count
increase/raise/double/triple the? number/amount of X    = more
LESS the? number/amount of X                            = fewer
WRITE Y ON X                                            = write
WRITE Y                                                 = write
CHANGE the COLOR of X from _ to/into Y                  = colour
CHANGE the COLOR of X TO Y                              = colour
CHANGE X 's? COLOR from _ to/into Y                     = colour
CHANGE X 's? COLOR TO Y                                 = colour
CHANGE the COLOR of X                                   = colour
CHANGE/GROW/SHRINK/double/halve the? size/height/width/length of X = scale
GROW/SHRINK/resize/scale X to/by/until Y                = scale
GROW/SHRINK/resize X                                    = scale
scale/size/blow X up/down                               = scale
zoom in/out on/to/from? X                               = zoom
zoom in/out                                             = zoom
substitute Y for X                                      = replace
swap/switch in Y for X                                  = replace
REPLACE X out? WITH Y                                   = replace
change X for Y                                          = replace
SWAP the? places/positions of X and Y                   = swap
SWAP X and Y                                            = swap
CHANGE X from _ TO Y                                    = become
dress X up? in/as Y                                     = dress
STYLE X as/like Y                                       = restyle
STYLE X in the? style of Y                              = restyle
STYLE X in/with Y                                       = paint
apply/use/add a/an/the? Y style/filter/effect/look to X = restyle
apply/use/add a/an/the? Y style/filter/effect/look      = restyle
apply Y to X                                            = restyle
turn/switch on/off X                                    = switch
turn/switch X on/off                                    = switch
TURN X upside down                                      = turn
TURN X sideways/around/over/backwards/horizontally/vertically = turn
ROTATE X by/to Y                                        = turn
ROTATE X 45/90/180/270 degrees                          = turn
ROTATE X clockwise/counterclockwise/left/right          = turn
ROTATE X                                                = turn
make Y out of X                                         = built
make X into Y                                           = become
CHANGE X TO Y                                           = become
CHANGE into/to Y                                        = picture
change/modify/alter/adjust X                            = unknown
REMOVE X                                                = remove
TAKE X AWAY                                             = remove
TAKE X out/off of/from? Y                               = remove_from
take X off/from Y                                       = remove_from
PAINT X in? Y                                           = paint
give Y to X                                             = give
give X Y                                                = give
COVER X with/in/by Y                                    = cover
MULTIPLY X                                              = more
PUT/ADD/MOVE Y where X is/are/was/were/stands/sits       = where
PUT/ADD/MOVE Y where X used to be                       = where
put/place/set/have/add Y ON X                           = text_on
MOVE X P                                                = move
move/shift/relocate/reposition/drag X                   = move
MAKE there be Y                                         = exist
MAKE X Y                                                = make
PUT Y P                                                 = put
PUT Y on/in/there/up?                                   = add
ADD Y to/onto X                                         = add_to
ADD Y                                                   = add
MAKE Y                                                  = add
fill in/up X                                            = unknown
DO X by Y                                               = done
DO X                                                    = done
"""

# Descriptions of what should be seen.
DESCRIPTIONS = """
there NOT Y                                             = absent
there BE Y                                              = exist
there 's Y                                              = exist
i/we do not/n't want/need/like any/to? X                = absent
no more/longer? X                                       = absent
without/not any/a/an? X                                 = absent
only/just X BE Y                                        = become
only/just/exactly/precisely Y                           = exist
with/having/wearing Y                                   = with
as/like Y                                               = picture
X BE replaced/swapped/exchanged/substituted WITH Y      = replace
X BE changed/turned/transformed/converted/made to/into Y = become
X BE painted/colored/coloured/dyed Y                    = become
X BE moved/placed/put/shifted P                         = move
X NOT Y                                                 = unlike
X BE not/n't Y                                          = unlike
X BE Y                                                  = become
X HAVE Y                                                = give
X WOULD Y                                               = act
X turn/turns/become/becomes Y                           = become
more Y                                                  = more
fewer/less X                                            = fewer
"""

# ---- what is meant -------------------------------------------------------------------------------------------------

PICTURE = words(
    "image picture photo photograph pic it this everything scene frame shot view season weather time mood day "
    "colors colours tones"
)
GROUND = words("background backdrop setting surroundings scenery location environment")
PRONOUNS = words("it them him her he she they this that these those one ones himself herself itself")
ALONE = words("it them him he she they himself herself itself")  # never before a noun
PEOPLE = {"him": "man", "he": "man", "her": "woman", "she": "woman"}
OWNERS = words("his her its their my your our")
EVERY = words("all every each both")
ANYTHING = words("something anything thing stuff nothing change")
MODALS = words("should must needs need could would can want")
MORE = words("more extra additional another")
SHARES = words("half most some part third quarter")  # of what is there
VAGUELY_MANY = words("few many several couple dozen lot")
GONE = words("gone removed deleted erased disappear vanish disappeared vanished missing absent invisible away")
UNTOLD = words("undo redo revert reset retry fix restore enhance improve retouch")  # nothing says what to see
BETTER = words("better nicer good nice cool cooler prettier pretty beautiful interesting perfect great")

SIZES = words(
    "bigger larger smaller taller shorter longer wider narrower thicker thinner huge tiny giant gigantic enormous big "
    "large small little massive miniature mini oversized fatter slimmer life-size life-sized tall short long wide"
)
TIMES = words("twice half double triple thrice")
GROWING = frozenset(VERBS["GROW"]) | words("double triple scale_up size_up blow_up")
SHRINKING = frozenset(VERBS["SHRINK"]) | words("halve scale_down size_down")
SHADES = words("darker lighter brighter paler warmer cooler")
COLOUR_NOUNS = words("color colour colors colours hue shade tone")
AROUND_COLOURS = words("and , a an the in of or")
LIGHTS = words("traffic street night stop brake tail ceiling signal flash pilot")  # lights, not light colours
ANY_COLOUR = words("different another other new random")
LOOKS = words("style material pattern shape lighting")
SEASONS = words("winter spring summer autumn fall christmas halloween easter wintertime summertime springtime")
WEATHER = words(
    "snowy rainy foggy sunny stormy cloudy misty windy overcast snowing raining snow rain wintry thunderstorm hazy"
)
AROUND_TIMES = words("in at during time season day")
MEDIA = words("painting drawing sketch illustration artwork engraving mosaic poster cartoon")
EFFECTS = words("style filter effect look aesthetic theme mode lighting vibe")

QUALITIES = words("brightness contrast saturation exposure lighting sharpness resolution quality warmth")
HEDGES = words(
    "all more much very bit little lot slightly completely entirely totally fully really quite way far even appear "
    "look seem be become to now turn turned both rather somewhat extremely super too into"
)
FACES = words("bold bolder italic italics underlined cursive legible readable uppercase lowercase handwritten")
BECOMING = words("be become turn turned look appear seem")
FACING = words("look looking turn turning turned face facing point pointing")
PARTICLES = words("on off at for around over out up down through in toward towards")
SAYING = words("say says read reads spell spells display displays saying reading show")
BUILT = words("made covered filled full surrounded decorated topped")
SURE_VERBS = words(
    "be wear hold have look say stand sit become appear turn smile laugh cry ride eat drink jump run fly read sleep "
    "lie carry wave kiss hug throw catch disappear vanish dance play face lick walk swim climb kneel touch contain "
    "show get go lean chase bark yawn wink frown pet feed push pull kick blow drive float glow melt burn"
)
NO_PLACES = words(
    "with of than as like for about per via during instead_of rather_than in_place_of made_of made_from made_out_of "
    "covered_with covered_in filled_with full_of surrounded_by decorated_with topped_with"
)
PLACES = frozenset({*lex.RELATIONS, *lex.POSITIONS}) - NO_PLACES
PLACE_WORDS = words(
    "closer nearer farther further away back forward up down left right higher lower apart together upwards here there"
)
# How a thing is after a deed, where the verb does not end in -ed; and what a deed changes if not what a thing does.
STATES = {
    **{verb: verb for verb in ("cut", "shut", "split", "empty", "clean", "dry", "wet", "tidy", "open")},
    **{"close": "closed", "break": "broken", "freeze": "frozen", "tear": "torn", "light": "lit", "bend": "bent"},
    **{"blur": "blurred", "age": "older", "wake": "awake", "burn": "burning", "spin": "spun"},
    **{"darken": "darker", "brighten": "brighter", "lighten": "lighter"},
}
SWITCHED = {
    **{f"{before}{way}": f"turned {way}" for way in ("on", "off") for before in ("", "turned ", "switched ", "switch ")}
}
DEEDS = {
    **dict.fromkeys(("blur", "sharpen"), "restyle"),
    **dict.fromkeys(("brighten", "darken", "lighten"), "recolour"),
}
