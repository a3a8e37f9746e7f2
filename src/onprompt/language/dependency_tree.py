"""The dependency tree of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from onprompt.language import lexicon as lex
from onprompt.language.segmentation import Token
from onprompt.language.spelling import VOWELS, verb_lemmas, vocabulary

# The labels that a noun phrase can have.
ARGUMENTS = frozenset(("nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj", "ROOT", "appos", "dative", "oprd", "dep"))
SUBJECTS = ("nsubj", "nsubjpass", "csubj")
OBJECTS = ("dobj", "dative", "oprd")
CLAUSES = frozenset(("relcl", "acl"))  # that modify a noun
NAME_PARTS = frozenset(("compound", "amod", "nmod"))
MAX_DEPTH = 12  # levels of a tree that are climbed


class Word(NamedTuple):
    """What a parser says of a word: its tag, label, lemma, and the place of its head; a root is its own head."""

    tag: str
    label: str
    lemma: str
    head: int


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
        """The infinitive: by rule, else the model's if that is a common word, else the word as written."""
        regular = (form for form in verb_lemmas(self.lower) if form in vocabulary().verbs)
        return next(regular, self.lemma if self.lemma in vocabulary().common else self.lower)

    @property
    def progressive(self) -> str:
        """The -ing form of a verb; the word as written if there is no such English verb."""
        if self.lower.endswith("ing") and self.lower not in vocabulary().verbs:  # but "swing"
            return self.lower
        form = progressive(self.verb)
        return form if self.verb in vocabulary().verbs or form in vocabulary().common else self.lower

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


def progressive(verb: str) -> str:
    """Hold → holding, ride → riding, sit → sitting."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) and verb != "be":
        return verb[:-1] + "ing"
    short = len(verb) >= 3 and verb[-1] in "bdgmnprt" and verb[-2] in VOWELS and verb[-3] not in VOWELS
    doubled = (len(verb) <= 4 or verb in lex.DOUBLING_VERBS) and not verb.endswith("en")
    return verb + verb[-1] * (short and doubled) + "ing"
