"""Prepositions: what they relate, and by which name."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.attributes import progressive
from onprompt.language.nodes import Node
from onprompt.language.ontology import singular

OBJECTS = ("dobj", "dative", "oprd")


def is_preposition(node: Node) -> bool:
    """Whether a node relates what hangs on it to what it hangs on."""
    return (
        bool(node.unit.relation)
        or node.dep in {"prep", "agent"}
        or (node.tag in {"IN", "TO"} and bool(node.under("pobj")))
    )


def is_spatial(node: Node) -> bool:
    """Whether a preposition names a place."""
    return relation_name(node)[0] in links.SPATIAL


def is_worn(node: Node) -> bool:
    """Whether a noun is something that one wears or that is part of a body."""
    one = singular(node.lower)
    return node.lower in links.CLOTHES or one in links.CLOTHES or one in lex.BODY


def relation_name(node: Node) -> tuple[str, bool]:
    """The relation's name, and whether the verb before it is part of it: looking at, playing with."""
    plain = node.unit.relation or links.RELATIONS.get(node.lower, node.lower)
    head, targets = node.head, node.under("pobj")
    if plain == "of":
        return ("with" if singular(head.lower) in lex.CONTAINERS else "of"), False
    if plain == "in" and any(
        child.lower in links.CLOTHES or singular(child.lower) in links.CLOTHES for child in targets
    ):
        return "wearing", False
    if (
        not head.is_verb
        or not targets
        or head.under(*OBJECTS)
        or head.lower in links.BE | links.HAVE
        or head.base in links.NOT_ACTIONS
    ):
        return plain, False
    if head.lower in links.WEARING and plain == "in":
        return "wearing", False
    if node.unit.relation:
        return plain, False
    selects = links.SELECTING if head.base in links.AIMING else links.ALWAYS_SELECTED
    held = any(singular(child.lower) in lex.BODY for child in targets)  # "balancing with his arms out"
    if head.tag != "VBN" and node.lower in selects and head.base not in links.POSTURES and not held:
        return f"{progressive(head.base)} {node.lower}", True
    return plain, False


def is_script(node: Node) -> bool:
    """Whether a noun only says how words look: "written in flowing cursive", "in bold letters"."""
    prep = node.head
    if node.dep != "pobj" or prep.lower not in {"in", "with"} or prep.unit.relation or node.unit.text is not None:
        return False
    scripted = singular(node.lower) in links.SCRIPTS and (prep.head.unit.text is not None or prep.lower == "in")
    return scripted or (prep.lower == "in" and prep.head.lower in links.WRITTEN and not node.under("det", "poss"))
