"""Who is meant: the objects that the nodes of a tree name, refer to, or describe."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language.dependency_tree import CLAUSES, MAX_DEPTH, SUBJECTS, Node
from onprompt.language.noun_phrases import NounPhraseReader
from onprompt.language.ontology import parts
from onprompt.language.relations import is_body_part, is_garment, is_preposition, is_script, is_spatial, relation_name
from onprompt.language.scene_builder import Draft
from onprompt.types import Count

POSTMODIFIERS = ("prep", "acl", "relcl")
PLACES = frozenset(("in", "on", "at"))
COUNTED = ("det", "nummod")


class Coreference:
    """One tree; `objects` are the indices of the objects that a node, by its place, stands for."""

    def __init__(self, nodes: list[Node], reader: NounPhraseReader) -> None:
        self.nodes, self.reader, self.scene = nodes, reader, reader.scene
        self.objects: dict[int, list[int]] = {}
        self.known = len(self.scene.drafts)  # objects of the sentences before

    def resolve(self) -> None:
        """Find the objects of all nodes: nouns first, since pronouns look back at them."""
        for node in self.nodes:
            regroup_garment(node)
        for node in self.nodes:
            if not is_script(node) and (index := self.reader.read(node)) is not None:
                self.objects[node.at] = [index]
        named = [index for at, objects in self.objects.items() if self.nodes[at].is_noun for index in objects]
        self.scene.join_subjects([index for index in named if self.scene.drafts[index].subject])
        for node in self.nodes:
            if node.lower in lex.PRONOUNS and node.dep not in {"pobj", "dobj"}:
                self.resolve_pronoun(node)
            if node.dep == "poss" and node.head.at in self.objects and node.at in self.objects:
                self.scene.relate(self.objects[node.head.at], "of", self.objects[node.at])  # "the dog's collar"

    def own_objects(self, node: Node) -> list[int]:
        """The objects of a node alone."""
        return list(self.objects.get(node.at, ()))

    def objects_of(self, *nodes: Node) -> list[int]:
        """The objects of nodes, with those joined to them by "and"."""
        return [index for node in nodes for index in self.joined_objects(node)]

    def joined_objects(self, node: Node) -> list[int]:
        """The objects of a node, with those joined to it by "and"."""
        if node.lower in lex.PRONOUNS:
            self.resolve_pronoun(node)
        joined = self.own_objects(node)
        for child in node.under("conj", "appos"):
            if is_listed(child) and not child.is_verb and not self.is_parallel(node, child):
                joined += [index for index in self.objects_of(child) if index not in joined]
        return joined

    def is_parallel(self, node: Node, child: Node) -> bool:
        """`a girl with a balloon and a boy with a kite`: the boy is joined to the girl, not to the balloon."""
        prep = node.head
        if node.dep != "pobj":
            return False
        counted = bool(child.under(*COUNTED))
        between = {word.lower for word in self.nodes[node.at + 1 : child.at]}
        if prep.lower == "without" and counted and {",", "and"} <= between:
            return True  # "without a spoon, and a laptop"
        if counted and is_worn(node) and not is_worn(child):
            return True
        return any(other.lower in {prep.lower, "without"} for other in child.under("prep"))

    def conjoined_objects(self, node: Node, shared: bool, until: int) -> list[int]:
        """The objects of a noun and, if what follows it is shared, of the conjuncts around it."""
        indices = self.own_objects(node)
        if not shared:
            return indices
        bare = (child for child in node.under("conj") if not child.is_verb and not is_postmodified(child))
        indices += self.objects_of(*(child for child in bare if child.at < until))
        while is_listed(node) and not node.head.is_verb and not self.is_parallel(node.head, node):
            node = node.head
            if is_postmodified(node):
                break
            indices = [*self.own_objects(node), *indices]
        return indices

    # -- pronouns

    def resolve_pronoun(self, node: Node) -> None:
        """Find the objects of a pronoun; those of objects when asked for, as more is known of the others then."""
        if node.at not in self.objects:
            self.objects[node.at] = []  # none yet, while they are looked for
            indices = self.antecedents(node)
            self.objects = dict(sorted({**self.objects, node.at: indices}.items()))

    def antecedents(self, node: Node) -> list[int]:
        """What a pronoun means: "who" its head, "it" the last object that fits and is not in the same relation."""
        clause = node
        while clause.dep not in CLAUSES and clause.head is not clause:
            clause = clause.head
        modified = self.own_objects(clause.head) if clause.dep in CLAUSES else []
        if node.tag.startswith("W") or node.lower in lex.RELATIVE_PRONOUNS:
            return modified
        excluded = self.excluded_antecedents(node)
        owned_part = node.dep == "poss" and is_body_part(node.head)
        before = (index for at, indices in self.objects.items() if at < node.at for index in indices)
        last = max(before, default=self.known - 1)
        return self.scene.antecedents(node.lower, excluded, last, owned_part) or self.unnamed_person(node)

    def excluded_antecedents(self, node: Node) -> list[int]:
        """What a pronoun can't mean: nothing lies on itself, chases itself, or is its own part."""
        if node.dep == "pobj":
            return self.own_objects(node.head.head) or self.governors(node.head, [])
        if node.dep == "dobj":
            return self.subjects(node.head)
        return self.own_objects(node.head) if node.dep == "poss" else []

    def unnamed_person(self, node: Node) -> list[int]:
        """`He is running`: somebody who has not been named before."""
        if node.lower not in lex.UNNAMED_PEOPLE or node.dep == "poss":
            return []
        phrase = self.reader.prompt.text[node.token.start : node.token.end]
        draft = Draft(phrase, lex.UNNAMED_PEOPLE[node.lower], Count(1, 1, "the"), definite=True, subject=True)
        draft.sentence, draft.start = self.reader.sentence, node.token.start
        return [self.scene.add(draft)]

    # -- subjects and owners

    def subjects(self, node: Node, depth: int = 0) -> list[int]:
        """The objects that a verb or adjective describes."""
        head, helpers = node.head, node.under("aux", "auxpass")
        own = node.under(*SUBJECTS) or [subject for helper in helpers for subject in helper.under(*SUBJECTS)]
        indices = self.objects_of(*own[-1:])  # of two, as in "a girl whose hair is green", the nearer
        if not indices and node.lower in lex.BE:  # "between them is a book"
            indices = self.objects_of(*node.under("attr"))
        if indices or depth > MAX_DEPTH:
            return indices
        if head is node and not node.is_noun:
            return []
        if head.at in self.objects:
            shared = node.is_verb or node.dep == "acl"
            actors = self.owners(self.conjoined_objects(head, shared, node.at), acting=True)
            return self.living_actors(node, actors) or actors
        return self.subjects(head, depth + 1) if head is not node else []

    def living_actors(self, node: Node, actors: list[int]) -> list[int]:
        """`a man riding a bike eating an apple`: the actor is alive, if anybody around is."""
        head = node.head
        nested = node.tag == "VBG" and node.under("dobj") and head.dep == "dobj" and head.head.tag == "VBG"
        return self.scene.living(self.subjects(head.head)) if nested and not self.scene.living(actors) else []

    def owners(self, indices: list[int], acting: bool = False) -> list[int]:
        """Whom a place or an action is said of: garments and what is absent neither sit nor stand."""
        owners: list[int] = []
        for index in indices:
            draft = self.scene.drafts[index]
            if draft.absent:
                owner = next((target for name, target in draft.relations if name == "of"), None)
            else:
                owner = self.bearer(index) if not acting or is_clothing(draft.canonical) else None
            owners.append(index if owner is None else owner)
        return list(dict.fromkeys(owners))

    def bearer(self, index: int) -> int | None:
        """Who wears an object, or has it as a part."""
        for name, other in self.scene.incoming[index]:
            if name in lex.BELONGING or (name == "with" and self.is_part(index, other)):
                return other
        return None

    def is_part(self, index: int, whole: int) -> bool:
        """Whether an object is a part of another by nature: hair, the door of a house."""
        name = self.scene.drafts[index].canonical
        return name == "text" or name in lex.BODY_PARTS or name in parts(self.scene.drafts[whole].canonical)

    # -- what prepositions describe

    def governors(self, node: Node, targets: list[int], depth: int = 0) -> list[int]:
        """The objects that a preposition with these targets describes."""
        head = node.head
        if depth > MAX_DEPTH:
            return []
        if head is node:
            inner = {word.at for word in node.subtree()}
            after = [at for at in self.objects if at > node.at and at not in inner]
            return self.objects_of(self.nodes[after[0]]) if after else []
        if head.at in self.objects:
            spatial = is_spatial(node)
            described = self.conjoined_objects(head, spatial, node.at)
            whole = self.located_with(head) if spatial and is_shared_place(node, head) else []
            owners = self.owners([*whole, *described, *self.between(node)]) if spatial else described
            return described if set(owners) & set(targets) else owners
        if is_preposition(head):
            return self.governors(head, targets, depth + 1)
        return [*self.subjects(head), *self.between(node)]

    def between(self, node: Node) -> list[int]:
        """The object right before a place said of another: the bike of "riding a bike in a park"."""
        near = [self.nodes[at] for at in self.objects if node.head.at < at < node.at][-1:]
        return self.objects_of(*(noun for noun in near if is_spatial(node) and noun.is_noun and is_at_place(noun)))

    def located_with(self, node: Node) -> list[int]:
        """Whom the place of a noun is said of too: what is on a mat in a room is in the room."""
        if node.dep == "pobj" and is_spatial(node.head):
            return self.governors(node.head, [])
        held = node.head.lower in lex.HAVE | lex.WEARING  # "has a ribbon around its neck"
        return self.subjects(node.head) if node.dep == "dobj" and not held else []


