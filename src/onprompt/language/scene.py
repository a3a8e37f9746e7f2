"""Noun phrases to objects: the scene under construction, what a phrase names, and which object is named again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from onprompt.language import lexicon as lex
from onprompt.language.ontology import canonical, is_a, is_concept
from onprompt.language.quantities import ordinal
from onprompt.language.tokens import Prompt
from onprompt.language.tree import ARGUMENTS, NAME_PARTS, Node, has_word
from onprompt.language.words import attribute_of, is_ing_verb, is_noun, singular, vocabulary
from onprompt.types import Attribute, Count, Relation, Thing

MEMORY = 80  # objects back that a word can refer to; it also keeps the time linear in the prompt's length
DETERMINERS = ("det", "nummod", "poss")
MODIFIERS = (*NAME_PARTS, "npadvmod")
PREMODIFIERS = frozenset((*DETERMINERS, *MODIFIERS, "predet", "quantmod", "advmod", "neg", "preconj"))
NOUN_LIKE = frozenset(("JJ", "VBG", "CD", "FW", "RB", "VB", "VBP", "VBD", "VBN", "IN", "UH"))  # with a determiner
NOT_IN_NAMES = frozenset(("color", "material", "pattern", "size", "expression"))
SOME_NUMBER, MANY = Count(1, None, confidence=0.5), Count(2, None, confidence=0.5)


@dataclass(eq=False, slots=True)
class Draft:
    """An object under construction."""

    phrase: str
    canonical: str
    count: Count
    attributes: list[Attribute] = field(default_factory=list)
    relations: list[tuple[str, Draft, bool]] = field(default_factory=list)  # the last: negated
    incoming: list[tuple[str, Draft]] = field(default_factory=list)  # relations that point here
    absent: bool = False
    mentioned: bool = False  # only to say where another object is not
    times: int = 1  # that it is named
    importance: float = 1.0
    confidence: float = 1.0
    part_of: Draft | None = None
    flags: tuple[str, ...] = ()
    definite: bool = False
    owned: bool = False
    subject: bool = False
    sentence: int = 0
    start: int = 0  # where in the prompt it is first named
    number: int = 0  # in order of mention

    @property
    def plural(self) -> bool:
        return self.count.high != 1 and self.count.low != 1

    @property
    def is_person(self) -> bool:
        return is_a(self.canonical, "person")

    @property
    def is_alive(self) -> bool:
        return is_a(self.canonical, "person", "animal")


def describe(drafts: Iterable[Draft], *attributes: Attribute) -> None:
    """Give attributes to objects."""
    for draft in drafts:
        draft.attributes += attributes


def relate(subjects: Iterable[Draft], name: str, targets: Sequence[Draft], negated: bool = False) -> None:
    """Relate each subject to each target, but nothing to itself."""
    for subject in subjects:
        for target in targets:
            if subject is not target and (name, target, negated) not in subject.relations:
                subject.relations.append((name, target, negated))
                target.incoming += [(name, subject)] * (not negated)


class SceneBuilder:
    """All objects of a prompt in order of mention."""

    def __init__(self, prompt: Prompt) -> None:
        self.prompt, self.sentence = prompt, 0
        self.drafts: list[Draft] = []
        self.by_name: dict[str, list[Draft]] = defaultdict(list)
        self.joint_subjects: list[list[Draft]] = []  # of one sentence
        self.concepts: list[str] = []  # "hope", of which there is nothing to see
        self.unattached: list[Attribute] = []  # the tags of "cat, sleeping, fluffy"

    def add(self, draft: Draft) -> Draft:
        """Add an object."""
        draft.number = len(self.drafts)
        self.drafts.append(draft)
        self.by_name[draft.canonical].append(draft)
        return draft

    def present(self) -> list[Draft]:
        """The objects that a word can refer to: the recent ones that are not absent."""
        return [draft for draft in self.drafts[-MEMORY:] if not draft.absent]

    def things(self, unattached: list[Attribute]) -> tuple[Thing, ...]:
        """All objects, in the order of the prompt; attributes without an object go to the first."""
        describe(self.drafts[:1], *unattached, *self.unattached)
        self.compare_sizes()
        order = sorted(self.drafts, key=lambda draft: (draft.start, draft.number))
        places = {draft: at for at, draft in enumerate(order)}
        return tuple(
            Thing(
                draft.phrase,
                draft.canonical,
                draft.count,
                tuple(dict.fromkeys(draft.attributes)),
                tuple(Relation(name, places[target], negated) for name, target, negated in draft.relations),
                draft.absent,
                draft.mentioned,
                draft.importance,
                draft.confidence,
                places[draft.part_of] if draft.part_of else None,
                draft.flags,
            )
            for draft in order
        )

    def compare_sizes(self) -> None:
        """Relate a small object to a large one of its kind: "a small book on a large book" compares them."""
        for group in self.by_name.values():
            degrees = {
                draft: {lex.DEGREES.get(each.value) for each in draft.attributes if not each.negated}
                for draft in group[:MEMORY]
                if not draft.absent
            }
            for less, more in (("smaller", "larger"), ("shorter", "taller")):
                targets = [draft for draft, found in degrees.items() if more in found]
                relate((draft for draft, found in degrees.items() if less in found), f"{less} than", targets)

    # -- objects that are named

    def read(self, node: Node) -> Draft | None:
        """The object that a noun phrase names, new or known."""
        if not is_noun_phrase(node):
            return None
        if node.token.one or (node.lower in {"one", "ones"} and not node.token.name):
            return self.read_one(node)
        subject = node.dep in {"nsubj", "nsubjpass"}
        described = node.lower in lex.GROUNDS and (node.under("amod", "compound") or subject)  # "a white background"
        visible = described or node.under("poss") or (node.lower in lex.VISIBLE_SUBJECTS and node.dep == "nsubj")
        if node.lower in lex.NON_OBJECTS and not visible:
            return None
        draft = self.draft(node)
        if is_concept(draft.canonical) and not draft.absent and not node.token.word.isupper():
            self.concepts.append(self.plain_phrase(node))
            return None
        return self.place(draft)

    def read_one(self, node: Node) -> Draft | None:
        """`the other one`, `a white one`, `one`: an object of a kind named before: a group, else with an article."""
        draft, without = self.draft(node), node.dep == "pobj" and node.head.lower == "without"
        present = [other for other in self.present() if not (without and other.is_alive)]  # "a boy without one"
        groups = [other for other in present if other.plural and other.count.explicit]
        counted = [other for other in present if other.count.words in lex.ARTICLES]
        subjects = [other for other in counted if other.subject]
        plural = sorted((other for other in present if other.plural), key=lambda other: other.subject)
        ranked = [*groups[-1:], *subjects[-1:], *counted[-1:], *plural[-1:], *present[-1:]]
        if not ranked:
            return None
        draft.canonical = ranked[0].canonical
        several = draft.count if draft.count.explicit else MANY
        draft.count = node.token.count or (several if node.lower == "ones" else Count(1, 1))
        draft.part_of = self.group_of(draft.canonical)
        return self.add(draft)

    def draft(self, node: Node) -> Draft:
        """The object that a noun phrase describes."""
        left = [child for child in node.children if child.at < node.at and child.dep in PREMODIFIERS]
        left = [child for child in left if child.lower not in lex.OUTSIDE_NOUN_PHRASE]
        names, attributes = modifiers(node, left)
        before = [word for child in left for word in child.subtree() if word.at < node.at and word.token.word != ","]
        definite = any(word.lower in lex.DEFINITE and word.head is node for word in before)
        count = count_of(node, before, definite)
        name = name_of(node, names, count)
        absent = node.token.name == "nobody" or has_word(before, "no") or shares_no(node, left)
        if name.split()[-1] == "couple" and not absent:
            high = count.high and 2 * count.high
            name, count = "person", replace(count, low=2 * count.low, high=high, explicit=high is not None)
        if count.explicit and count.low > 1 and has_word(before, "not"):
            attributes.append(Attribute("count", str(count.low), negated=True))  # "not two cats": any other number
            count = Count(0, None, confidence=0.5)
        start = min([node.token.start, *(word.token.start for word in before if word.lower != "no")])
        misspelt = any(word.token.misspelt for word in [node, *before])
        vague = bool(lex.VAGUE_QUANTIFIERS & set(count.words.split()))
        first = node
        while first.dep == "conj" and first.head.is_noun:
            first = first.head
        return Draft(
            phrase=self.prompt.text[start : node.token.end],
            canonical=name,
            count=SOME_NUMBER if name == "text" else count,
            attributes=attributes,
            absent=absent or count.high == 0,
            importance=self.prompt.weight(node.token.start),
            confidence=0.8 if misspelt else 1.0,
            flags=("ambiguous quantifier",) * vague + ("misspelt",) * misspelt,
            definite=definite,
            owned=any(child.dep == "poss" for child in left),
            subject=first.dep in {"nsubj", "nsubjpass", "ROOT"},
            sentence=self.sentence,
            start=start,
        )

    def plain_phrase(self, node: Node) -> str:
        """A noun phrase without its determiner."""
        left = [child.token.start for child in node.under(*MODIFIERS) if child.at < node.at]
        return self.prompt.text[min([node.token.start, *left]) : node.token.end].lower()

    def place(self, draft: Draft) -> Draft:
        """A draft's place in the scene: that of a known object if it is named again."""
        bare = not draft.count.words and not draft.plural
        if (draft.definite or bare) and not draft.absent and not draft.owned and draft.canonical != "text":
            for known in reversed(self.by_name[draft.canonical][-MEMORY:]):
                apart = draft.definite or known.sentence != draft.sentence  # "chair next to chair" are two
                if apart and not known.absent and not known.owned and agrees(known, draft):
                    known.attributes += draft.attributes
                    known.times, known.mentioned = known.times + 1, False
                    known.sentence, known.subject = draft.sentence, draft.subject
                    return known
        if draft.definite and not draft.plural and not draft.owned:
            draft.part_of = self.group_of(draft.canonical)
        return self.add(draft)

    def group_of(self, name: str) -> Draft | None:
        """The group that an object is part of: "two dogs … the larger dog"."""
        whole = (other for other in reversed(self.by_name[name]) if not other.absent and other.part_of is None)
        return other if (other := next(whole, None)) and other.plural else None

    def antecedents(self, pronoun: str, excluded: Sequence[Draft], last: int, living: bool = False) -> list[Draft]:
        """The objects that a pronoun means, among those up to `last`: the nearest sentence first, then subjects."""
        near = [draft for draft in self.present() if draft.number <= last and draft not in excluded]
        near.sort(key=lambda draft: (-draft.sentence, not draft.subject, -draft.number))
        if living:  # "its paw" is an animal's
            near = [draft for draft in near if draft.is_alive] or near
        fitting = [draft for draft in near if may_mean(pronoun, draft)]
        if pronoun not in lex.PLURAL_PRONOUNS:
            return fitting[:1]
        groups = (group for group in reversed(self.joint_subjects[-MEMORY:]) if set(group) <= set(near))
        people = [draft for draft in near if draft.is_person]
        return next(groups, []) or fitting[:1] or people[:1]


