"""Noun phrases: what is named, how many, and which of its words describe it."""

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import attribute_of
from onprompt.language.dependency_tree import ARGUMENTS, NAME_PARTS, Node, has_word
from onprompt.language.ontology import canonical, singular
from onprompt.language.prompt import Prompt
from onprompt.language.quantities import ordinal
from onprompt.language.scene_builder import Draft, SceneBuilder, is_alive
from onprompt.language.segmentation import is_ing_verb
from onprompt.language.spelling import vocabulary
from onprompt.language.wordnet import is_noun
from onprompt.types import Attribute, Count

DETERMINERS = ("det", "nummod", "poss")
MODIFIERS = (*NAME_PARTS, "npadvmod")
PREMODIFIERS = frozenset((*DETERMINERS, *MODIFIERS, "predet", "quantmod", "advmod", "neg", "preconj"))
NOUN_LIKE = frozenset(("JJ", "VBG", "CD", "FW", "RB", "VB", "VBP", "VBD", "VBN", "IN", "UH"))  # with a determiner
NOT_IN_NAMES = frozenset(("color", "material", "pattern", "size", "expression"))
SOME_NUMBER, MANY = Count(1, None, confidence=0.5), Count(2, None, confidence=0.5)


class NounPhraseReader:
    """Reads noun phrases into a scene."""

    def __init__(self, prompt: Prompt, scene: SceneBuilder) -> None:
        self.prompt, self.scene = prompt, scene
        self.sentence = 0

    def read(self, node: Node) -> int | None:
        """The object that a noun phrase names, new or known."""
        if not is_noun_phrase(node):
            return None
        if node.token.one or (node.lower in {"one", "ones"} and not node.token.name):
            return self.read_one(node)
        visible = node.under("poss") or (node.lower in lex.VISIBLE_SUBJECTS and node.dep == "nsubj")
        if node.lower in lex.NON_OBJECTS and not is_described_ground(node) and not visible:
            return None
        return self.scene.place(self.draft(node))

    def read_one(self, node: Node) -> int | None:
        """`the other one`, `a white one`, `one`: an object of a kind named before."""
        draft = self.draft(node)
        lacking = node.dep == "pobj" and node.head.lower == "without"  # "a boy without one" has no balloon
        antecedent = self.scene.last_possession() if lacking else self.scene.antecedent_of_one()
        if antecedent is None:
            return None
        draft.canonical = self.scene.drafts[antecedent].canonical
        several = draft.count if draft.count.explicit else MANY
        draft.count = node.token.count or (several if node.lower == "ones" else Count(1, 1))
        draft.part_of = self.scene.group_of(draft.canonical)
        return self.scene.add(draft)

    def plain_phrase(self, node: Node) -> str:
        """A noun phrase without its determiner."""
        left = [child.token.start for child in node.under(*MODIFIERS) if child.at < node.at]
        return self.prompt.text[min([node.token.start, *left]) : node.token.end].lower()

    def draft(self, node: Node) -> Draft:
        """The object that a noun phrase describes."""
        left = [child for child in node.children if child.at < node.at and child.dep in PREMODIFIERS]
        left = [child for child in left if child.lower not in lex.OUTSIDE_NOUN_PHRASE]
        names, attributes = modifiers(node, left)
        before = [word for child in left for word in child.subtree() if word.at < node.at and word.token.word != ","]
        count = count_of(node, before)
        name = name_of(node, names, count)
        absent = node.token.name == "nobody" or has_word(before, "no") or shares_no(node, left)
        if name.split()[-1] == "couple" and not absent:
            name, count = "person", doubled(count)
        if absent and name == "text" and node.token.attributes:  # 'no text "HELLO"' excludes only these words
            attributes, absent = [Attribute("not text", text.value) for text in node.token.attributes], False
        if count.explicit and count.low > 1 and has_word(before, "not"):
            attributes.append(Attribute("not count", str(count.low)))  # "not two cats": any other number
            count = Count(0, None, confidence=0.5)
        start = min([word.token.start for word in before if word.lower != "no"], default=node.token.start)
        misspelt = any(word.token.misspelt for word in [node, *before])
        return Draft(
            phrase=self.prompt.text[min(start, node.token.start) : node.token.end],
            canonical=name,
            count=SOME_NUMBER if name == "text" else count,
            attributes=attributes,
            absent=absent or count.high == 0,
            importance=self.prompt.weight(node.token.start),
            confidence=0.8 if misspelt else 1.0,
            flags=flags(count, misspelt),
            definite=is_definite(node, before),
            owned=any(child.dep == "poss" for child in left),
            subject=is_subject(node),
            sentence=self.sentence,
            start=min(start, node.token.start),
        )