def regroup_garment(node: Node) -> None:
    """`a skeleton with a hat and sunglasses`: join a garment to a garment, not to its wearer."""
    if node.dep != "conj" or not is_worn(node) or node.head.is_verb or is_worn(node.head):
        return
    words = (word for word in node.head.subtree() if word.dep in {"pobj", "dobj"} and word.at < node.at)
    worn = max((word for word in words if is_worn(word)), key=lambda word: word.at, default=None)
    if worn:
        node.attach(worn, "conj")


def is_worn(node: Node) -> bool:
    """Whether a noun is a garment or a part of a body."""
    return is_garment(node) or is_body_part(node)


def is_clothing(name: str) -> bool:
    """Whether the name of an object is that of a garment."""
    head = name.split()[-1]
    return head in lex.CLOTHES or f"{head}s" in lex.CLOTHES


def is_postmodified(node: Node) -> bool:
    """Whether something follows a noun that describes it alone."""
    return any(child.at > node.at for child in node.under(*POSTMODIFIERS))


def is_listed(node: Node) -> bool:
    """Whether a noun is an item of a list: "an owl, a fox, and a bear"."""
    return node.dep == "conj" or (node.dep == "appos" and bool(node.under("conj", "cc")))


def is_shared_place(node: Node, noun: Node) -> bool:
    """Whether a place said of a noun holds of what is there too: not of the bagel "behind pigs under candles"."""
    chained = noun.dep == "pobj" and noun.head.head.is_noun
    return not chained or not PLACES.isdisjoint((relation_name(node)[0], relation_name(noun.head)[0]))


def is_at_place(node: Node) -> bool:
    """Whether a noun is where its subject is: a vehicle, or what the subject is in or on."""
    if node.dep == "dobj":
        return node.head.verb in lex.TRANSPORT_VERBS
    return node.dep == "pobj" and relation_name(node.head)[0] in PLACES
