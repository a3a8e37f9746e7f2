"""Tokens to trees: each clause as a dependency tree, with common errors of the parser fixed, and what its nodes are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from onprompt.language import lexicon as lex
from onprompt.language.dependency_parser import Word, parse_words
from onprompt.language.ontology import canonical, is_a
from onprompt.language.tokens import Token
from onprompt.language.words import attribute_of, is_ing_verb, is_noun, progressive, singular, verb_lemmas, vocabulary

# The labels that a noun phrase can have.
ARGUMENTS = frozenset(("nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj", "ROOT", "appos", "dative", "oprd", "dep"))
SUBJECTS = ("nsubj", "nsubjpass", "csubj")
OBJECTS = ("dobj", "dative", "oprd")
CLAUSES = frozenset(("relcl", "acl"))  # that modify a noun
NAME_PARTS = frozenset(("compound", "amod", "nmod"))
MAX_DEPTH = 12  # levels of a tree that are climbed


@dataclass(eq=False, slots=True)
class Node:
    """A token at its place in the tree."""

    at: int
    token: Token
    tag: str
    dep: str
    lemma: str
    head: Node = field(init=False)
    children: list[Node] = field(default_factory=list)

    @property
    def lower(self) -> str:
        return self.token.lower

    @property
    def is_noun(self) -> bool:
        return self.tag.startswith("NN")

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VB") or self.tag == "MD"

    @property
    def verb(self) -> str:
        """The infinitive: by rule, else the learned lemma if that is a common word, else the word as written."""
        regular = (form for form in verb_lemmas(self.lower) if form in vocabulary().verbs)
        return next(regular, self.lemma if self.lemma in vocabulary().common else self.lower)

    @property
    def progressive(self) -> str:
        """The -ing form of a verb; the word as written if there is no such English verb."""
        if self.lower.endswith("ing") and self.lower not in vocabulary().verbs:  # but "swing"
            return self.lower
        form = progressive(self.verb)
        return form if self.verb in vocabulary().verbs or form in vocabulary().common else self.lower

    @property
    def is_garment(self) -> bool:
        return self.lower in lex.CLOTHES or singular(self.lower) in lex.CLOTHES

    @property
    def is_body_part(self) -> bool:
        return singular(self.lower) in lex.BODY_PARTS

    @property
    def is_preposition(self) -> bool:
        """Whether a node relates its object to its head."""
        tagged = self.tag in {"IN", "TO"} and bool(self.under("pobj"))
        return bool(self.token.relation) or self.dep in {"prep", "agent"} or tagged

    @property
    def is_spatial(self) -> bool:
        """Whether a preposition names a place."""
        return self.relation[0] in lex.SPATIAL

    @property
    def relation(self) -> tuple[str, bool]:
        """A preposition's relation, and whether the verb before it is part of that: looking at, playing with."""
        plain = self.token.relation or lex.RELATIONS.get(self.lower, self.lower)
        verb, objects = self.head, self.under("pobj")
        if plain == "of":
            return ("with" if singular(verb.lower) in lex.CONTAINERS else "of"), False
        if plain == "in" and any(noun.is_garment for noun in objects):
            return "wearing", False
        visible = verb.is_verb and verb.lower not in lex.BE | lex.HAVE and verb.verb not in lex.NON_ACTION_VERBS
        if not objects or not visible or verb.under(*OBJECTS) or self.token.relation:
            return plain, False
        prepositions = lex.DIRECTED_PREPOSITIONS if verb.verb in lex.DIRECTED_VERBS else lex.SELECTED_PREPOSITIONS
        selected = verb.tag != "VBN" and self.lower in prepositions and verb.verb not in lex.POSTURE_VERBS
        if not selected or any(noun.is_body_part for noun in objects):  # "balancing with his arms out"
            return plain, False
        return f"{verb.progressive} {self.lower}", True

    @property
    def is_script(self) -> bool:
        """Whether a noun only says how text looks: "written in flowing cursive", "in bold letters"."""
        prep = self.head
        if self.dep != "pobj" or prep.lower not in {"in", "with"} or self.token.text is not None:
            return False
        written = prep.lower == "in" and prep.head.lower in lex.WRITING_PARTICIPLES
        if {self.lower, singular(self.lower)} & lex.SCRIPT_NOUNS:
            return prep.head.token.text is not None or prep.lower == "in"
        return written and not self.under("det", "poss")

    def under(self, *deps: str) -> list[Node]:
        """The children with one of these labels."""
        return [child for child in self.children if child.dep in deps]

    def subtree(self) -> Iterator[Node]:
        """The node and all below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children)

    def attach(self, head: Node, dep: str) -> None:
        """Move the node under another head, or under none."""
        if self.head is not self:
            self.head.children.remove(self)
        self.head, self.dep = head, dep
        if head is not self:
            head.children.append(self)


def has_word(nodes: Iterable[Node], *words: str) -> bool:
    """Whether one of the words is among the nodes."""
    return any(node.lower in words for node in nodes)


def dependency_trees(sentences: Sequence[Sequence[Token]]) -> list[list[Node]]:
    """The nodes of each sentence's tree."""
    words = [[token.word for token in tokens] for tokens in sentences]
    return [build_tree(*each) for each in zip(parse_words(words), sentences, strict=True)]


def build_tree(words: Sequence[Word], tokens: Sequence[Token]) -> list[Node]:
    """Parsed words as nodes, with common errors fixed."""
    nodes = [
        Node(at, token, word.tag, word.label, word.lemma.lower())
        for at, (word, token) in enumerate(zip(words, tokens, strict=True))
    ]
    for node, word in zip(nodes, words, strict=True):
        node.head = nodes[word.head]
        if node.head is not node:
            node.head.children.append(node)
    for node in nodes:
        any(fix(node, nodes) for fix in FIXES)
    return nodes


