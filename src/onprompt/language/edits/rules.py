"""The rules that the patterns name: each makes edits of the phrases that its pattern captures.

Most say something of a thing ("the lamp is turned on") and let the prompt parser read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import things as graph
from onprompt.language.edits.clauses import is_command
from onprompt.language.edits.patterns import COMMANDS, DESCRIPTIONS, Match, matches
from onprompt.language.edits.phrase import CLOCK_TIME, Phrase, place_start, starts_place
from onprompt.language.edits.things import EMPTY, Target, resolve, single, split_share
from onprompt.language.ontology import broader, canonical
from onprompt.language.parser import parse
from onprompt.language.quantities import quantity
from onprompt.language.words import progressive, singular, vocabulary
from onprompt.settings import Settings
from onprompt.types import Attribute, Count, Edit, Scene, Thing

# Confidence in a reading: a verb of editing, a wish, a description of the result, a mere phrase, nothing to go by.
COMMAND, WISH, DESCRIPTION, PHRASE, UNCLEAR = 1.0, 0.9, 0.7, 0.5, 0.2
MISSPELT = 0.8  # as in the prompt parser
NO_RESULT = 0.6  # at most, where nothing says what should be seen
NOTHING_TO_DO, RELATIVE = "nothing to do", ("relative count",)
NEEDS_TARGET = frozenset(("remove", "replace", "recolor", "resize", "move", "action"))
SOME_TEXT = Count(1, None)
SOME, ANY_LEFT = Count(1, None, confidence=0.5), Count(0, None, confidence=0.5)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of an instruction."""

    settings: Settings
    written: str
    command: Phrase  # without its politeness and pronouns
    confidence: float
    flags: tuple[str, ...] = ()

    def parse(self, text: str) -> Scene:
        """The scene that a phrase describes."""
        return parse(text, self.settings)

    def resolve(self, phrase: Phrase, text: str = "") -> list[Target]:
        """What words refer to, a target for each thing."""
        return resolve(phrase, self.settings, text)

    def at_most(self, confidence: float) -> Operation:
        """The same operation, with less confidence."""
        return replace(self, confidence=min(self.confidence, confidence))

    def edit(
        self, operation: str, target: Target, result: Scene = EMPTY, value: str = "", flags: Iterable[str] = ()
    ) -> Edit:
        """One edit, with the confidence and the flags of its parts."""
        pronoun = ("pronoun",) if target.scene.prompt == "her" else self.flags
        pronoun = () if operation == "restyle" and target.whole else pronoun  # "make it night": the picture
        targetless = not (target.thing or target.whole or pronoun or target.scope == "all others")
        misspelt = any(unit.misspelt for unit in self.command.units)
        placeless = operation == "move" and not result.things
        raised = {
            "no target": targetless and operation in NEEDS_TARGET and target.scope == "",
            "misspelling repaired": misspelt,
            "no result": placeless,
        }
        things = (*target.scene.things, *result.things)
        factors = [1.0, *(thing.confidence for thing in things), MISSPELT if misspelt else 1.0]
        factors.append(NO_RESULT if placeless else 1.0)
        said = sorted({*target.scene.flags, *result.flags} - {"no objects"})
        return Edit(
            *(operation, self.written, target.thing, target.scene, target.scope, value, result),
            confidence=round(self.confidence * min(factors), 2),
            flags=tuple(dict.fromkeys((*pronoun, *flags, *said, *(flag for flag, holds in raised.items() if holds)))),
        )

    def with_attributes(
        self, operation: str, targets: list[Target], attributes: list[Attribute], value: str
    ) -> list[Edit]:
        """An edit for each thing, with other attributes."""
        return [
            self.edit(
                "background" if each.is_background and operation != "move" else operation,
                each,
                graph.with_attributes(each.scene, attributes) if each.thing else EMPTY,
                value,
            )
            for each in targets
        ]

    def saying(self, operation: str, targets: list[Target], predicate: str, value: str = "") -> list[Edit]:
        """An edit for each thing, with what a sentence says of it."""
        return [self.edit(operation, each, self.said(each.scene, predicate), value) for each in targets if each.thing]

    def said(self, scene: Scene, predicate: str) -> Scene:
        """A scene and what a sentence says of its first thing; the same scene where the parser loses that."""
        head = scene.things[0]
        said = self.parse(f"{graph.definite_phrase(head)} {predicate}")
        names = [thing.canonical for thing in said.things]
        known = head.canonical in names
        return graph.joined(scene, graph.subgraph(said, names.index(head.canonical)), same=True) if known else scene

    def unclear(self, phrase: Phrase, target: Target | None = None) -> list[Edit]:
        """An operation that no rule understands."""
        return [self.at_most(UNCLEAR).edit("other", target or Target(), value=phrase.text, flags=["not understood"])]