def may_mean(pronoun: str, draft: Draft) -> bool:
    """Whether a pronoun may mean an object, by number and gender."""
    if pronoun in lex.PLURAL_PRONOUNS or draft.plural:
        return draft.plural and pronoun in lex.PLURAL_PRONOUNS
    if pronoun in lex.PERSONAL_PRONOUNS:
        return draft.is_alive and draft.canonical not in (lex.WOMEN if pronoun in lex.MASCULINE else lex.MEN)
    return not draft.is_person


def agrees(draft: Draft, other: Draft) -> bool:
    """Whether two mentions can be one object: the red cup is not the blue one."""
    kinds = {attribute.kind for attribute in draft.attributes} - {"other"}
    contradicts = any(a.kind in kinds and a not in draft.attributes for a in other.attributes)
    return not contradicts and (other.plural or not draft.plural)


def is_noun_phrase(node: Node) -> bool:
    """Whether a node is the head of a noun phrase."""
    token = node.token
    part = node.dep in MODIFIERS and node.head.at > node.at and (node.head.is_noun or node.head.dep in ARGUMENTS)
    if token.text is not None or token.relation or token.word == "," or (token.attributes and not token.name):
        return token.one
    if token.one or token.name:
        return not part
    if node.lower in lex.PRONOUNS:
        return False
    if node.is_noun:
        adjectival = node.dep in {"attr", "acomp"} and lex.kind_of(node.lower) and not node.under(*DETERMINERS)
        return not adjectival and not part  # "the plane is vintage"
    nominal = node.tag in NOUN_LIKE and node.under(*DETERMINERS)
    return bool(nominal) and node.dep in ARGUMENTS and token.count is None