# ---- which nodes are noun phrases ------------------------------------------------------------------------------------


def is_noun_phrase(node: Node) -> bool:
    """Whether a node is the head of a noun phrase."""
    token = node.token
    if token.text is not None or token.relation or token.word == "," or (token.attributes and not token.name):
        return token.one
    if token.one or token.name:
        return not is_modifier(node)
    if node.lower in lex.PRONOUNS:
        return False
    if node.is_noun:
        adjectival = node.dep in {"attr", "acomp"} and lex.kind_of(node.lower) and not node.under(*DETERMINERS)
        return not adjectival and not is_modifier(node)  # "the plane is vintage"
    nominal = node.tag in NOUN_LIKE and node.under(*DETERMINERS)
    return bool(nominal) and node.dep in ARGUMENTS and node.lower not in lex.NUMBERS and token.count is None


def is_modifier(node: Node) -> bool:
    """Whether a noun stands before another as part of its name."""
    return node.dep in MODIFIERS and node.head.at > node.at and (node.head.is_noun or node.head.dep in ARGUMENTS)


def is_described_ground(node: Node) -> bool:
    """`a white background` can be seen; "the background" is only a place."""
    described = bool(node.under("amod", "compound")) or node.dep in {"nsubj", "nsubjpass"}
    return node.lower in lex.GROUNDS and described


def is_subject(node: Node) -> bool:
    """Whether a noun, or one that it is joined to, is a subject."""
    while node.dep == "conj" and node.head.is_noun:
        node = node.head
    return node.dep in {"nsubj", "nsubjpass", "ROOT"}


def is_definite(node: Node, before: list[Node]) -> bool:
    """Whether a noun has a definite determiner."""
    return any(word.lower in lex.DEFINITE and word.head is node for word in before)


def shares_no(node: Node, left: list[Node]) -> bool:
    """`no dogs and cats`, `no cars, trees, and people`: bare nouns in a list share the "no" before its first."""
    if left or node.dep != "conj":
        return False
    first, joined = node.head, bool(node.under("cc"))
    while first.dep == "conj" and first.head.is_noun and not first.under(*MODIFIERS):
        joined, first = joined or bool(first.under("cc")), first.head
    return has_word(first.under("det"), "no") and (joined or bool(first.under("cc")))


# ---- the name and the number -----------------------------------------------------------------------------------------


def name_of(node: Node, names: list[str], count: Count) -> str:
    """The canonical name of a noun with the words that belong to its name."""
    if node.token.name == "nobody" or node.lower in lex.INDEFINITE_PRONOUNS:
        return "person"
    if "'" in node.token.name:
        return node.token.name.replace(" '", "'")  # Rubik's cube
    kept = [name for name in names if name not in {"color", "colour", "colored"}]
    name = canonical(" ".join([*kept, node.token.name or node.lower]))
    counted = (count.explicit and count.low > 1) or has_word(node.under("prep"), "of")
    return lex.COUNTED_NAMES.get(name, name) if counted else name


def is_proper(node: Node) -> bool:
    """Whether a word is capitalized and no known noun."""
    return node.token.word[:1].isupper() and not is_noun(singular(node.lower))


def is_plural(node: Node) -> bool:
    """Whether a noun is a plural form."""
    return singular(node.lower) != node.lower


def count_of(node: Node, before: list[Node]) -> Count:
    """How many objects a noun phrase names."""
    counts = [word.token.count for word in before if word.token.count is not None]
    stated = next((count for count in counts if count.words not in lex.ARTICLES), counts[0] if counts else None)
    mass, paired = node.lower in lex.MASS_NOUNS, node.lower in lex.PLURALIA_TANTUM
    if stated is not None:
        if paired and lex.PAIRS & set(stated.words.split()):
            return Count(1, 1, stated.words)
        if stated.words in lex.SOME and is_plural(node):
            return Count(2, None, stated.words, confidence=stated.confidence)
        return stated
    if mass:
        return SOME_NUMBER
    if is_plural(node) and not paired and not is_proper(node):
        return MANY
    return Count(1, 1, "the" if is_definite(node, before) else "")


