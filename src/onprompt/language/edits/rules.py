"""The rules that the patterns name: each makes edits of the phrases that its pattern captures.

Most say something of a thing ("the lamp is turned on") and let the prompt parser read it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits import lexicon as ed
from onprompt.language.edits import phrases
from onprompt.language.edits import things as graph
from onprompt.language.edits.phrases import LONGEST, Match, Phrase, is_command, matches
from onprompt.language.edits.things import EMPTY, Operation, Target
from onprompt.language.ontology import broader, canonical, is_concrete
from onprompt.language.parser import parse
from onprompt.language.quantities import quantity
from onprompt.language.tokens import Token
from onprompt.language.words import is_known_word, progressive, singular, vocabulary
from onprompt.types import Attribute, Count, Edit, Scene, Thing

NONE = Phrase("")
SOME_TEXT, SOME, ANY_LEFT = Count(1, None), Count(1, None, confidence=0.5), Count(0, None, confidence=0.5)
RELATIVE = ("relative count",)


def interpret(context: Operation) -> list[Edit]:
    """The edits that an operation asks for: by a pattern of commands, of descriptions, else as a phrase."""
    command = context.command
    if len(command) > LONGEST or ed.OPENINGS["questions"].at(command.words, 0):
        return context.unclear(command.text)
    for match in matches(command, phrases.COMMANDS):
        if edits := apply(context, match):
            return edits
    wish = context.confidence == graph.WISH or ed.MODALS.intersection(command.words)
    for match in matches(command, phrases.DESCRIPTIONS):
        sure = wish or match.rule == "count"
        if edits := apply(replace(context, confidence=graph.WISH if sure else graph.DESCRIPTION), match):
            return edits
    return read_phrase(context) if command else []


def read_phrase(context: Operation) -> list[Edit]:
    """A style, an action, a background; else a thing to add."""
    phrase, plain = context.command, context.command.without_hedges()
    context = context if context.confidence == graph.WISH else context.at_most(graph.PHRASE)
    if not set(phrase.words) - ed.FIRST_WORDS - ed.VAGUE_VERBS - lex.RELATIONS.keys():
        return context.unclear(phrase.text)
    if plain.picture_properties:
        return restyle(context, value=plain)
    if {"recolor", "resize", "restyle"} & plain.described.keys():
        return context.look(next(iter(plain.described)), [Target()], [], plain.text)
    if phrase.is_definite and (cut := phrases.predicate_start(phrase)):
        return become(context, "acting", target=phrase.part(0, cut), value=phrase.part(cut))
    if phrase.words[0] in vocabulary().verbs and phrase.word_at(1) in lex.DEFINITE:  # a verb that no rule knows
        return context.unclear(phrase.text, context.resolve(phrase.part(1))[0])
    scene = parse(phrase.text, context.settings)
    name = scene.things[0].canonical if scene.things else ""
    concrete = is_concrete(name) and all(map(is_known_word, name.split()))
    if not concrete and phrase.words[-1] not in ed.BACKGROUND:
        return context.unclear(phrase.text, Target(replace(scene, things=())))
    return add(context, phrase)


def apply(context: Operation, match: Match, **given: Phrase) -> list[Edit]:
    """The edits of a match; none where its rule does not fit after all."""
    captures = {**given, **match.captures}
    vague = any(phrase.words[0] in ed.ANYTHING for phrase in captures.values())  # make it something else
    if vague and match.rule not in {"keep", "unclear nothing to do"}:
        return context.unclear(context.command.text)
    rule, _, template = match.rule.partition(": ")
    if template:
        captures["value"] = filled(template, context.command, captures.get("value"))
    name, *arguments = rule.split(maxsplit=2)
    return RULES[name](context, *arguments, **captures)


def filled(template: str, command: Phrase, value: Phrase | None) -> Phrase:
    """The words of a template, with a value in place of `Y`, all words of `ALL`, the verb's participle of `DONE`."""
    given, units = {"Y": value.units if value else (), "ALL": command.units}, list[Token]()
    start = value.units[0].start if value else 0
    for word in template.replace("DONE", ed.participle(command.words[0])).split():
        units += given.get(word) or [Token(word, start, start, name=word)]
    return Phrase(command.instruction, tuple(units))


