"""What the model often gets wrong in prompts, put right where the words leave no doubt."""

from __future__ import annotations

from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.nodes import ARGUMENTS, Node
from onprompt.language.ontology import singular
from onprompt.language.wordnet import is_noun


def mend(node: Node, nodes: Sequence[Node]) -> None:
    """One node, by the first rule that fits."""
    if is_masked(node):
        unmask(node)
    elif is_joined_verb(node):
        join(node, nodes)
    elif is_masked_noun(node):
        name(node)
    elif is_buried_verb(node, nodes):
        unearth(node, nodes)
    elif node.dep == "appos" and node.head.dep == "pobj" and node.head.head.dep == "ROOT":
        hang(node, node, "ROOT")  # "on a table, a tray": the tray is what the sentence is about


def hang(node: Node, head: Node, dep: str) -> None:
    """Put a node under another, or under none."""
    if node.head is not node:
        node.head.children.remove(node)
    node.head, node.dep = head, dep
    if head is not node:
        head.children.append(node)


def is_verbal(node: Node) -> bool:
    """Whether a word is the -ing form of a verb and no noun we know."""
    return (
        node.lower.endswith("ing") and node.lower not in links.ING_NOUNS and not node.unit.name and len(node.lower) > 4
    )


def noun_before(node: Node) -> Node | None:
    """The noun right before a node that hangs on it, if any."""
    near = (
        each for each in node.children if each.at == node.at - 1 and each.dep in {"compound", "amod", "nmod", "nsubj"}
    )
    return next((each for each in near if each.is_noun), None)


def is_masked(node: Node) -> bool:
    """Whether `sweater jumping` was read as a kind of jumping, or `pencil longer`, `object present` as one thing."""
    if node.tag not in {"NN", "NNP", "VBG", "JJ"} or node.dep not in ARGUMENTS:
        return False
    noun = noun_before(node)
    says = is_verbal(node) or node.lower in lex.COMPARATIVES or node.tag == "JJ"
    return noun is not None and says and not is_noun(f"{noun.lower} {node.lower}")


def unmask(node: Node) -> None:
    """The noun takes the word's place, and the word says something of it."""
    noun = noun_before(node)
    if noun is None:
        return
    head, dep = (noun, "ROOT") if node.head is node else (node.head, node.dep)
    before = [child for child in node.children if child.at < node.at and child is not noun]
    node.children.remove(noun)
    noun.head = noun
    hang(noun, head, dep)
    for child in before:
        hang(child, noun, child.dep)
    node.tag = "VBG" if is_verbal(node) else "JJ"
    hang(node, noun, "acl")


def is_buried_verb(node: Node, nodes: Sequence[Node]) -> bool:
    """Whether "a chef flipping pancakes" was read as a kind of pancakes."""
    head = node.head
    if node.dep not in {"amod", "compound"} or head.at < node.at or not is_verbal(node) or not node.at:
        return False
    before = nodes[node.at - 1]
    inside = before.is_noun and before.head in (head, node) and before.dep in {"compound", "nmod", "amod"}
    return inside and not is_noun(f"{node.lower} {singular(head.lower)}")


def unearth(node: Node, nodes: Sequence[Node]) -> None:
    """The noun before the verb takes the place of the noun after it, which becomes the verb's object."""
    noun, thing = nodes[node.at - 1], node.head
    head, dep = (noun, "ROOT") if thing.head is thing else (thing.head, thing.dep)
    noun.head.children.remove(noun)
    noun.head = noun
    if thing.head is not thing:
        thing.head.children.remove(thing)
    thing.children.remove(node)
    thing.head = node.head = noun
    node.children.append(thing)
    thing.head, thing.dep = node, "dobj"
    node.tag, node.dep = "VBG", "acl"
    noun.children.append(node)
    noun.dep = dep
    if head is not noun:
        noun.head = head
        head.children.append(noun)
    for child in [each for each in thing.children if each.at < noun.at]:
        hang(child, noun, child.dep)


def is_joined_verb(node: Node) -> bool:
    """Whether the "singing" of "sitting on a branch and singing" was read as a noun."""
    bare = not any(
        child.at < node.at and child.dep in {"det", "amod", "compound", "poss", "nummod"} for child in node.children
    )
    return node.tag == "NN" and node.dep == "conj" and is_verbal(node) and bare


def join(node: Node, nodes: Sequence[Node]) -> None:
    """To the verb before it."""
    verbs = [each for each in nodes[: node.at] if each.is_verb and each.dep not in {"aux", "auxpass"}]
    if verbs:
        node.tag = "VBG"
        hang(node, verbs[-1], "conj")


def is_masked_noun(node: Node) -> bool:
    """Whether the rose of "a red rose" was read as what the red does."""
    adjective = next((each for each in node.children if each.at == node.at - 1), None)
    if not node.is_verb or adjective is None or not is_noun(node.lower) or node.tag == "VBG":
        return False
    described = (
        adjective.lower in lex.KIND_OF_ATTRIBUTE and adjective.tag == "JJ" and adjective.dep in {"nsubj", "amod"}
    )
    return described and not node.under("dobj", "aux", "prt")


def name(node: Node) -> None:
    """The verb is a noun, and its subject describes it."""
    for child in [each for each in node.children if each.at < node.at]:
        for inner in list(child.children):
            hang(inner, node, inner.dep)
        child.dep = "amod" if child.tag == "JJ" else child.dep
    node.tag = "NN"