def shares_no(node: Node, left: list[Node]) -> bool:
    """`no dogs and cats`, `no cars, trees, and people`: bare nouns in a list share the "no" before its first."""
    if left or node.dep != "conj":
        return False
    first, joined = node.head, bool(node.under("cc"))
    while first.dep == "conj" and first.head.is_noun and not first.under(*MODIFIERS):
        joined, first = joined or bool(first.under("cc")), first.head
    return has_word(first.under("det"), "no") and (joined or bool(first.under("cc")))


def name_of(node: Node, names: list[str], count: Count) -> str:
    """The canonical name of a noun with the words that belong to its name."""
    if node.token.name == "nobody" or node.lower in lex.INDEFINITE_PRONOUNS:
        return "person"
    kept = [name for name in names if name not in {"color", "colour", "colored"}]
    name = canonical(" ".join([*kept, node.token.name or node.lower]))
    counted = (count.explicit and count.low > 1) or has_word(node.under("prep"), "of")
    return lex.COUNTED_NAMES.get(name, name) if counted else name


def count_of(node: Node, before: list[Node], definite: bool) -> Count:
    """How many objects a noun phrase names."""
    counts = [word.token.count for word in before if word.token.count is not None]
    stated = next((count for count in counts if count.words not in lex.ARTICLES), counts[0] if counts else None)
    one = singular(node.lower)
    plural, paired = one != node.lower, node.lower in lex.PLURALIA_TANTUM
    if stated is not None:
        if paired and lex.PAIRS & set(stated.words.split()):
            return Count(1, 1, stated.words)
        if stated.words in lex.SOME and plural:
            return Count(2, None, stated.words, confidence=stated.confidence)
        return stated
    if node.lower in lex.MASS_NOUNS:
        return SOME_NUMBER
    proper = node.token.word[:1].isupper() and not is_noun(one)  # James
    return MANY if plural and not paired and not proper else Count(1, 1, "the" if definite else "")