# -- what is there ----------------------------------------------------------------------------------------------------


def add(context: Operation, value: Phrase) -> list[Edit]:
    """`add a dog`; also a text, a style, a background, and more of the same."""
    if value.is_text:
        cut = place_start(value.words) or len(value)
        return write(context, value.part(0, cut), value.part(cut + 1) or None)
    if set(value.words) <= ed.PICTURE | lex.DEFINITE:
        return context.unclear(value)
    if style_of(value):
        return restyle(context, value)
    if background := before_background(value):
        return set_background(context, value, background)
    if value.more_at is not None:
        return count_more(context, value)
    scene = context.parse(value.text)
    if scene.things and scene.things[0].canonical not in ed.ANYTHING:
        return show(context, scene)
    return [context.edit("restyle", Target(), scene, value.text)] if scene.properties else []


def show(context: Operation, scene: Scene) -> list[Edit]:
    """The things of a scene; where all others are there already, those that are absent are to go."""
    absences = [at for at, thing in enumerate(scene.things) if thing.absent]
    if not absences or any(not thing.absent and not graph.is_given(thing) for thing in scene.things):
        return [context.edit("add", graph.anchor(scene), scene)]
    present = replace(scene, things=tuple(replace(thing, absent=False) for thing in scene.things))
    return [context.edit("remove", Target(graph.subgraph(present, at)), graph.subgraph(scene, at)) for at in absences]


def add_to(context: Operation, value: Phrase, target: Phrase) -> list[Edit]:
    """`add a hat to the man`; but "to the left of the man" and "next to the man" are places."""
    side = target.words[0] == "the" and target.word_at(1) in lex.SIDES | {"side", "upper", "lower", "far"}
    return [] if side or f"{value.words[-1]} to" in lex.RELATIONS else give(context, target, value)


