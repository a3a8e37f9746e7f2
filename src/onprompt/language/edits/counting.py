"""Rules for how many: a number, more, fewer, some of those that are there."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language.edits.appearance import restyle_picture
from onprompt.language.edits.context import Context
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.reference import resolve
from onprompt.language.edits.scene_graph import Referent, head_indices, subgraph, with_head
from onprompt.language.edits.word_types import numeral
from onprompt.language.quantities import quantity
from onprompt.language.words import singular
from onprompt.types import Count, Edit

SOME, ANY_LEFT = Count(1, None, confidence=0.5), Count(0, None, confidence=0.5)


def count(context: Context, target: Phrase, value: Phrase) -> list[Edit]:
    """So many of something; where target and value are the same words, some are there already."""
    wanted = quantity(value.words, 0, context.settings)
    referent, edits = resolve(context, target), []
    if wanted is None or not referent.heads:
        return []
    for part in referent.split():
        bare = part.scene.things[0].phrase.removeprefix(wanted.words).strip() or part.scene.things[0].phrase
        before = replace(part, scene=with_head(part.scene, count=SOME, phrase=bare)) if target is value else part
        number = wanted.words if wanted.exact is None else str(wanted.exact)
        edits.append(context.edit("count", before, with_head(part.scene, count=wanted), number))
    return edits


def count_more(context: Context, value: Phrase | None = None, target: Phrase | None = None) -> list[Edit]:
    """`two more birds`, `another cup`, `double the number of birds`."""
    phrase = value or target or context.command
    at = phrase.more_at
    rest = phrase if at is None else phrase.part(at + 1)
    article = "" if at is None or (rest and singular(rest.words[-1]) != rest.words[-1]) else "a "
    again = rest.line in {"one", "ones", ""}
    scene = context.parse(context.antecedent_phrase if again else f"{article}{context.resolved(rest)}")
    if not scene.things:
        return restyle_picture(context, phrase)
    step = (numeral(phrase.words[:at]) if at else None) or (1 if article else None)
    kind = subgraph(scene, head_indices(scene)[0])
    more = Count(step or 2, None, "" if at is None else phrase.part(0, at + 1).text, confidence=0.5)
    before, number = Referent(with_head(kind, count=SOME), (0,)), f"+{step}" if step else "more"
    return [context.edit("count", before, with_head(kind, count=more), number, ["relative count"])]


def count_fewer(context: Context, target: Phrase) -> list[Edit]:
    """`fewer birds`."""
    referent = resolve(context, target)
    return [recount(context, part, ANY_LEFT, "fewer") for part in referent.split() if referent.heads]


def recount(context: Context, referent: Referent, left: Count, value: str) -> Edit:
    """A number that is known only from the one before."""
    return context.edit("count", referent, with_head(referent.scene, count=left), value, ["relative count"])


def remove_some(context: Context, referent: Referent, target: Phrase, share: str) -> Edit | None:
    """`remove half of the people`, `remove two of the chairs`; of "the four chairs" two are left."""
    there = referent.scene.things[0].count
    if share and there.exact == 1:  # half of one thing can't be counted
        return context.edit("remove", referent, value=share, flags=["in part"])
    if share:
        return recount(context, referent, SOME, share)
    listed = there.exact if there.explicit and numeral(target.words[:1]) else None
    number = (numeral(referent.scope.split()[:1]) if referent.scope else None) or listed
    present = numeral(target.words[3:4]) if target.words[1:3] == ("of", "the") else None
    if not number:
        return None
    if not present or present < number:
        return recount(context, referent, ANY_LEFT, f"-{number}")
    left = Count(present - number, present - number, explicit=True)
    before = with_head(referent.scene, count=Count(present, present, target.words[3], explicit=True))
    after = with_head(referent.scene, count=left)
    return context.edit("count", replace(referent, scene=before), after, str(left.low))