def modifiers(node: Node, left: list[Node]) -> tuple[list[str], list[Attribute]]:
    """The words before a noun that belong to its name, and the attributes that the others give."""
    names: list[str] = []
    attributes: list[Attribute] = list(node.token.attributes)
    for child in sorted(left, key=lambda child: child.at):
        if child.dep in {*MODIFIERS, "advmod"} or child.token.attributes:
            for word in [child, *conjuncts(child)]:
                add_modifier(word, node, names, attributes)
    return names, attributes


def conjuncts(node: Node) -> list[Node]:
    """The adjectives that "and" joins to one: red, green and blue."""
    return [word for child in node.under("conj") for word in [child, *conjuncts(child)]]


def add_modifier(child: Node, node: Node, names: list[str], attributes: list[Attribute]) -> None:
    """Add one word before a noun, after those that modify it, to the names or the attributes."""
    for word in child.children:
        describes = word.dep in NAME_PARTS or (word.dep == "advmod" and lex.kind_of(word.lower))
        if word.at < child.at and describes:
            add_modifier(word, node, names, attributes)
    if child.token.attributes:
        attributes += [attribute for attribute in child.token.attributes if attribute.kind]
    elif nth := ordinal(child.lower):
        attributes.append(Attribute("position", nth))
    elif child.token.text is not None:
        return
    elif is_name_part(child, node):
        names.append(child.token.name or child.lower)
    elif attribute := attribute_of(
        child.lower, child.tag, child.verb, degree(child), is_a(singular(node.lower), "person", "animal")
    ):
        attributes.append(attribute)


def is_name_part(child: Node, node: Node) -> bool:
    """Whether a word belongs to the name of a noun: fire hydrant, polar bear; not leather jacket, red wine."""
    word, noun = child.lower, singular(node.token.name or node.lower)
    compound = f"{word} {noun}"
    if (compound in lex.COMPOUNDS and child.at == node.at - 1) or child.token.name:
        return True
    if word in {"left", "right"} and noun in lex.BODY_PARTS:
        return True  # a person's left is not the image's
    kind = lex.kind_of(word)
    if kind in NOT_IN_NAMES or word in lex.NON_DESCRIPTIVE:
        return False
    if is_ing_verb(word):
        return is_noun(compound)
    nominal = child.is_noun or (is_noun(word) and word not in vocabulary().adjectives)
    return nominal and kind is None and child.tag not in {"VBG", "VBN"}


def degree(node: Node) -> str:
    """`slightly` in "slightly bent"."""
    near = (adverb.lower for adverb in node.under("advmod", "npadvmod") if adverb.at == node.at - 1)
    return next((adverb for adverb in near if adverb in lex.DEGREE_ADVERBS or adverb.endswith("ly")), "")
