"""Fixes for errors that the dependency parser often makes in prompts, applied where the words leave no doubt."""

from collections.abc import Sequence

from onprompt.language import lexicon as lex
from onprompt.language.dependency_tree import ARGUMENTS, NAME_PARTS, Node, has_word, progressive
from onprompt.language.ontology import canonical, singular
from onprompt.language.relations import is_body_part, is_spatial
from onprompt.language.scene_builder import is_alive
from onprompt.language.segmentation import is_ing_verb
from onprompt.language.spelling import vocabulary
from onprompt.language.wordnet import is_noun


def fix_parse(node: Node, nodes: Sequence[Node]) -> None:
    """Apply the first fix that fits a node."""
    if noun := noun_taken_for_modifier(node):
        promote_noun(noun, node)
    elif is_verb_listed_as_noun(node):
        join_to_verb(node, nodes)
    elif is_noun_taken_for_verb(node):
        turn_into_noun(node)
    elif is_verb_taken_for_modifier(node, nodes):
        promote_verb(node, nodes)
    elif node.dep == "appos" and node.head.dep == "pobj" and node.head.head.dep == "ROOT":
        node.attach(node, "ROOT")  # "on a table, a tray": the sentence is about the tray
    elif landmark := nearest_landmark(node, nodes):
        node.attach(landmark, "prep")


def is_verbal(node: Node) -> bool:
    """Whether a word is the -ing form of a verb and no known noun."""
    return is_ing_verb(node.lower) and not node.token.name and len(node.lower) > 4


# "sweater jumping" read as a kind of jumping, "cat meanders" as several meanders, "pencil longer" as one noun


def noun_taken_for_modifier(node: Node) -> Node | None:
    """The noun right before an argument that is rather said of that noun."""
    if node.tag not in {"NN", "NNP", "NNS", "VBZ", "VBG", "JJ"} or node.dep not in ARGUMENTS:
        return None
    near = (child for child in node.children if child.at == node.at - 1 and child.dep in {*NAME_PARTS, "nsubj"})
    noun = next((child for child in near if child.is_noun), None)
    if noun is None or is_noun(f"{noun.lower} {singular(node.lower)}"):
        return None
    if node.tag in {"NNS", "VBZ"}:
        return noun if noun.dep != "nsubj" and is_present_tense(node, noun) else None
    return noun if is_verbal(node) or node.lower in lex.COMPARATIVES or node.tag == "JJ" else None


def is_present_tense(node: Node, noun: Node) -> bool:
    """Whether a word in -s is rather what a person or an animal does than a plural, by how common its -ing form is."""
    lemma, common = node.verb, vocabulary().common
    singular_noun = singular(noun.lower) == noun.lower and is_alive(canonical(noun.token.name or noun.lower))
    if node.token.name or node.dep == "dobj" or lemma == node.lower or not singular_noun:
        return False
    if node.tag == "VBZ" or has_word(node.under("det"), "a", "an"):  # "a dog barks"
        return lemma in vocabulary().verbs
    plain = common.get(lemma, 0) + common.get(node.lower, 0)
    return lemma in vocabulary().verbs and common.get(progressive(lemma), 0) >= plain


def promote_noun(noun: Node, node: Node) -> None:
    """The noun takes the place of its head, which becomes a clause that describes it."""
    head, dep = (noun, "ROOT") if node.head is node else (node.head, node.dep)
    noun.attach(head, dep)
    for child in [child for child in node.children if child.at < node.at]:
        child.attach(noun, child.dep)
    node.tag = "VBG" if is_verbal(node) else "VBZ" if node.tag == "NNS" else node.tag if node.is_verb else "JJ"
    node.attach(noun, "acl")


# "a chef flipping pancakes" read as a kind of pancakes


def is_verb_taken_for_modifier(node: Node, nodes: Sequence[Node]) -> bool:
    """Whether a modifier in -ing is rather what the noun before it does to the noun after it."""
    head = node.head
    if node.dep not in {"amod", "compound"} or head.at < node.at or not is_verbal(node) or not node.at:
        return False
    before = nodes[node.at - 1]
    inside = before.is_noun and before.head in (head, node) and before.dep in NAME_PARTS
    return inside and not is_noun(f"{node.lower} {singular(head.lower)}")


def promote_verb(node: Node, nodes: Sequence[Node]) -> None:
    """The noun before the verb takes the place of the noun after it, which becomes the verb's object."""
    noun, thing = nodes[node.at - 1], node.head
    head, dep = (noun, "ROOT") if thing.head is thing else (thing.head, thing.dep)
    noun.attach(noun, dep)
    thing.attach(thing, dep)
    node.attach(noun, "acl")
    node.tag = "VBG"
    thing.attach(node, "dobj")
    noun.attach(head, dep)
    for child in [child for child in thing.children if child.at < noun.at]:
        child.attach(noun, child.dep)


# the "singing" of "sitting on a branch and singing" read as a noun


def is_verb_listed_as_noun(node: Node) -> bool:
    """Whether a conjunct in -ing is rather a verb, as nothing determines or describes it."""
    bare = not any(child.at < node.at for child in node.under("det", "amod", "compound", "poss", "nummod"))
    return node.tag == "NN" and node.dep == "conj" and is_verbal(node) and bare


def join_to_verb(node: Node, nodes: Sequence[Node]) -> None:
    """Make a node the conjunct of the verb before it."""
    verbs = [other for other in nodes[: node.at] if other.is_verb and other.dep not in {"aux", "auxpass"}]
    if verbs:
        node.tag = "VBG"
        node.attach(verbs[-1], "conj")


# the rose of "a red rose" read as what the red does


def is_noun_taken_for_verb(node: Node) -> bool:
    """Whether a verb right after an adjective is rather a noun."""
    adjective = next((child for child in node.children if child.at == node.at - 1), None)
    if not node.is_verb or adjective is None or not is_noun(node.lower) or node.tag == "VBG":
        return False
    named = adjective.tag == "NN" and adjective.lower not in lex.COLOUR_NOUNS  # but "the orange rose"
    described = adjective.lower in lex.KIND_OF_ATTRIBUTE and (adjective.tag == "JJ" or named)
    return described and adjective.dep in {"nsubj", "amod"} and not node.under("dobj", "aux", "prt")


def turn_into_noun(node: Node) -> None:
    """The verb becomes a noun, and its subject describes it."""
    for child in [child for child in node.children if child.at < node.at]:
        for inner in list(child.children):
            inner.attach(node, inner.dep)
        child.dep = "amod" if child.at == node.at - 1 else child.dep
    node.tag = "NN"


# "a bagel behind four pigs under six candles" read as a bagel under candles


def nearest_landmark(node: Node, nodes: Sequence[Node]) -> Node | None:
    """The noun right before a place that is said of an earlier one, if that noun is itself said to be a place."""
    before = nodes[node.at - 1]
    if node.dep != "prep" or not node.head.is_noun or before.dep != "pobj" or before.head.head is not node.head:
        return None
    return before if is_spatial(node) and is_spatial(before.head) and not is_body_part(before) else None
