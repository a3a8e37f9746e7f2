"""The nodes of a sentence's tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from onprompt.language.spelling import tenses, words
from onprompt.language.units import Unit

# What a noun phrase can be to the word that it hangs on.
ARGUMENTS = frozenset(("nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj", "ROOT", "appos", "dative", "oprd", "dep"))


@dataclass(eq=False, slots=True)
class Node:
    """A unit in its place in the tree."""

    at: int
    unit: Unit
    tag: str
    dep: str
    lemma: str
    head: Node = field(init=False)
    children: list[Node] = field(default_factory=list)

    @property
    def lower(self) -> str:
        return self.unit.lower

    @property
    def is_noun(self) -> bool:
        return self.tag.startswith("NN")

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VB") or self.tag == "MD"

    @property
    def base(self) -> str:
        """A verb's plain form: by rule where that gives a verb, since the model only knows forms that it has met."""
        return next((form for form in tenses(self.lower) if form in words().verbs), self.lemma or self.lower)

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
