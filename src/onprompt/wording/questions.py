"""Claims as sentences that a model can answer by yes or no."""

from onprompt.evidence.attributes import is_text
from onprompt.evidence.beliefs import FEW
from onprompt.language import progressive
from onprompt.types import Check, Claim, Scene, Thing
from onprompt.wording.claims import count_words

# Attributes that tell objects of one name apart: "the red ball" and "the blue ball".
DISTINGUISHING = ("color", "size", "material", "pattern", "shape", "state", "other")
ADJECTIVES = ("color", "size", "shape", "pattern", "state", "expression", "orientation")
VERBS = {"with": "has", "of": "belongs to"}  # of relations that are no predicate after "is"


def claim_sentence(check: Check, scene: Scene) -> str:
    """A claim by itself, without the rest of what is asked for; what is ruled out as if it were there."""
    claim = check.claim
    if check.thing is None:
        return f'The image as a whole fits the description "{claim.value}".'
    thing = scene.things[check.thing]
    if thing.absent or claim.kind in ("object", "kind", "sex", "age"):
        return f"This can be seen in the image: {excluded(thing, scene) if thing.absent else thing.canonical}."
    if claim.count is not None:
        if claim.count.high is None and claim.count.words:  # many, several, at least two
            return f"This describes how many there are in the image: {thing.phrase}."
        number = f"{'exactly ' if claim.count.exact is not None else ''}{count_words(claim.count)}"
        few = not claim.count.explicit and claim.count.high == 1  # "a dog" is met by two dogs
        return f"Counting every {noun(thing, scene)} in the image gives {f'1 to {FEW}' if few else number}."
    if claim.kind == "text":
        where = "in the image" if is_text(thing) else f"on the {noun(thing, scene)}"
        return f'This text can be read {where}: "{claim.value}".'
    if claim.kind == "relation":
        verb = VERBS.get(claim.value, f"is {claim.value}")
        return f"In the image, {subject(thing, scene)} {verb} {target_words(check, scene)}."
    who = f"at least one {thing.canonical}" if is_shared(thing, scene) else subject(thing, scene)
    return f"In the image, {who} {attribute_words(claim)}."


def attribute_words(claim: Claim) -> str:
    """The predicate of a claim: "is brown", "is made of glass", "is running"."""
    if claim.kind == "action":
        verb, *rest = claim.value.split()
        return " ".join(["is", progressive(verb), *rest])
    if claim.kind in ADJECTIVES:
        return f"is {claim.value}"
    verbs = {"material": "is made of ", "content": "contains ", "position": "has this position: "}
    return f"{verbs[claim.kind]}{claim.value}" if claim.kind in verbs else f'fits the description "{claim.value}"'


def excluded(thing: Thing, scene: Scene) -> str:
    """What must not be there, with all that the prompt says of it: "no red car" rules out no blue one."""
    details = [each.value for each in thing.attributes if each.kind != "text" and each.value not in thing.phrase]
    texts = [f'"{each.value}"' for each in thing.attributes if each.kind == "text"]
    related = [(each.name, scene.things[each.target].canonical) for each in thing.relations]
    owners = [f"{name} with" for relation, name in related if relation == "of"]  # a pizza without cheese
    others = [f"{relation} the {name}" for relation, name in related if relation != "of"]
    return " ".join([*owners, *details, thing.phrase, *texts, *others])


def is_shared(thing: Thing, scene: Scene) -> bool:
    """Whether other objects of the prompt have the same name."""
    return sum(other.canonical == thing.canonical and not other.absent for other in scene.things) > 1


def noun(thing: Thing, scene: Scene) -> str:
    """The name of an object, with what tells it from others of that name."""
    own = [each.value for each in thing.attributes if each.kind in DISTINGUISHING] if is_shared(thing, scene) else []
    return " ".join([*own, thing.canonical])


def subject(thing: Thing, scene: Scene) -> str:
    """The object that a claim is about; each one if there are several."""
    if is_text(thing):
        return the_text(thing)
    return f"{'each' if thing.count.low > 1 else 'the'} {noun(thing, scene)}"


def the_text(thing: Thing) -> str:
    """Text that is asked for without anything that bears it."""
    return "the text " + " ".join(f'"{each.value}"' for each in thing.attributes if each.kind == "text")


def target_words(check: Check, scene: Scene) -> str:
    """The other object of a relation, or both that something is between."""
    thing = scene.things[check.thing or 0]
    ends = [relation.target for relation in thing.relations if relation.name == check.claim.value == "between"]
    named = [r.target for r in thing.relations if scene.things[r.target].phrase == check.claim.target]
    others = [scene.things[end] for end in ends or named[:1]]
    return " and ".join(the_text(other) if is_text(other) else f"the {noun(other, scene)}" for other in others)