def doubled(count: Count) -> Count:
    """How many people so many couples are."""
    high = None if count.high is None else 2 * count.high
    return replace(count, low=2 * count.low, high=high, explicit=high is not None)


def flags(count: Count, misspelt: bool) -> tuple[str, ...]:
    """What a reader of the scene should know about a phrase."""
    vague = bool(lex.VAGUE_QUANTIFIERS & set(count.words.split()))
    return ("ambiguous quantifier",) * vague + ("misspelt",) * misspelt


# ---- the words before a noun -----------------------------------------------------------------------------------------


def modifiers(node: Node, left: list[Node]) -> tuple[list[str], list[Attribute]]:
    """The words before a noun that belong to its name, and the attributes that the others give."""
    names: list[str] = []
    attributes: list[Attribute] = list(node.token.attributes)
    for child in sorted(left, key=lambda child: child.at):
        if child.dep in {*MODIFIERS, "advmod"} or child.token.attributes:
            for word in [child, *conjuncts(child)]:
                add_modifier(word, node, names, attributes)
    return names, attributes


def add_modifier(child: Node, node: Node, names: list[str], attributes: list[Attribute]) -> None:
    """Add one word before a noun, after those that modify it, to the names or the attributes."""
    for word in child.children:
        describes = word.dep in NAME_PARTS or (word.dep == "advmod" and lex.kind_of(word.lower))
        if word.at < child.at and describes and not is_tone(word):
            add_modifier(word, node, names, attributes)
    if child.token.attributes:
        attributes += [attribute for attribute in child.token.attributes if attribute.kind]
    elif nth := ordinal(child.lower):
        attributes.append(Attribute("position", nth))
    elif child.token.text is not None or is_tone(child):
        return
    elif is_name_part(child, node):
        names.append(child.token.name or child.lower)
    else:
        alive = is_alive(singular(node.lower))
        attribute = attribute_of(with_tone(child), child.tag, child.verb, degree(child), alive)
        attributes += [attribute] if attribute else []


def is_name_part(child: Node, node: Node) -> bool:
    """Whether a word belongs to the name of a noun: fire hydrant, polar bear; not leather jacket, red wine."""
    word, noun = child.lower, singular(node.lower)
    compound, adjacent = f"{word} {noun}", child.at == node.at - 1
    if (compound in lex.COMPOUNDS and adjacent) or child.token.name:
        return True
    if word in {"left", "right"} and noun in lex.BODY_PARTS:
        return True  # a person's left is not the image's
    kind = lex.kind_of(word)
    if kind in NOT_IN_NAMES or word in lex.NON_DESCRIPTIVE:
        return False
    if is_ing_verb(word):
        return is_noun(compound) and adjacent
    nominal = child.is_noun or (is_noun(word) and word not in vocabulary().adjectives)
    return bool(nominal and kind is None and child.tag not in {"VBG", "VBN"})


def is_tone(node: Node) -> bool:
    """Whether a word is the `dark` of `dark blue`."""
    if node.lower not in lex.TONES:
        return False
    near = [*node.head.children, node.head, *(inner for child in node.head.children for inner in child.children)]
    return any(word.at == node.at + 1 and word.lower in lex.COLOURS for word in near)


def with_tone(node: Node) -> str:
    """A colour with its tone: dark blue."""
    near = [*node.children, *node.head.children, *node.head.head.children] if node.lower in lex.COLOURS else []
    tone = next((word.lower for word in near if word.at == node.at - 1 and word.lower in lex.TONES), "")
    return f"{tone} {node.lower}" if tone else node.lower


def degree(node: Node) -> str:
    """`slightly` in "slightly bent"."""
    near = (adverb.lower for adverb in node.under("advmod", "npadvmod") if adverb.at == node.at - 1)
    return next((adverb for adverb in near if adverb in lex.DEGREE_ADVERBS or adverb.endswith("ly")), "")


def conjuncts(node: Node) -> list[Node]:
    """The adjectives that "and" joins to one: red, green and blue."""
    return [word for child in node.under("conj") for word in [child, *conjuncts(child)]]
