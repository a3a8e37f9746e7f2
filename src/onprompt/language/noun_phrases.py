"""Noun phrases: what is named, how many, and which of its words describe it."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.attributes import attribute
from onprompt.language.chunker import ordinal
from onprompt.language.nodes import ARGUMENTS, Node
from onprompt.language.ontology import canonical, singular
from onprompt.language.prompt import Prompt
from onprompt.language.scene_builder import Draft, Drafts, is_animal, is_person
from onprompt.language.spelling import words
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

# What stands before a noun and belongs to its phrase.
LEFT = lex.words("det amod nummod compound nmod poss predet quantmod advmod neg npadvmod preconj")
MODIFIERS = frozenset(("compound", "nmod", "amod", "npadvmod"))
VAGUE = lex.SOME | lex.MANY | lex.MANY_OF


def is_mention(node: Node) -> bool:
    """Whether a node is the head of a noun phrase."""
    unit = node.unit
    if unit.text is not None or unit.relation or unit.word == "," or (unit.attributes and not unit.name):
        return unit.one
    if unit.one or unit.name:
        return not is_modifier(node)
    if node.lower in links.PRONOUNS:
        return False
    if (
        node.is_noun
        and node.dep in {"attr", "acomp"}
        and lex.kind_of(node.lower)
        and not node.under("det", "nummod", "poss")
    ):
        return False  # "the plane is vintage"
    if node.is_noun:
        return not is_modifier(node)
    if node.tag in {"JJ", "VBG", "CD", "FW", "RB", "VB", "VBP", "VBD", "VBN", "IN", "UH"} and node.under(
        "det", "poss", "nummod"
    ):
        return node.dep in ARGUMENTS and node.lower not in lex.NUMBERS and node.unit.count is None
    return False


def is_modifier(node: Node) -> bool:
    """Whether a noun stands before another as part of its name."""
    return node.dep in MODIFIERS and node.head.at > node.at and (node.head.is_noun or node.head.dep in ARGUMENTS)


class Reader:
    """Reads noun phrases into drafts."""

    def __init__(self, prompt: Prompt, drafts: Drafts) -> None:
        self.prompt, self.drafts = prompt, drafts
        self.sentence = 0

    def mention(self, node: Node) -> int | None:
        """The thing that a noun phrase names, new or known."""
        if not is_mention(node):
            return None
        if node.unit.one or (node.lower in {"one", "ones"} and not node.unit.name):
            return self.another(node)
        owned = node.under("poss") or (node.lower == "back" and node.dep == "nsubj")
        if node.lower in links.NO_THINGS and not self.is_described(node) and not owned:
            return None
        return self.place(self.draft(node))

    def plain_phrase(self, node: Node) -> str:
        """A noun phrase without its determiner."""
        left = [child.unit.start for child in node.children if child.at < node.at and child.dep in MODIFIERS]
        return self.prompt.text[min([node.unit.start, *left]) : node.unit.end].lower()

    def is_described(self, node: Node) -> bool:
        """`a white background` can be seen; "the background" is a place."""
        return node.lower in links.GROUNDS and (
            bool(node.under("amod", "compound")) or node.dep in {"nsubj", "nsubjpass"}
        )

    def place(self, draft: Draft) -> int:
        """The draft's index: a known one where the same thing is named again."""
        bare = not draft.count.words and not draft.plural
        if (draft.definite or bare) and not draft.absent and not draft.owned and draft.canonical != "text":
            again = self.drafts.known(draft)
            if again is not None:
                self.drafts.again(again, draft)
                return again
        if draft.definite and not draft.plural and not draft.owned:
            draft.part_of = self.drafts.group_of(draft.canonical)
        return self.drafts.add(draft)

    def another(self, node: Node) -> int | None:
        """`the other one`, `a white one`, `one`: a thing of a kind named before."""
        draft = self.draft(node)
        lacking = node.dep == "pobj" and node.head.lower == "without"  # "a boy without one" has no balloon
        kind = self.drafts.had_before() if lacking else self.drafts.kind_before()
        if kind is None:
            return None
        before = self.drafts.all[kind]
        draft.canonical = before.canonical
        some = draft.count if draft.count.explicit else Count(2, None, confidence=0.5)
        draft.count = node.unit.count or (some if node.lower == "ones" else Count(1, 1))
        draft.part_of = self.drafts.group_of(before.canonical)
        return self.drafts.add(draft)

    def draft(self, node: Node) -> Draft:
        """What a noun phrase says."""
        before = (child for child in node.children if child.at < node.at and child.dep in LEFT)
        left = [child for child in before if child.lower not in links.NOT_IN_PHRASE]
        names, attributes = self.modifiers(node, left)
        around = [each for child in left for each in child.subtree() if each.at < node.at and each.unit.word != ","]
        count, definite = self.count(node, around)
        name = self.canonical(node, names)
        poured = (count.explicit and count.low > 1) or any(child.lower == "of" for child in node.under("prep"))
        if name == "eyeglasses" and poured:
            name = "glass"  # two glasses, glasses of wine
        absent = node.unit.name == "nobody" or any(each.lower == "no" for each in around) or self.shares_no(node, left)
        if absent and name == "text" and node.unit.attributes:  # 'no text "HELLO"' speaks of these words only
            attributes, absent = [Attribute("not text", each.value) for each in node.unit.attributes], False
        if count.explicit and count.low > 1 and any(each.lower == "not" for each in around):
            attributes.append(Attribute("not count", str(count.low)))  # "not two cats" leaves open how many
            count = Count(0, None, confidence=0.5)
        start = min([each.unit.start for each in around if each.lower != "no"], default=node.unit.start)
        return Draft(
            phrase=self.prompt.text[min(start, node.unit.start) : node.unit.end],
            canonical=name,
            count=Count(1, None, confidence=0.5) if name == "text" else count,
            attributes=attributes,
            absent=absent or count.high == 0,
            importance=self.prompt.weight(node.unit.start),
            confidence=0.8 if any(each.unit.misspelt for each in [node, *around]) else 1.0,
            flags=self.flags(count, [node, *around]),
            definite=definite,
            owned=any(each.dep == "poss" for each in left),
            subject=is_subject(node),
            sentence=self.sentence,
            start=min(start, node.unit.start),
        )

    def shares_no(self, node: Node, left: list[Node]) -> bool:
        """`no dogs and cats`, `no cars, trees, and people`: bare nouns in a list share the "no" before its first."""
        if left or node.dep != "conj":
            return False
        first, joined = node.head, bool(node.under("cc"))
        while first.dep == "conj" and first.head.is_noun and not first.under(*MODIFIERS):
            joined, first = joined or bool(first.under("cc")), first.head
        return any(child.lower == "no" for child in first.under("det")) and (joined or bool(first.under("cc")))

    def canonical(self, node: Node, names: list[str]) -> str:
        """The name by which a thing goes."""
        if node.unit.name == "nobody" or node.lower in links.PEOPLE_PRONOUNS:
            return "person"
        if "'" in node.unit.name:
            return node.unit.name.replace(" '", "'")  # Rubik's cube
        proper = node.unit.word[:1].isupper() and not node.unit.name and not is_noun(singular(node.lower))
        if proper and not names:
            return node.lower  # Starbucks
        kept = [name for name in names if name not in {"color", "colour", "colored"}]
        return canonical(" ".join([*kept, node.unit.name or node.lower]))

    def flags(self, count: Count, around: list[Node]) -> tuple[str, ...]:
        """What to know about a phrase."""
        said = set(count.words.split())
        found = {"ambiguous quantifier": said & VAGUE, "misspelt": any(each.unit.misspelt for each in around)}
        return tuple(flag for flag, holds in found.items() if holds)

    # -- the words before a noun

    def modifiers(self, node: Node, left: list[Node]) -> tuple[list[str], list[Attribute]]:
        """Those of its name, and those that describe it."""
        names: list[str] = []
        attributes: list[Attribute] = list(node.unit.attributes)
        for child in sorted(left, key=lambda each: each.at):
            if child.dep in {"amod", "compound", "nmod", "advmod", "npadvmod"} or child.unit.attributes:
                for each in [child, *joined(child)]:
                    self.modifier(each, node, names, attributes)
        return names, attributes

    def modifier(self, child: Node, node: Node, names: list[str], attributes: list[Attribute]) -> None:
        """One word before a noun, and those before it that hang on it."""
        for each in child.children:
            describes = each.dep in {"compound", "amod", "nmod"} or (each.dep == "advmod" and lex.kind_of(each.lower))
            if each.at < child.at and describes and not self.is_tone(each):
                self.modifier(each, node, names, attributes)
        if child.unit.attributes:
            attributes += [each for each in child.unit.attributes if each.kind]
        elif nth := ordinal(child.lower):
            attributes.append(Attribute("position", nth))
        elif self.names_kind(child, node):
            names.append(child.unit.name or child.lower)
        elif child.unit.text is None and not self.is_tone(child):
            alive = is_person(singular(node.lower)) or is_animal(singular(node.lower))
            found = attribute(self.toned(child), child.tag, child.base, degree(child), alive)
            attributes += [found] if found else []

    def names_kind(self, child: Node, node: Node) -> bool:
        """Whether a word before a noun is part of its name: fire hydrant, polar bear; not leather jacket, red wine."""
        if child.unit.text is not None:
            return False
        whole = f"{child.lower} {singular(node.lower)}"
        if self.is_tone(child):
            return False
        if (whole in lex.COMPOUNDS and child.at == node.at - 1) or child.unit.name:
            return True
        if child.lower in {"left", "right"} and singular(node.lower) in lex.BODY:
            return True  # whose left it is, the picture's edge does not tell
        kind = lex.kind_of(child.lower)
        if kind in {"color", "material", "pattern", "size", "expression"} or child.lower in lex.NOT_DESCRIBING:
            return False
        if child.lower.endswith("ing") and child.lower not in links.ING_NOUNS:
            return is_noun(whole) and child.at == node.at - 1
        nounish = child.is_noun or (is_noun(child.lower) and child.lower not in words().adjectives)
        if nounish and kind is None and child.tag not in {"VBG", "VBN"}:
            return True
        return (
            is_noun(whole)
            and child.tag not in {"VBN", "VBD", "JJS", "JJR"}
            and kind in {None, "style", "position", "shape"}
        )

    def is_tone(self, node: Node) -> bool:
        """Whether a word is the `dark` of `dark blue`."""
        near = [*node.head.children, node.head, *(each for child in node.head.children for each in child.children)]
        return node.lower in lex.TONES and any(each.at == node.at + 1 and each.lower in lex.COLOURS for each in near)

    def toned(self, node: Node) -> str:
        """A colour with its tone: dark blue."""
        near = [*node.children, *node.head.children, *node.head.head.children] if node.lower in lex.COLOURS else []
        tone = next((each.lower for each in near if each.at == node.at - 1 and each.lower in lex.TONES), "")
        return f"{tone} {node.lower}" if tone else node.lower

    def count(self, node: Node, around: list[Node]) -> tuple[Count, bool]:
        """How many, and whether it is one already known."""
        definite = any(each.lower in lex.DEFINITE and each.head is node for each in around)
        counts = [each.unit.count for each in around if each.unit.count is not None]
        said = next((count for count in counts if count.words not in lex.ARTICLES), counts[0] if counts else None)
        mass = node.lower in lex.MASS
        if said is not None and not (mass and said.words in lex.ARTICLES and said.words != "a"):
            paired = lex.PAIRS & set(said.words.split()) and node.lower in lex.PAIRED
            return (Count(1, 1, said.words) if paired else tolerant(said, node)), definite
        if mass:
            return Count(1, None, confidence=0.5), definite
        capital = node.unit.word[:1].isupper() and not is_noun(singular(node.lower)) and node.unit.word != "Cats"
        if node.lower not in lex.PAIRED and singular(node.lower) != node.lower and not capital:
            return Count(2, None, confidence=0.5), definite
        return Count(1, 1, "the" if definite else ""), definite


def is_subject(node: Node) -> bool:
    """Whether a noun, or one that it is joined to, is what the sentence speaks of."""
    while node.dep == "conj" and node.head.is_noun:
        node = node.head
    return node.dep in {"nsubj", "nsubjpass", "ROOT"}


def tolerant(count: Count, node: Node) -> Count:
    """`some` with a plural is two or more."""
    plural = singular(node.lower) != node.lower
    return Count(2, None, count.words, confidence=count.confidence) if count.words in lex.SOME and plural else count


def degree(node: Node) -> str:
    """`slightly` in "slightly bent"."""
    near = (each for each in node.under("advmod", "npadvmod") if each.at == node.at - 1)
    return next((each.lower for each in near if each.lower in lex.DEGREES or each.lower.endswith("ly")), "")


def joined(node: Node) -> list[Node]:
    """The adjectives that "and" joins to one: red, green and blue."""
    return [each for child in node.under("conj") for each in [child, *joined(child)]]
