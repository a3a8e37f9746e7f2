"""What words refer to in the picture: things by name or by pronoun, and which of them."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import comparison
from onprompt.language.edits.context import Context
from onprompt.language.edits.lexicon import DATA, POSSESSIVES, PRONOUNS, WORDS
from onprompt.language.edits.phrase_types import has_pronoun, is_pronoun, numeral
from onprompt.language.edits.scene_graph import (
    EMPTY,
    Referent,
    definite_phrase,
    head_indices,
    merged,
    single,
    subgraph,
    with_owners,
)
from onprompt.language.edits.span import Span
from onprompt.language.ontology import canonical
from onprompt.language.wordnet import is_noun
from onprompt.types import Count, Scene, Thing


def resolve(context: Context, span: Span, text: str = "") -> Referent:
    """What words refer to; `text` says more of it."""
    flags: tuple[str, ...] = ()
    if span.words[0] in {"only", "just"} and len(span) > 1:
        span, flags = span.part(1), ("only",)
    share = share_of(span)
    if share and (rest := after_share(span, share)):
        whole = resolve(context, rest)
        return replace(whole, scope=f"{share} {whole.scope}".strip(), flags=(*flags, *whole.flags))
    bare = [word for word in span.words if word not in lex.DEFINITE | {"whole", "entire", "of", "all"}]
    if len(span) == 1 and span.words[0] in PRONOUNS:
        referent = resolve_pronoun(context, span.words[0])
    elif bare and bare[-1] in WORDS["ones"]:
        referent = resolve_one(context, span)
    elif (len(bare) == 1 and bare[0] in WORDS["picture"] | {"it"}) or span.line.endswith("time of day"):
        referent = Referent(whole=True)
    elif len(bare) == 1 and bare[0] in WORDS["background"]:
        referent = single(span.text, "background")
    else:
        referent = resolve_things(context, span, text or substitute_pronouns(context, span))
    return replace(referent, flags=(*flags, *referent.flags))


def resolve_things(context: Context, span: Span, text: str) -> Referent:
    """The things of a phrase; what the parser takes for a style is a thing after "the"."""
    scene = context.parse(text)
    if not scene.things and span.words[0] in lex.DEFINITE and is_noun(span.words[-1]):
        light = set(span.words[-2:-1]) & WORDS["lights"]
        name = canonical(span.line.split(maxsplit=1)[-1] if light else span.words[-1])
        scene = Scene(text, (Thing(span.text, name, Count(1, 1)),))
    scene = with_owners(scene)
    heads = head_indices(scene)
    if not heads:
        return Referent(scene)
    scope = scope_of(span, scene.things[heads[0]])
    return Referent(with_partitive(scene, heads[0], scope), heads, scope)


def resolve_pronoun(context: Context, word: str) -> Referent:
    """`it`: the antecedent, else the picture; `her`: else a woman."""
    antecedent, person = context.antecedent, DATA["persons"].get(word, "")
    flags = ("pronoun",)
    if antecedent and context.antecedent_phrase.endswith(person):
        scene = context.parse(context.antecedent_phrase)
        if not scene.things:
            scene = Scene(context.antecedent_phrase, (replace(antecedent, relations=(), part_of=None),))
        return Referent(scene, head_indices(scene), flags=flags)
    return replace(single(word, person) if person else Referent(whole=word in {"it", "this"}), flags=flags)


def resolve_one(context: Context, span: Span) -> Referent:
    """`the left one`: of the kind named last, if any was."""
    before = span.part(0, len(span) - 1).text
    kind = context.antecedent_phrase.split()[-1] if context.antecedent else ""
    scene = context.parse(f"{before} {kind or 'object'}")
    scope = scope_of(span, scene.things[0]) if scene.things else ""
    referent = Referent(scene, head_indices(scene)) if kind else Referent()
    return replace(referent, scope=scope or before, flags=("pronoun",))


def substitute_pronouns(context: Context, span: Span) -> str:
    """The words as written, with the antecedent in place of "it"; without one, "her" is a woman."""
    if not has_pronoun(span):
        return span.text
    words = []
    for at, word in enumerate(span.words):
        person, phrase = DATA["persons"].get(word, ""), context.antecedent_phrase
        meant = phrase if phrase.endswith(person) else ""
        meant = meant or (f"the {person}" if person else "")
        if is_pronoun(span, at) and meant:
            words.append(meant)
        elif word != ",":
            words.append(span.part(at, at + 1).text)
    return " ".join(words)


# ---- which of the things -------------------------------------------------------------------------------------------


def scope_of(span: Span, head: Thing) -> str:
    """Which of the things of a kind: all, one, the left one, the woman's."""
    first, owner = span.words[0], next((at for at, word in enumerate(span.words) if word in {"'s", "'"}), 0)
    scope: list[str] = []
    if first in WORDS["every"]:
        scope.append("all")
    elif span.words[1:2] == ("of",) and (first == "any" or numeral([first]) is not None):
        scope.append("one" if first == "any" else first)
    if owner:
        start = next((at for at in range(owner) if span.words[at] in lex.DEFINITE), 0)
        scope.append(span.part(start, owner + 1).text)
    elif first in POSSESSIVES:
        scope.append(first)
    scope += [attribute.value for attribute in head.attributes if attribute.kind == "position"]
    scope += [word for word in span.words if word.endswith("est") and comparison(word)]
    return " ".join(dict.fromkeys(scope))


def share_of(span: Span) -> str:
    """The share in `half of the people`, `a third of them`, `half the people`."""
    at = 1 if span.words[0] in lex.ARTICLES else 0
    share = span.word_at(at)
    return share if share in WORDS["shares"] and span.word_at(at + 1) in {"of", "the"} else ""


def after_share(span: Span, share: str) -> Span:
    """What a share is of."""
    at = span.words.index(share) + 1
    return span.part(at + 1 if span.word_at(at) == "of" else at)


def with_partitive(scene: Scene, at: int, scope: str) -> Scene:
    """`one of the dogs` is one dog."""
    number = numeral(scope.split()[:1]) if scope else None
    if number is None:
        return scene
    counted = replace(scene.things[at], count=Count(number, number, scope.split()[0], explicit=True))
    return replace(scene, things=(*scene.things[:at], counted, *scene.things[at + 1 :]))


# ---- what is said of things ----------------------------------------------------------------------------------------


def statement(context: Context, thing: Thing, predicate: str) -> Scene:
    """What a sentence says of a thing, which comes first; empty where the parser loses it."""
    scene = context.parse(f"{definite_phrase(thing)} {predicate}")
    names = [other.canonical for other in scene.things]
    return subgraph(scene, names.index(thing.canonical)) if thing.canonical in names else EMPTY


def with_statement(context: Context, referent: Referent, predicate: str) -> Scene:
    """A scene and what a sentence says of its first thing."""
    said = statement(context, referent.scene.things[0], predicate)
    return merged(referent.scene, said) if said.things else referent.scene
