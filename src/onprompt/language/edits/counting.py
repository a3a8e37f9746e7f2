"""Rules for how many: a number, more, fewer, some of those that are there."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language.edits import phrase_types as phrase
from onprompt.language.edits.appearance import restyle_picture
from onprompt.language.edits.context import Context
from onprompt.language.edits.reference import resolve, substitute_pronouns
from onprompt.language.edits.scene_graph import Referent, head_indices, subgraph, with_count, with_head
from onprompt.language.edits.span import Span
from onprompt.language.quantities import quantity
from onprompt.types import Count, Edit, Thing

SOME, ANY_LEFT = Count(1, None, confidence=0.5), Count(0, None, confidence=0.5)


def count(context: Context, target: Span, value: Span) -> list[Edit]:
    """So many of something; where target and value are the same words, some are there already."""
    wanted = quantity(value.words, 0, context.settings)
    edits = []
    for part in resolve(context, target).split():
        if part.thing is None or wanted is None:
            continue
        bare = part.thing.phrase.removeprefix(wanted.words).strip() or part.thing.phrase
        present = replace(part.thing, count=SOME, phrase=bare) if target is value else part.thing
        number = wanted.words if wanted.exact is None else str(wanted.exact)
        before = replace(part, scene=with_head(part.scene, present))
        edits.append(context.edit("count", before, with_count(part.scene, wanted), number))
    return edits


def count_more(context: Context, value: Span | None = None, target: Span | None = None) -> list[Edit]:
    """`two more birds`, `another cup`, `double the number of birds`."""
    span = value or target
    if not span:
        return []
    at = phrase.more_at(span)
    rest = span if at is None else span.part(at + 1)
    article = "" if at is None or (rest and phrase.is_plural(rest)) else "a "
    again = rest.line in {"one", "ones", ""}
    scene = context.parse(context.antecedent_phrase if again else f"{article}{substitute_pronouns(context, rest)}")
    if not scene.things:
        return restyle_picture(context, span)
    step = (phrase.numeral(span.words[:at]) if at else None) or (1 if article else None)
    kind = subgraph(scene, head_indices(scene)[0])
    more = Count(step or 2, None, "" if at is None else span.part(0, at + 1).text, confidence=0.5)
    before, number = Referent(with_count(kind, SOME), (0,)), f"+{step}" if step else "more"
    return [context.edit("count", before, with_count(kind, more), number, ["relative count"])]


def count_fewer(context: Context, target: Span) -> list[Edit]:
    """`fewer birds`."""
    return [
        context.edit("count", part, with_count(part.scene, ANY_LEFT), "fewer", ["relative count"])
        for part in resolve(context, target).split()
        if part.thing
    ]


def remove_share(context: Context, referent: Referent, thing: Thing, share: str) -> Edit:
    """`remove half of the people`; half of one thing can't be counted."""
    if thing.count.exact == 1:
        return context.edit("remove", referent, value=share, flags=["in part"])
    return context.edit("count", referent, with_count(referent.scene, SOME), share, ["relative count"])


def remove_number(context: Context, referent: Referent, number: int, target: Span) -> Edit:
    """`remove two of the chairs`; of "the four chairs" two are left."""
    present = phrase.numeral(target.words[3:4]) if target.words[1:3] == ("of", "the") else None
    if not present or present < number:
        return context.edit("count", referent, with_count(referent.scene, ANY_LEFT), f"-{number}", ["relative count"])
    left = present - number
    before = with_count(referent.scene, Count(present, present, target.words[3], explicit=True))
    after = with_count(referent.scene, Count(left, left, explicit=True))
    return context.edit("count", replace(referent, scene=before), after, str(left))


def number_to_remove(referent: Referent, thing: Thing, target: Span) -> int | None:
    """How many are to go where some may stay: `one of the dogs`, `two dogs`."""
    if referent.scope and (number := phrase.numeral(referent.scope.split()[:1])):
        return number
    return thing.count.exact if thing.count.explicit and phrase.numeral(target.words[:1]) else None