def fix_noun_taken_for_modifier(node: Node, _: Sequence[Node]) -> bool:
    """`sweater jumping` read as a kind of jumping, `cat meanders` as several meanders, `pencil longer` as one noun."""
    if node.tag not in {"NN", "NNP", "NNS", "VBZ", "VBG", "JJ"} or node.dep not in ARGUMENTS:
        return False
    near = (child for child in node.children if child.at == node.at - 1 and child.dep in {*NAME_PARTS, "nsubj"})
    noun = next((child for child in near if child.is_noun), None)
    if noun is None or is_noun(f"{noun.lower} {singular(node.lower)}"):
        return False
    finite = node.tag in {"NNS", "VBZ"} and is_present_tense(node, noun)
    fits = finite or is_ing_verb(node.lower) or node.tag == "JJ"
    if fits:
        replace_head(noun, node)
        if is_ing_verb(node.lower) or not node.is_verb:
            node.tag = "VBG" if is_ing_verb(node.lower) else "VBZ" if node.tag == "NNS" else "JJ"
        node.attach(noun, "acl")
    return fits


def is_present_tense(node: Node, noun: Node) -> bool:
    """Whether a word in -s is rather what a person or an animal does than a plural, by how common its -ing form is."""
    lemma, common = node.verb, vocabulary().common
    one = singular(noun.lower) == noun.lower and is_a(canonical(noun.token.name or noun.lower), "person", "animal")
    if node.token.name or node.dep == "dobj" or lemma == node.lower or not one or lemma not in vocabulary().verbs:
        return False
    plain = common.get(lemma, 0) + common.get(node.lower, 0)
    known = node.tag == "VBZ" or has_word(node.under("det"), "a", "an")  # "a dog barks"
    return known or common.get(progressive(lemma), 0) >= plain


def replace_head(noun: Node, head: Node) -> None:
    """Put a noun in the place of its head, with all that stands before it."""
    if head.head is head:
        noun.attach(noun, "ROOT")
    else:
        noun.attach(head.head, head.dep)
    for child in [child for child in head.children if child.at < noun.at]:
        child.attach(noun, child.dep)


def fix_verb_listed_as_noun(node: Node, nodes: Sequence[Node]) -> bool:
    """The `singing` of "sitting on a branch and singing": nothing determines or describes it."""
    if node.tag != "NN" or node.dep != "conj" or not is_ing_verb(node.lower) or node.under("det", "amod", "poss"):
        return False
    verbs = [other for other in nodes[: node.at] if other.is_verb]
    if verbs:
        node.tag = "VBG"
        node.attach(verbs[-1], "conj")
    return bool(verbs)


def fix_noun_taken_for_verb(node: Node, _: Sequence[Node]) -> bool:
    """The rose of `a red rose` read as what the red does."""
    adjective = next((child for child in node.children if child.at == node.at - 1), None)
    if not node.is_verb or adjective is None or not is_noun(node.lower) or node.tag == "VBG":
        return False
    if adjective.lower not in lex.KIND_OF_ATTRIBUTE or adjective.tag not in {"JJ", "NN"}:
        return False
    if adjective.lower in lex.COLOUR_NOUNS or node.under("dobj", "aux", "prt"):  # but "the orange rose"
        return False
    for child in [child for child in node.children if child.at < node.at]:
        for inner in list(child.children):
            inner.attach(node, inner.dep)
    adjective.dep, node.tag = "amod", "NN"
    return True


def fix_adjective_taken_for_noun(node: Node, _: Sequence[Node]) -> bool:
    """`a grey and white cat` is one cat; of `a black and a white cat` the black one is a cat, too."""
    if lex.kind_of(node.lower) is None or node.lower in lex.COLOUR_NOUNS or node.under(*NAME_PARTS):
        return False
    thing, attribute = next((child for child in node.under("conj") if child.is_noun), None), attribute_of(node.lower)
    if thing is None or attribute is None:
        return False
    if attribute.kind == "color" and not thing.under("det", "nummod", "poss"):
        for child in node.under("det", "nummod", "poss"):
            child.attach(thing, child.dep)
        thing.attach(thing if node.head is node else node.head, node.dep)
        node.attach(thing, "amod")
    elif thing.under("det") and thing.under("amod") and node.under("det"):
        node.token = replace(node.token, name=thing.token.name or thing.lower, attributes=(attribute,))
    else:
        return False
    return True


def fix_verb_taken_for_modifier(node: Node, nodes: Sequence[Node]) -> bool:
    """`a chef flipping pancakes` read as a kind of pancakes: the noun before the verb is what does it."""
    thing, noun = node.head, nodes[node.at - 1]
    if node.dep not in {"amod", "compound"} or thing.at < node.at or not is_ing_verb(node.lower) or not node.at:
        return False
    inside = noun.is_noun and noun.head in (thing, node) and noun.dep in NAME_PARTS
    if not inside or is_noun(f"{node.lower} {singular(thing.lower)}"):
        return False
    replace_head(noun, thing)
    node.attach(noun, "acl")
    node.tag = "VBG"
    thing.attach(node, "dobj")
    return True


FIXES = (
    *(fix_noun_taken_for_modifier, fix_verb_listed_as_noun, fix_noun_taken_for_verb, fix_adjective_taken_for_noun),
    fix_verb_taken_for_modifier,
)