def give(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """Something is added to something, or a part of it changes: `blonde hair`."""
    if value.is_text:
        return write(context, value, target)
    if value.more_at is not None:
        return count_more(context, value)
    targets, edits = context.resolve(target), []
    if targets[0].thing is None:
        return add(context, value)
    for each in targets:
        result = context.said(each.scene, f"with {value.text}")
        body = next((thing for thing in result.things[1:] if thing.canonical in lex.BODY_PARTS), None)
        kinds = {attribute.kind: attribute.value for attribute in body.attributes} if body else {}
        operation = "recolor" if "color" in kinds else "add"  # a part of the body that is only colored is not new
        edits.append(context.edit(operation, each, result, kinds.get("color", value.text if kinds else "")))
    return edits


def exist(context: Operation, value: Phrase) -> list[Edit]:
    """`there should be three dogs`, `there should be no dog`."""
    if value.words[0] in {"no", "not", "n't"}:
        return remove(context, value.part(1)) if len(value) > 1 else []
    wanted = quantity(value.words, 0, context.settings)
    exactly = bool(ed.ONLY & set(context.command.words)) or (wanted and wanted.exact != 1)
    if wanted and wanted.explicit and exactly and value.more_at is None:
        return count(context, value, value)
    return add(context, value)


def remove(context: Operation, target: Phrase, value: Phrase | None = None) -> list[Edit]:
    """`remove the car`, `take the hat off the man`; `remove one of the cars` leaves some."""
    while target.words[0] in {"any", "more", "longer", "see"} and len(target) > 1:
        target = target.part(1)
    (share, _), edits = split_share(target), []
    context = context.at_most(NO_RESULT) if share else context
    for each in context.resolve(target, f"{target.text} on {value.text}" if value else ""):
        if each.thing is None:
            return [context.edit("remove", each)]
        gone = graph.with_head(each.scene, absent=True)
        if each.is_background:
            edits.append(context.edit("background", each, gone, "removed"))
        else:
            edits.append(remove_some(context, each, target, share) or context.edit("remove", each, gone))
    return edits


def keep_some(context: Operation, value: Phrase, target: Phrase | None = None) -> list[Edit]:
    """`keep only the dog`, `remove all cups except the red one`: the others go; `leave only two dogs` counts."""
    kept, of = context.resolve(value), context.resolve(target)[0] if target else Target()
    if not kept[0].thing or (target and not of.thing):
        return []
    if not target and kept[0].thing.count.explicit and not value.is_definite:
        return count(context, value, value)
    scene = kept[0].scene
    for each in kept[1:]:
        scene = graph.joined(scene, each.scene)
    keep = tuple(each.thing for each in kept if each.thing)
    return [replace(context.edit("remove", replace(of, scope="all others"), scene), keep=keep)]


def keep(context: Operation, target: Phrase) -> list[Edit]:
    """`without changing the sky`: an edit of its own, which ends in the `keep` of the others."""
    wanted = quantity(target.words, 0, context.settings)
    if wanted and wanted.explicit and context.command.words[0] in {"keep", "leave"}:  # leave two cups
        return keep_some(context, target)
    vague = {"everything", "rest"} & set(target.words)
    things = [] if vague else [each.thing for each in context.resolve(target) if each.thing]
    return [Edit("keep", context.written, keep=tuple(things) or (Thing(target.text, target.line),))]


def nothing(context: Operation, value: Phrase) -> list[Edit]:
    """`don't add a dog`, `take the cup (and put it there)`: nothing to do yet."""
    target = context.resolve(value)[0] if value.is_definite else Target()
    return [context.at_most(UNCLEAR).edit("other", target, value=value.text, flags=[NOTHING_TO_DO])]


# -- how many ---------------------------------------------------------------------------------------------------------


def count(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """A number of something; where target and value are the same words, some are there already."""
    wanted, edits = quantity(value.words, 0, context.settings), []
    targets = context.resolve(target)[: 1 if target is value else None]
    for each in targets:
        if each.thing and wanted:
            bare = each.thing.phrase.removeprefix(wanted.words).strip() or each.thing.phrase
            some = replace(each, scene=graph.with_head(each.scene, count=SOME, phrase=bare))
            number = wanted.words if wanted.exact is None else str(wanted.exact)
            result = graph.with_head(each.scene, count=wanted)
            edits.append(context.edit("count", some if target is value else each, result, number))
    return edits


def count_more(context: Operation, value: Phrase) -> list[Edit]:
    """`two more birds`, `another cup`, `double the number of birds`."""
    at = value.more_at
    rest = value if at is None else value.part(at + 1)
    if not rest:
        return context.unclear(value)
    article = "" if at is None or singular(rest.words[-1]) != rest.words[-1] else "a "
    scene = context.parse(f"{article}{rest.text}")
    if not scene.things:
        return restyle(context, value)
    step = (ed.numeral(value.words[:at]) if at else None) or (1 if article else None)
    more = Count(step or 2, None, "" if at is None else value.part(0, at + 1).text, confidence=0.5)
    before = graph.with_head(graph.subgraph(scene, 0), count=SOME)
    number = f"+{step}" if step else "more"
    return [context.edit("count", Target(before), graph.with_head(before, count=more), number, RELATIVE)]


def fewer(context: Operation, target: Phrase) -> list[Edit]:
    """`fewer birds`."""
    changed = [(each, graph.with_head(each.scene, count=ANY_LEFT)) for each in context.resolve(target) if each.thing]
    return [context.edit("count", each, left, "fewer", RELATIVE) for each, left in changed]


def remove_some(context: Operation, target: Target, phrase: Phrase, share: str) -> Edit | None:
    """`remove half of the people`, `remove two of the chairs`; of "the four chairs" two are left."""
    there = target.scene.things[0].count
    if share and there.exact == 1:  # half of one thing can't be counted
        return context.edit("remove", target, value=share, flags=["in part"])
    listed = there.exact if there.explicit and ed.numeral(phrase.words[:1]) else None
    number = (ed.numeral(target.scope.split()[:1]) if target.scope else None) or listed
    present = ed.numeral(phrase.words[3:4]) if phrase.words[1:3] == ("of", "the") else None
    if not share and number and present and present >= number:
        left = Count(present - number, present - number, explicit=True)
        before = graph.with_head(target.scene, count=Count(present, present, phrase.words[3], explicit=True))
        after = graph.with_head(target.scene, count=left)
        return context.edit("count", replace(target, scene=before), after, str(left.low))
    if not share and not number:
        return None
    after = graph.with_head(target.scene, count=SOME if share else ANY_LEFT)
    return context.edit("count", target, after, share or f"-{number}", RELATIVE)


# -- how it looks -----------------------------------------------------------------------------------------------------


def restyle(context: Operation, value: Phrase, target: Phrase | None = None) -> list[Edit]:
    """A thing or the whole picture in a style, season or time of day; else a thing in place of the picture's."""
    each = context.resolve(target)[0] if target else Target(whole=True)
    if each.thing:
        return context.with_attributes("restyle", [each], [Attribute("style", value.line)], value.text)
    bare = value.part(value.words[0] in {"as", "like"} and len(value) > 1).without_hedges()
    named = target is not None or bare.words[-1] in ed.MEDIA
    style = style_of(bare) or ((Attribute("style", bare.part(bare.words[0] in lex.ARTICLES).line),) if named else ())
    if not style:
        return replace_things(context, [Target(whole=True)], bare)
    return [context.edit("restyle", Target(whole=True), Scene(value.text, properties=style), value.text)]


def style_of(phrase: Phrase) -> tuple[Attribute, ...]:
    """What words say of the picture as a whole, where they say nothing else."""
    effect = phrase.words[-1] in ed.EFFECTS and len(phrase) > 1
    described = [attribute for attributes in phrase.described.values() for attribute in attributes]
    looks = effect or any(attribute.kind not in {"other", "state"} for attribute in described)
    style = (Attribute("style" if looks else "mood", phrase.line),) if effect or described else ()
    return phrase.picture_properties or style


def change(context: Operation, operation: str = "background", *, target: Phrase) -> list[Edit]:
    """`change the background`, `resize the dog`: how is not said."""
    targets = context.resolve(target)
    if operation == "background" and not targets[0].is_background:
        return context.unclear(target, targets[0])
    return [context.edit(operation, each, each.scene, flags=["no value"]) for each in targets]


def recolor(context: Operation, otherwise: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """`change the color of the car to red`, `paint the door red`; of a picture, or `otherwise`, it is a style."""
    targets, colors = context.resolve(target), value.described.get("recolor", [])
    if (otherwise and not colors) or (targets[0].whole and not context.flags):
        return restyle(context, value, target)
    return context.with_attributes("recolor", targets, colors or [Attribute("color", value.line)], value.text)


def set_background(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """The background as something else."""
    background = Target(single(target.text, "background"))
    if attributes := [attribute for named in value.described.values() for attribute in named]:
        return context.with_attributes("background", [background], attributes, value.text)
    return [context.edit("background", background, context.parse(f"{value.text} in the background"), value.text)]


def before_background(phrase: Phrase) -> Phrase | None:
    """What a background shows: `a beach background` → `a beach`."""
    before = phrase.words[-2] if len(phrase) > 1 else "the"
    shown = phrase.words[-1] in ed.BACKGROUND and before not in ed.DEFINITE_OR_ARTICLE
    return phrase.part(0, len(phrase) - 1) if shown and before not in lex.RELATIONS else None


def write(context: Operation, value: Phrase, target: Phrase | None = None) -> list[Edit]:
    """Words to read, on something or anywhere."""
    text, targets = value.wording, [Target()]
    position = lex.POSITIONS.get(f"at {target.line}") if target else None
    if target and target.is_text:  # replace "A" with "B"
        targets = [Target(single(target.text, "text", SOME_TEXT, [Attribute("text", target.quoted)]))]
    elif target and not position:
        targets = context.resolve(target)
    attributes = [Attribute("text", text), *([Attribute("position", position)] if position else [])]
    blank = Scene(value.text, (Thing("text", "text", SOME_TEXT),))
    return [
        context.edit("text", each, graph.with_attributes(each.scene if each.thing else blank, attributes), text)
        for each in targets
    ]


# -- where it is and what it does -------------------------------------------------------------------------------------


def move(context: Operation, target: Phrase, place: Phrase | None = None) -> list[Edit]:
    """`move the cup to the left`: what was said of its old place no longer holds."""
    edits = []
    if place and place.words[0] == "from":  # from the table | to the floor
        place = place.part(place_start(place.words) or 0)
    for each in context.resolve(target):
        result = EMPTY
        if place and each.thing:
            attributes = tuple(attribute for attribute in each.thing.attributes if attribute.kind != "position")
            relations = tuple(relation for relation in each.thing.relations if relation.name not in lex.SPATIAL)
            bare = graph.subgraph(graph.with_head(each.scene, attributes=attributes, relations=relations), 0)
            there = context.said(bare, place.text) if len(place) > 1 else bare
            result = graph.with_attributes(bare, [Attribute("position", place.line)]) if there is bare else there
        edits.append(context.edit("move", each, result, place.text if place else ""))
    return edits


def put(context: Operation, value: Phrase, place: Phrase) -> list[Edit]:
    """`put the cup on the table` moves it, `put a cup on the table` adds it."""
    if value.is_text or not value.is_definite:
        return add(context, value.plus(place))
    if value.words[-1] in ed.PICTURE and len(place) > 1:
        return set_background(context, value, place.part(1))
    return move(context, value, place)


def take_place(context: Operation, both: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """`put the dog where the cat is`; `swap the dog and the cat`: `both` go where the other was."""
    if not (both or value.is_definite):
        return become(context, target, value)  # put a dog where the cat is
    pairs = ((target, value), (value, target)) if both else ((value, target),)
    return [context.edit("move", context.resolve(a)[0], EMPTY, f"in place of {b.text}") for a, b in pairs]


def make(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """`make the car red`, `have the woman hold a cup`, `the sign should say "EXIT"`."""
    first, rest = value.words[0], value.part(1)
    if rest and first == "not":
        return deny(context, target, rest)
    if rest and first in {"have", "has", "with"}:
        return give(context, target, rest)
    if rest and (first in ed.SAYING or (first in ed.DISPLAYING and rest.is_text)):
        return write(context, rest, target)
    return become(context, target, value, plain_verbs=True)


def act(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """`the woman should hold a cup`."""
    return make(context, target, value) if value.words[0] in vocabulary().verbs else []


def deny(context: Operation, target: Phrase, value: Phrase) -> list[Edit]:
    """`the car should not be red`, `the man should not wear a hat`."""
    value, targets = value.without_hedges(), context.resolve(target)
    denied = value.described or {"action": [Attribute("action", value.line)]}
    ruled_out = {name: [replace(each, kind=f"not {each.kind}") for each in denied[name]] for name in denied}
    edits = [context.with_attributes(name, targets, ruled_out[name], f"not {value.text}") for name in denied]
    return [edit for each in edits for edit in each if edit.target]


def become(context: Operation, target: Phrase, value: Phrase, plain_verbs: bool = False) -> list[Edit]:
    """What a thing should be or, with `plain_verbs`, do."""
    denied = next((at for at, word in enumerate(value.words) if word == "not" and at), len(value))
    value = value.part(0, denied).without_hedges()  # red, not blue
    if is_wording(target, value, plain_verbs):
        return write(context, value, target)
    if value.line in ed.GONE:
        return remove(context, target)
    if is_scenery(target, value):
        return set_background(context, target, value)
    targets, properties, described = context.resolve(target), value.picture_properties, value.described
    whole = targets[0].whole and not (context.flags and {"recolor", "resize"} & described.keys())  # make it blue
    if value.line in ed.VAGUE_ADJECTIVES:
        return context.unclear(value, targets[0])
    if value.line in ed.SWITCHED:
        return context.with_attributes("action", targets, [Attribute("state", f"turned {value.words[-1]}")], value.text)
    if properties and (targets[0].whole or not described):
        return [
            context.edit("restyle", each, replace(each.scene, properties=properties), value.text) for each in targets
        ]
    if described and not whole:
        edits = [context.with_attributes(name, targets, described[name], value.text) for name in described]
        return [edit for each in edits for edit in each]
    if ed.numeral(value.words) is not None or is_recount(context, targets[0], value):
        return count(context, target, value)
    if whole and not value.is_action(plain_verbs):
        return restyle(context, value)
    return become_more(context, target, targets, value, plain_verbs)


def become_more(
    context: Operation, target: Phrase, targets: list[Target], value: Phrase, plain_verbs: bool
) -> list[Edit]:
    """What is more than adjectives: a size, a likeness, a place, an action, another thing."""
    first, words = value.words[0], set(value.words)
    if value.is_size and not value.is_comparison:
        size = "smaller" if words & ed.SMALLER else "larger"
        return context.with_attributes("resize", targets, [Attribute("size", size)], value.text)
    if first in {"like", "as"} and len(value) > 1 and not value.is_comparison:
        return restyle(context, value, target)
    if value.line in lex.ORIENTATIONS:
        return context.with_attributes("move", targets, [Attribute("orientation", value.line)], value.text)
    if value.is_size or first in ed.BUILT:
        operation = "resize" if value.is_size else "restyle" if first == "made" else "add"
        return context.saying(operation, targets, f"is {value.text}", value.text)
    if starts_place(["", *value.words], 1) or f"to {value.line}" in lex.POSITIONS:
        return move(context, target, value)
    if value.is_action(plain_verbs):
        return [set_action(context, each, target, value) for each in targets]
    return replace_things(context, targets, value)


def replace_things(context: Operation, targets: list[Target], value: Phrase) -> list[Edit]:
    """Things in place of others, which must be gone; not if more of a kind stay, or the new ones are of that kind."""
    kind, ones = targets[0].thing, value.words[-1] in ed.ONES and len(value) > 1
    text = f"{value.part(0, len(value) - 1).text} {kind.canonical}" if kind and ones else value.text
    new, partial = context.parse(text), ed.numeral(targets[0].scope.split()[:1]) is not None
    if not new.things:
        return context.unclear(value, targets[0])
    kinds = {kind for thing in new.things for kind in (thing.canonical, *broader(thing.canonical))}
    source, result = EMPTY, new
    for each in targets:
        source = graph.joined(source, each.scene)
        if each.thing and not partial and (each.thing.attributes or each.thing.canonical not in kinds):
            result = graph.joined(result, graph.with_head(each.scene, absent=True))
    return [
        context.edit(
            "replace", replace(targets[0], scene=replace(source, flags=targets[0].scene.flags)), result, value.text
        )
    ]


def set_action(context: Operation, each: Target, target: Phrase, value: Phrase) -> Edit:
    """A thing that does something; one that is not there yet is added."""
    verb, rest = value.words[0], value.part(1)
    if each.thing is None:
        return context.edit("action", each, EMPTY, value.text)
    doing = verb if value.is_action(plain=False) else progressive(verb)
    aside = verb in ed.FACING and rest.line in lex.POSITIONS  # where it looks, not where it is
    result = each.scene if aside else context.said(each.scene, f"is {doing} {rest.text}")
    if result.things[0] == each.thing:  # the parser did not see the action
        result = graph.with_attributes(result, [Attribute("action", value.line)])
    if target.is_definite or target.words[1:2] == ("of",):
        return context.edit("action", each, result, value.text)
    return context.edit("add", graph.anchor(result), result)


def is_wording(target: Phrase, value: Phrase, adjectives: bool) -> bool:
    """Whether a value is to be read: in quotes, of a text, on a clock; but `make the text bold` is how it looks."""
    looks = value.described if adjectives else {"recolor", "resize"} & value.described.keys()
    text = singular(target.words[-1]) in lex.TEXT_NOUNS - {"logo"} and not looks and not value.is_size
    return bool(value.quoted or text or CLOCK_TIME.fullmatch(value.line))


def is_scenery(target: Phrase, value: Phrase) -> bool:
    """Whether the background is to change, or its color; `change the scene to a beach` changes it too."""
    *before, last = target.words
    colored = last in ed.COLOR_NOUNS and ed.BACKGROUND.issuperset(before[-1:])
    scene = last == "scene" and value.words[0] in lex.ARTICLES and not value.picture_properties
    return last in ed.BACKGROUND or (colored and bool(before)) or scene


def is_recount(context: Operation, target: Target, value: Phrase) -> bool:
    """Whether a number of the same things is asked for: `turn the two dogs into three dogs`."""
    wanted = quantity(value.words, 0, context.settings)
    same = target.thing is not None and canonical(value.words[-1]) == target.thing.canonical
    return same and wanted is not None and wanted.explicit and len(value) == len(wanted.words.split()) + 1


def make_of(context: Operation, value: Phrase, target: Phrase) -> list[Edit]:
    """`make the bench out of stone`, `make a bench out of the tree`."""
    if not value.is_definite:
        return become(context, target, value)
    return say(context, "restyle is made of {}", value, target)


def say(context: Operation, sentence: str, target: Phrase, value: Phrase) -> list[Edit]:
    """A sentence about something: `dress the man in a suit`, `fill the glass with wine`."""
    operation, _, predicate = sentence.partition(" ")
    said = predicate.format(value.text, done=ed.participle(context.command.words[0]))
    return context.saying(
        operation, context.resolve(target), said, said.removeprefix("is ") if operation != "add" else ""
    )


def set_state(context: Operation, state: str, target: Phrase | None = None, value: Phrase | None = None) -> list[Edit]:
    """An attribute that the verb gives, `{}` for the words of the value: `enlarge the dog`, `turn on the lamp`."""
    operation, kind, words = state.split(maxsplit=2)
    verb, text = context.command.words[0], value.text if value else ""
    operation = ed.DATA["operations"].get(verb, operation)
    named = words.format(text, done=ed.participle(verb))
    shown, targets = named if "{}" in words else text or named, [Target(whole=True)]
    if target and target.words[-1] in ed.CLASSES["QUALITY"]:  # increase the contrast
        operation, named, shown = "restyle", context.command.line, context.command.text
    elif target:
        targets = context.resolve(target)
    if targets[0].whole and operation in {"action", "restyle", "recolor"}:
        return [context.edit("restyle", targets[0], Scene(shown, properties=(Attribute("style", named),)), shown)]
    return context.with_attributes(operation, targets, [Attribute(kind, named)], shown)


def instead(context: Operation, value: Phrase, target: Phrase) -> list[Edit]:
    """`a cat instead of the dog`, `put a cat in place of the dog`: what is done with it is read as usual."""
    new, commanded = value, is_command(value)
    if match := next(matches(new, COMMANDS if commanded else DESCRIPTIONS), None):
        said = match.captures.get("value", new)
        picture = match.rule == "make" and match.captures["target"].line in ed.PICTURE | {"it", "this"}
        if match.rule in {"add", "exist"} or (picture and not ed.is_adjective(said.words[0])):
            new = said
        elif match.rule == "put" and not said.is_definite:
            new = said.plus(match.captures["place"])
        else:
            return apply(context, match)
    elif context.confidence != WISH:
        context = context.at_most(DESCRIPTION)
    context = replace(context, flags=())  # make it a cat instead of a dog
    old = ed.numeral(target.words)
    return exist(context, new) if old is not None else become(context, target, new)


def apply(context: Operation, match: Match) -> list[Edit]:
    """The edits of a match; none where its rule does not fit after all."""
    vague = any(phrase.words[0] in ed.ANYTHING for phrase in match.captures.values())  # make it something else
    if vague and match.rule not in {"keep", "nothing"}:
        return context.unclear(context.command)
    return RULES[match.rule](context, *filter(None, [match.argument]), **match.captures)


RULES: Mapping[str, Callable[..., list[Edit]]] = {name: rule for name, rule in vars().items() if callable(rule)}