# -- what is there ----------------------------------------------------------------------------------------------------


def add(context: Operation, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """`add a dog`, `give the man a hat`; also a style and a background."""
    targets = context.resolve(target) if target else [Target()]
    if targets[0].thing:
        return [give(context, each, value) for each in targets]
    *before, last = value.words
    if last in ed.BACKGROUND and before and before[-1] not in ed.DEFINITE_OR_ARTICLE | lex.RELATIONS.keys():
        return set_background(context, value.part(0, len(before)))  # a beach background
    if value.style:
        return restyle(context, value=value)
    scene = parse(value.text, context.settings)
    if not scene.things:
        return context.unclear(value.text, Target(scene))
    return [context.edit("add", Target(graph.given(scene)), scene)]


def give(context: Operation, target: Target, value: Phrase) -> Edit:
    """Something is added to something, or a part of it changes: `blonde hair`."""
    verb = "has" if len(target.scene.things) > 1 else "with"
    result = context.said(target.scene, f"{verb} {value.text}")
    body = next((thing for thing in result.things[1:] if thing.canonical in lex.BODY_PARTS), None)
    kinds = {attribute.kind: attribute.value for attribute in body.attributes} if body else {}
    operation = "recolor" if "color" in kinds else "add"  # a part of the body that is only colored is not new
    return context.edit(operation, target, result, kinds.get("color", value.text if kinds else ""))


def add_to(context: Operation, value: Phrase, target: Phrase) -> list[Edit]:
    """`add a hat to the man`; but "to the left of the man" and "next to the man" are places."""
    side = target.words[0] == "the" and target.word_at(1) in lex.SIDES | {"side", "upper", "lower", "far"}
    return [] if side or f"{value.words[-1]} to" in lex.RELATIONS else add(context, value, target)


def remove(context: Operation, worn: str = "", *, target: Phrase, value: Phrase = NONE) -> list[Edit]:
    """`remove the car`; `worn`: `take the hat off the man`."""
    text = f"{target.text} on {value.text}" if worn else ""
    return [remove_some(context, each, target) for each in context.resolve(target, text)]


def remove_some(context: Operation, target: Target, phrase: Phrase) -> Edit:
    """`remove half of the people`, `remove two of the chairs` leave some, "two of the four chairs" two; else none."""
    scene, share, there = target.scene, target.share, target.thing and target.thing.count
    if not there:
        return context.edit("remove", target)
    if share and there.exact == 1:  # half of one thing can't be counted
        return context.edit("remove", target, value=share, flags=["in part"])
    number = there.exact if ed.numeral(phrase.words[:1]) else None
    of = ed.numeral(phrase.words[3:4]) if phrase.words[1:3] == ("of", "the") else None
    if number and of and of >= number:
        had, left = (graph.with_head(scene, count=Count(each, each, explicit=True)) for each in (of, of - number))
        return context.edit("count", replace(target, scene=had), left, str(of - number))
    if share or number:
        after = SOME if share else ANY_LEFT
        return context.edit("count", target, graph.with_head(scene, count=after), share or f"-{number}", RELATIVE)
    return context.edit("remove", target, graph.with_head(scene, absent=True))


def keep_some(context: Operation, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """`keep only the dog`, `remove all cups except the red one`: the others go; `leave only two dogs` counts."""
    kept, of = context.resolve(value), context.resolve(target)[0] if target else Target()
    if not kept[0].thing or (target and not of.thing):
        return []
    if not target and kept[0].thing.count.explicit and not value.is_definite:
        return count(context, value)
    scene = parse(value.text, context.settings) if len(kept) > 1 else kept[0].scene
    keep = tuple(each.thing for each in kept if each.thing)
    return [replace(context.edit("remove", replace(of, scope="all others"), scene), keep=keep)]


def keep(context: Operation, target: Phrase) -> list[Edit]:
    """`without changing the sky`: an edit of its own, which ends in the `keep` of the others."""
    wanted = quantity(target.words, 0, context.settings)
    if wanted and wanted.explicit and context.command.words[0] in {"keep", "leave"}:  # leave two cups
        return keep_some(context, target)
    things = tuple(each.thing for each in context.resolve(target) if each.thing)
    return [Edit("keep", context.written, keep=things or (Thing(target.text, target.line),))]


def unclear(context: Operation, *flag: str, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """`don't add a dog`, `take the cup (and put it there)`, `make it better`: nothing that can be seen."""
    named = target or (value if value.is_definite else NONE)
    return context.unclear(value.text, context.resolve(named)[0] if named else Target(), " ".join(flag))


# -- how many ---------------------------------------------------------------------------------------------------------


def count(context: Operation, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """A number of something: `change the two cups to three`, `there should be three dogs`; "one cup" is just there."""
    wanted, edits = quantity(value.words, 0, context.settings), list[Edit]()
    exactly = wanted and wanted.explicit and (wanted.exact != 1 or ed.ONLY & set(context.command.words))
    if not target and not exactly:
        return add(context, value)
    for each in context.resolve(target or value):
        asked = wanted if target else each.thing and each.thing.count
        if each.thing and asked and asked.explicit:
            bare = each.thing.phrase.removeprefix(asked.words).strip() or each.thing.phrase
            some = replace(each, scene=graph.with_head(each.scene, count=SOME_TEXT, phrase=bare))
            number = asked.words if asked.exact is None else str(asked.exact)
            result = graph.with_head(each.scene, count=asked)
            edits.append(context.edit("count", each if target else some, result, number))
    return edits


def count_more(context: Operation, less: str = "", *, target: Phrase, value: Phrase = NONE) -> list[Edit]:
    """`two more birds`, `another cup`, `double the number of birds`, and `less`: `fewer birds`."""
    edits = []
    for each in context.resolve(target):
        if each.thing is None:
            continue
        step = ed.numeral(value.words) or (1 if each.thing.count.exact == 1 else None)
        before = each if less else replace(each, scene=graph.with_head(each.scene, count=SOME))
        after = ANY_LEFT if less else Count(step or 2, None, confidence=0.5)
        said = less or (f"+{step}" if step else "more")
        edits.append(context.edit("count", before, graph.with_head(each.scene, count=after), said, RELATIVE))
    return edits


# -- how it looks -----------------------------------------------------------------------------------------------------


def restyle(context: Operation, named: str = "", *, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """A thing or the whole picture in a style, season or time of day; else a thing in place of the picture's."""
    if (each := context.resolve(target)[0]).thing:
        return context.look("restyle", [each], [Attribute("style", value.line)], value.text)
    bare = value if named else value.part(value.words[0] in {"as", "like"} and len(value) > 1).without_hedges()
    is_style = named or target or bare.words[-1] in ed.MEDIA
    style = bare.style or ((Attribute("style", bare.part(bare.words[0] in lex.ARTICLES).line),) if is_style else ())
    if not style:
        return replace_things(context, [each], parse(bare.text, context.settings))
    return [context.edit("restyle", each, Scene(value.text, properties=style), value.text)]


def change(context: Operation, operation: str = "other", *, target: Phrase) -> list[Edit]:
    """`change the background`, `resize the dog`, `move the dog`: how is not said."""
    edits = context.edits(operation, target, lambda scene: scene, "", ["no value"])
    return edits if edits[0].operation != "other" else context.unclear(target.text, context.resolve(target)[0])


def recolor(context: Operation, otherwise: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """`change the color of the car to red`, `paint the door red`; of a picture, or `otherwise`, it is a style."""
    targets, colors = context.resolve(target), value.described.get("recolor", [])
    if (otherwise and not colors) or (targets[0].whole and not context.flags):
        return restyle(context, value=value, target=target)
    return context.look("recolor", targets, colors or [Attribute("color", value.line)], value.text)


def set_background(context: Operation, value: Phrase) -> list[Edit]:
    """The background shows something else."""
    shown = parse(f"{value.text} in the background", context.settings)
    return [context.edit("background", Target(graph.single("the background", "background")), shown, value.text)]


def write(context: Operation, value: Phrase, target: Phrase = NONE) -> list[Edit]:
    """Words to read, on something or anywhere."""
    position = lex.POSITIONS.get(f"at {target.line}") if target else None
    targets = [Target()] if position or not target else context.resolve(target)
    blank = Scene(value.text, (Thing("text", "text", SOME_TEXT),))
    attributes = [Attribute("text", value.wording), *([Attribute("position", position)] if position else [])]
    scenes = [graph.with_attributes(each.scene if each.thing else blank, attributes) for each in targets]
    return [context.edit("text", *pair, value.wording) for pair in zip(targets, scenes, strict=True)]


def state(context: Operation, kind: str, named: str = "", *, target: Phrase = NONE, value: Phrase = NONE) -> list[Edit]:
    """An attribute by the pattern's words, else by those of the value: `turned on`, `upside down`, `twice as big`."""
    attributes = [Attribute(kind, named or value.line)]
    return context.look(ed.KINDS.get(kind, "action"), context.resolve(target), attributes, value.text or named)


def say(context: Operation, operation: str, target: Phrase, value: Phrase) -> list[Edit]:
    """A sentence about something: `is filled with wine`, `is bigger than the dog`."""
    shown, targets = value.text if operation != "add" else "", [each for each in context.resolve(target) if each.thing]
    if operation == "add" and not targets:
        return add(context, value.part(2))  # the photo is covered in snow
    return context.edits(operation, targets, lambda scene: context.said(scene, f"is {value.text}"), shown)


# -- where it is ------------------------------------------------------------------------------------------------------


def move(context: Operation, put: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """`move the cup to the left`: what was said of its old place no longer holds; `put` what is new there is added."""
    if put and not target.is_definite:
        return add(context, Phrase(target.instruction, target.units + value.units))
    side = lex.POSITIONS.get(value.line) or lex.POSITIONS.get(f"to {value.line}")
    said = value.text if len(value) > 1 and not side else ""

    def there(scene: Scene) -> Scene:
        head = scene.things[0]
        attributes = tuple(attribute for attribute in head.attributes if attribute.kind != "position")
        relations = tuple(relation for relation in head.relations if relation.name not in lex.SPATIAL)
        bare = graph.subgraph(graph.with_head(scene, attributes=attributes, relations=relations), 0)
        return context.said(bare, said, Attribute("position", side or value.line))

    return context.edits("move", target, there, value.text)


def take_place(context: Operation, both: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """`put the dog where the cat is`; `swap the dog and the cat`: `both` go where the other was."""
    if not (both or target.is_definite):
        return become(context, target=value, value=target)  # put a dog where the cat is
    pairs = ((target, value), (value, target))[: 1 + bool(both)]
    return [context.edit("move", context.resolve(a)[0], EMPTY, f"in place of {b.text}") for a, b in pairs]


# -- what it should be ------------------------------------------------------------------------------------------------


def become(context: Operation, acting: str = "", *, target: Phrase, value: Phrase) -> list[Edit]:
    """What a thing should be or, if `acting`, do: what a pattern of values says, adjectives, or another thing."""
    denied = next((at for at, word in enumerate(value.words) if word == "not" and at), len(value))
    value = value.part(0, denied).without_hedges()  # red, not blue
    for match in matches(value, phrases.VALUES):
        if edits := apply(context, match, target=target, value=value):
            return edits
    targets, described, properties = context.resolve(target), value.described, value.picture_properties
    text = singular(target.words[-1]) in lex.TEXT_NOUNS - {"logo"} and not described  # but: make the text bold
    if text or phrases.QUOTED in value.words or phrases.CLOCK_TIME.fullmatch(value.line):
        return write(context, value, target)
    if properties and not described and not targets[0].whole:
        return context.edits("restyle", targets, lambda scene: replace(scene, properties=properties), value.text)
    changed = {"move", "resize"} | ({"recolor"} if context.flags else set())  # make it blue
    if described and (not targets[0].whole or (changed & described.keys() and not properties)):
        return [edit for name in described for edit in context.look(name, targets, described[name], value.text)]
    if value.words[0] == "not":  # the man should not wear a hat
        return context.look("action", targets, [Attribute("action", value.part(1).line, negated=True)], value.text)
    return turn_into(context, bool(acting), target, value)


def turn_into(context: Operation, acting: bool, target: Phrase, value: Phrase) -> list[Edit]:
    """What is more than adjectives: a number, a place, an action, another thing."""
    targets, wanted = context.resolve(target), quantity(value.words, 0, context.settings)
    kind, counted = targets[0].thing, value.line.removeprefix(wanted.words).strip() if wanted else value.line
    if wanted and wanted.explicit and (not counted or (kind and canonical(counted) == kind.canonical)):
        return count(context, value, target)
    scene = target.words[-1] == "scene" and not value.style  # change the scene to a beach
    if scene or (kind and kind.canonical in ed.BACKGROUND):
        return set_background(context, value)
    if targets[0].whole and (value.style or not value.is_action(acting)):
        return restyle(context, value=value)
    if phrases.PLACE.fullmatch(f" {value.line}") or f"to {value.line}" in lex.POSITIONS:
        return move(context, target=target, value=value)
    if value.is_action(acting):
        return [set_action(context, each, target, value) for each in targets]
    return replace_things(context, targets, parse(value.text, context.settings))


def set_action(context: Operation, each: Target, target: Phrase, value: Phrase) -> Edit:
    """A thing that does something; one that is not there yet is added."""
    verb, rest = value.words[0], value.part(1)
    if each.thing is None:
        return context.edit("action", each, EMPTY, value.text)
    doing = value.text if value.is_action(plain=False) else f"{progressive(verb)} {rest.text}"
    result = context.said(each.scene, f"is {doing}", Attribute("action", value.line))
    if target.is_definite or target.words[1:2] == ("of",):
        return context.edit("action", each, result, value.text)
    return context.edit("add", Target(graph.given(result)), result)


def replace_things(context: Operation, targets: list[Target], new: Scene) -> list[Edit]:
    """The things of a scene in place of others, which must be gone if not all are meant or the new ones are such."""
    kinds = {kind for thing in new.things for kind in (thing.canonical, *broader(thing.canonical))}
    partial = ed.numeral(targets[0].scope.split()[:1]) is not None
    source, result = EMPTY, new
    for each in targets:
        source = graph.joined(source, each.scene)
        if each.thing and not partial and (each.thing.attributes or each.thing.canonical not in kinds):
            result = graph.joined(result, graph.with_head(each.scene, absent=True))
    both = replace(targets[0], scene=replace(source, flags=targets[0].scene.flags))
    return (
        [context.edit("replace", both, result, new.prompt)] if new.things else context.unclear(new.prompt, targets[0])
    )


def instead(context: Operation, value: Phrase, target: Phrase) -> list[Edit]:
    """`a cat instead of the dog`, `put a cat in place of the dog`: what is done with it is read as usual."""
    if not is_command(value) and context.confidence != graph.WISH:
        context = context.at_most(graph.DESCRIPTION)
    if ed.numeral(target.words) is not None:
        return count(context, value)  # four apples instead of two
    context = replace(context, flags=())  # make it a cat instead of a dog
    edit, *others = interpret(replace(context, command=value))
    if edit.operation not in {"add", "replace"}:
        return [edit, *others]
    return replace_things(context, context.resolve(target), edit.result)


RULES: Mapping[str, Callable[..., list[Edit]]] = {name: rule for name, rule in vars().items() if callable(rule)}
