"""Prepositions: what they relate, and by which name."""

from onprompt.language import lexicon as lex
from onprompt.language.dependency_tree import OBJECTS, Node
from onprompt.language.ontology import singular


def is_preposition(node: Node) -> bool:
    """Whether a node relates its object to its head."""
    tagged = node.tag in {"IN", "TO"} and bool(node.under("pobj"))
    return bool(node.token.relation) or node.dep in {"prep", "agent"} or tagged


def is_spatial(node: Node) -> bool:
    """Whether a preposition names a place."""
    return relation_name(node)[0] in lex.SPATIAL


def is_garment(node: Node) -> bool:
    """Whether a noun is something to wear."""
    return node.lower in lex.CLOTHES or singular(node.lower) in lex.CLOTHES


def is_body_part(node: Node) -> bool:
    """Whether a noun is a part of a body."""
    return singular(node.lower) in lex.BODY_PARTS


def relation_name(node: Node) -> tuple[str, bool]:
    """A preposition's relation, and whether the verb before it is part of that: looking at, playing with."""
    plain = node.token.relation or lex.RELATIONS.get(node.lower, node.lower)
    verb, objects = node.head, node.under("pobj")
    if plain == "of":
        return ("with" if singular(verb.lower) in lex.CONTAINERS else "of"), False
    if plain == "in" and any(map(is_garment, objects)):
        return "wearing", False
    if not objects or not is_action(verb) or verb.under(*OBJECTS):
        return plain, False
    if node.token.relation or not selects(verb, node) or any(map(is_body_part, objects)):
        return plain, False  # "balancing with his arms out"
    return f"{verb.progressive} {node.lower}", True


def is_action(node: Node) -> bool:
    """Whether a node is a verb that names something visible."""
    return node.is_verb and node.lower not in lex.BE | lex.HAVE and node.verb not in lex.NON_ACTION_VERBS


def selects(verb: Node, preposition: Node) -> bool:
    """Whether a verb takes a preposition to its target, so that the two name one relation."""
    prepositions = lex.DIRECTED_PREPOSITIONS if verb.verb in lex.DIRECTED_VERBS else lex.SELECTED_PREPOSITIONS
    return verb.tag != "VBN" and preposition.lower in prepositions and verb.verb not in lex.POSTURE_VERBS


def is_script(node: Node) -> bool:
    """Whether a noun only says how text looks: "written in flowing cursive", "in bold letters"."""
    prep = node.head
    if node.dep != "pobj" or prep.lower not in {"in", "with"} or prep.token.relation or node.token.text is not None:
        return False
    script = singular(node.lower) in lex.SCRIPT_NOUNS and (prep.head.token.text is not None or prep.lower == "in")
    written = prep.lower == "in" and prep.head.lower in lex.WRITING_PARTICIPLES
    return script or (written and not node.under("det", "poss"))
