"""What words refer to in the picture: things by name or by pronoun, and which of them."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.edits.context import Context
from onprompt.language.edits.lexicon import DATA, POSSESSIVES, PRONOUNS, WORDS
from onprompt.language.edits.phrase import Phrase
from onprompt.language.edits.scene_graph import Referent, head_indices, single
from onprompt.language.edits.word_types import numeral
from onprompt.language.ontology import canonical
from onprompt.language.words import comparison, is_noun
from onprompt.types import Count, Scene, Thing


def resolve(context: Context, phrase: Phrase, text: str = "") -> Referent:
    """What words refer to; `text` says more of it."""
    flags: tuple[str, ...] = ()
    if phrase.words[0] in {"only", "just"} and len(phrase) > 1:
        phrase, flags = phrase.part(1), ("only",)
    share, rest = split_share(phrase)
    if share and rest:
        whole = resolve(context, rest)
        return replace(whole, scope=f"{share} {whole.scope}".strip(), flags=(*flags, *whole.flags))
    bare = [word for word in phrase.words if word not in lex.DEFINITE | {"whole", "entire", "of", "all"}]
    if len(phrase) == 1 and phrase.words[0] in PRONOUNS:
        referent = resolve_pronoun(context, phrase.words[0])
    elif bare and bare[-1] in WORDS["ones"]:
        referent = resolve_one(context, phrase)
    elif (len(bare) == 1 and bare[0] in WORDS["picture"] | {"it"}) or phrase.line.endswith("time of day"):
        referent = Referent(whole=True)
    elif len(bare) == 1 and bare[0] in WORDS["background"]:
        referent = single(phrase.text, "background")
    else:
        referent = resolve_things(context, phrase, text or context.resolved(phrase))
    return replace(referent, flags=(*flags, *referent.flags))


def resolve_things(context: Context, phrase: Phrase, text: str) -> Referent:
    """The things of a phrase; what the parser takes for a style is a thing after "the"."""
    scene = context.parse(text)
    if not scene.things and phrase.words[0] in lex.DEFINITE and is_noun(phrase.words[-1]):
        light = set(phrase.words[-2:-1]) & WORDS["lights"]
        name = canonical(phrase.line.split(maxsplit=1)[-1] if light else phrase.words[-1])
        scene = Scene(text, (Thing(phrase.text, name, Count(1, 1)),))
    heads = head_indices(scene)
    if not heads:
        return Referent(scene)
    first = heads[0]
    scope = scope_of(phrase, scene.things[first])
    number = numeral(scope.split()[:1]) if scope else None
    if number is not None:  # one of the dogs
        counted = replace(scene.things[first], count=Count(number, number, scope.split()[0], explicit=True))
        scene = replace(scene, things=(*scene.things[:first], counted, *scene.things[first + 1 :]))
    return Referent(scene, heads, scope)


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


def resolve_one(context: Context, phrase: Phrase) -> Referent:
    """`the left one`: of the kind named last, if any was."""
    before = phrase.part(0, len(phrase) - 1).text
    kind = context.antecedent_phrase.split()[-1] if context.antecedent else ""
    scene = context.parse(f"{before} {kind or 'object'}")
    scope = scope_of(phrase, scene.things[0]) if scene.things else ""
    referent = Referent(scene, head_indices(scene)) if kind else Referent()
    return replace(referent, scope=scope or before, flags=("pronoun",))


def scope_of(phrase: Phrase, head: Thing) -> str:
    """Which of the things of a kind: all, one, the left one, the woman's."""
    first, owner = phrase.words[0], next((at for at, word in enumerate(phrase.words) if word in {"'s", "'"}), 0)
    scope: list[str] = []
    if first in WORDS["every"]:
        scope.append("all")
    elif phrase.words[1:2] == ("of",) and (first == "any" or numeral([first]) is not None):
        scope.append("one" if first == "any" else first)
    if owner:
        start = next((at for at in range(owner) if phrase.words[at] in lex.DEFINITE), 0)
        scope.append(phrase.part(start, owner + 1).text)
    elif first in POSSESSIVES:
        scope.append(first)
    scope += [attribute.value for attribute in head.attributes if attribute.kind == "position"]
    scope += [word for word in phrase.words if word.endswith("est") and comparison(word)]
    return " ".join(dict.fromkeys(scope))


def split_share(phrase: Phrase) -> tuple[str, Phrase]:
    """The share in `half of the people`, `a third of them`, `half the people`, and what it is of."""
    at = 1 if phrase.words[0] in lex.ARTICLES else 0
    share, following = phrase.word_at(at), phrase.word_at(at + 1)
    is_share = share in WORDS["shares"] and following in {"of", "the"}
    return (share, phrase.part(at + 2 if following == "of" else at + 1)) if is_share else ("", phrase)
