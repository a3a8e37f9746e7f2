"""Trees to the scene: who is meant, what is said of whom, and the relations between objects."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.ontology import is_a
from onprompt.language.scene import Draft, SceneBuilder, degree, describe, relate
from onprompt.language.tokens import Token
from onprompt.language.tree import CLAUSES, MAX_DEPTH, NAME_PARTS, OBJECTS, SUBJECTS, Node, has_word
from onprompt.language.words import attribute_of, singular
from onprompt.types import Attribute, Count

PREDICATES = ("acomp", "oprd", "conj", "ROOT", "advcl", "acl", "attr", "appos", "amod", "ccomp", "xcomp", "relcl")
VERBAL_KINDS = frozenset(("expression", "lighting", "orientation"))  # "smiling" is no action
PARTICIPLES = frozenset(("VBN", "VBD"))
PLACES = frozenset(("in", "on", "at"))
DENIALS = ("not", "n't", "never")


class Interpreter:
    """One tree, read into the scene; `objects` are those that a node, by its place, stands for."""

    def __init__(self, nodes: list[Node], detached: list[tuple[int, Token]], scene: SceneBuilder) -> None:
        self.nodes, self.detached, self.scene = nodes, detached, scene  # phrases come with the place where they stood
        self.objects: dict[int, list[Draft]] = {}
        self.known = len(self.scene.drafts)  # objects of the sentences before

    def resolve(self) -> None:
        """Find the objects of all nodes: nouns first, since pronouns look back at them."""
        for node in self.nodes:
            regroup_garment(node)
        for node in self.nodes:
            if not node.is_script and (draft := self.scene.read(node)):
                self.objects[node.at] = [draft]
        named = {draft for at, drafts in self.objects.items() if self.nodes[at].is_noun for draft in drafts}
        subjects = [draft for draft in named if draft.subject]
        self.scene.joint_subjects += [sorted(subjects, key=lambda draft: draft.number)] if len(subjects) > 1 else []
        for node in self.nodes:
            if node.lower in lex.PRONOUNS and node.dep not in {"pobj", "dobj"}:
                self.resolve_pronoun(node)
            if node.dep == "poss" and node.head.at in self.objects and node.at in self.objects:
                relate(self.objects[node.head.at], "of", self.objects[node.at])  # "the dog's collar"

    def read(self) -> None:
        """Find the objects, then what is said of them, from left to right."""
        self.resolve()
        for node in self.nodes:
            self.read_node(node)
        for node in self.nodes:
            if node.is_script:  # of the last text, else of what the preposition describes
                before = [draft for at, drafts in self.objects.items() if at < node.head.at for draft in drafts]
                texts = [draft for draft in before if draft.canonical == "text"]
                written = texts[-1:] or self.governors(node.head, [])[-1:]
                describe(written, Attribute("style", self.scene.plain_phrase(node)))
        for at, token in self.detached:
            self.read_detached(at, token)

    def read_node(self, node: Node) -> None:
        """What a node says of objects."""
        predicate = node.dep in PREDICATES and not (node.dep == "amod" and node.head.at > node.at)
        if node.token.text is not None:
            self.read_quote(node)
        elif node.is_preposition:
            self.read_preposition(node)
        elif node.token.attributes and node.at not in self.objects:
            self.describe_subject(node, node.token.attributes if predicate else ())
        elif node.is_verb and node.dep != "amod":
            self.read_verb(node)
        elif predicate and (node.dep in {"amod", "acomp"} or node.tag.startswith("JJ")):
            attribute = attribute_of(node.lower, node.tag, node.lemma, degree(node))  # "the car is red"
            self.describe_subject(node, [attribute] if attribute and node.at not in self.objects else [])

    def is_denied(self, node: Node) -> bool:
        """Whether a "not" stands right before a node or governs it within its clause."""
        before = [self.nodes[node.at - 1].lower] if node.at else []
        before += [token.name for at, token in self.detached if at < node.at]
        if not {"neither", *DENIALS}.isdisjoint(before):
            return True
        for _ in range(MAX_DEPTH):
            if node.under("neg") or has_word(node.children, *DENIALS):
                return True
            if node.head is node or (node.is_verb and node.dep not in {"xcomp", "aux"}) or node.dep in CLAUSES:
                return False
            if node.head.at in self.objects:
                return False
            node = node.head
        return False

    # -- phrases and texts

    def read_detached(self, at: int, token: Token) -> None:
        """A detached phrase describes the object before it; at the start of a piece, the next one."""
        if token.of_image or not token.attributes:
            return
        kind = token.attributes[0].kind
        opens = at == 0 or self.nodes[at - 1].lower in {",", "and"}
        after = [place for place in self.objects if place >= at]
        before = [place for place in self.objects if place < at]
        fronted = bool(opens and after and (not before or kind == "position"))
        for place in after[:1] if fronted or not before else before[-1:]:
            owned = kind in {"position", "orientation"} and not fronted
            describe(self.owners(self.objects[place]) if owned else self.objects[place], *token.attributes)

    def read_quote(self, node: Node) -> None:
        """Quoted text is on its head, else on what is named before; without an object, the text is one."""
        head = [node.head.at] if node.dep in {*NAME_PARTS, "appos"} else []
        before = [at for at in self.objects if at < node.at][-1:]
        places = [at for at in (node.at, *head, *before, node.at + 1) if at in self.objects]
        bearers = self.objects[places[0]] if places else []
        if not bearers:
            draft = Draft("text", "text", Count(1, None), sentence=self.scene.sentence, start=node.token.start)
            bearers = self.objects[node.at] = [self.scene.add(draft)]
        bearer = bearers[-1]
        denied = self.is_denied(node) or (bearer.absent and bearer.canonical != "text")
        bearer.attributes.append(Attribute("text", node.token.text or "", denied))

    # -- adjectives and verbs

    def describe_subject(self, node: Node, attributes: Sequence[Attribute]) -> None:
        """Give attributes, or deny them, to a node's subject; without one they wait for the first object."""
        denied, subjects = self.is_denied(node), self.subjects(node)
        given = [replace(each, negated=denied) for each in attributes]
        describe(subjects, *given)
        if not subjects and not self.objects:
            self.scene.unattached += given

    def read_verb(self, node: Node) -> None:
        """What the subject does, and to whom."""
        quotes = any(child.token.text is not None for child in node.children)
        if node.dep in {"aux", "auxpass"} or (node.lower in lex.TEXT_VERBS and quotes):
            return
        subjects = self.subjects(node)
        if node.lower in lex.BE:
            return
        name = " ".join([node.progressive, *(child.lower for child in node.under("prt"))])
        if node.lower in lex.HAVE | lex.WEARING:
            name = "with" if node.lower in lex.HAVE else "wearing"
        objects = self.objects_of(*node.under(*OBJECTS))
        if agents := self.objects_of(*agents_of(node)):
            relate(agents, name, subjects)
        elif objects and subjects:
            for draft in objects if self.is_denied(node) else ():
                draft.absent = True
            relate([draft for draft in objects if draft.absent], "of", subjects)
            relate(subjects, name, [draft for draft in objects if not draft.absent])
            if node.verb in lex.POSTURE_VERBS:  # "sitting a table"
                describe(subjects, Attribute("action", node.verb))
        elif subjects and not node.under("acomp"):
            describe(subjects, *self.action(node))
        elif not self.objects:
            self.scene.unattached += self.action(node)

    def action(self, node: Node) -> list[Attribute]:
        """A verb without an object is an action, an expression or a state; some say nothing."""
        consumed = any(prep.relation[1] for prep in node.under("prep"))
        if node.verb in lex.NON_ACTION_VERBS or node.lower in lex.WRITING_PARTICIPLES or consumed:
            return []
        passive = node.tag in PARTICIPLES and (not node.under(*SUBJECTS) or node.under("auxpass"))
        attribute: Attribute | None = Attribute("action", node.verb)
        if passive or lex.kind_of(node.lower) in VERBAL_KINDS:
            attribute = attribute_of(node.lower, "VBN" if passive else node.tag, node.verb, degree(node))
        if attribute is None:
            return []
        adverbs = [child.lower for child in node.children if is_particle(child, node)]
        return [Attribute(attribute.kind, " ".join([attribute.value, *adverbs]), self.is_denied(node))]

    # -- prepositions

    def read_preposition(self, node: Node) -> None:
        """A preposition relates what it describes to its objects."""
        nouns = node.under("pobj")
        targets, (name, _) = self.objects_of(*nouns), node.relation
        agent = node.lower == "by" and node.head.is_verb and agents_of(node.head)
        if not targets or agent:
            return
        described = [draft for draft in self.governors(node, targets) if draft not in targets]
        if name == "wearing":  # "a man with a beard in a coat"
            described = self.owners(described)
        for draft in targets if name in {"without", "instead of"} else ():
            draft.absent = True
        if name in {"with", "without"}:
            relate([draft for draft in targets if draft.absent], "of", described)
        if name != "instead of":
            present, denied = [draft for draft in targets if not draft.absent], self.is_denied(node)
            relate(described, name, present, denied)
            for draft in present if denied and not has_word(nouns, *lex.PRONOUNS) else ():
                draft.mentioned = draft.times == 1  # "not next to a cat"

    def governors(self, node: Node, targets: Sequence[Draft], depth: int = 0) -> list[Draft]:
        """The objects that a preposition with these targets describes."""
        head = node.head
        if depth > MAX_DEPTH:
            return []
        if head is node:  # "above them is a moon"
            inner = {word.at for word in node.subtree()}
            after = [at for at in self.objects if at > node.at and at not in inner]
            return self.objects_of(self.nodes[after[0]]) if after else []
        if head.at in self.objects:
            if not node.is_spatial:
                return self.own_objects(head)
            described = self.conjoined_objects(head, node.at)
            owners = self.owners([*self.located_with(head), *described, *self.between(node)])
            return described if set(owners) & set(targets) else owners
        if head.is_preposition:
            return self.governors(head, targets, depth + 1)
        return [*self.subjects(head), *self.between(node)]

    def between(self, node: Node) -> list[Draft]:
        """The object right before a place said of another: the bike of "riding a bike in a park"."""
        near = [self.nodes[at] for at in self.objects if node.head.at < at < node.at][-1:]
        if not near or not near[0].is_noun or not node.is_spatial:
            return []
        noun = near[0]
        carried = noun.dep == "dobj" and noun.head.verb in lex.TRANSPORT_VERBS
        placed = noun.dep == "pobj" and noun.head.relation[0] in PLACES
        return self.objects_of(noun) if carried or placed else []

    def located_with(self, node: Node) -> list[Draft]:
        """Whom the place of a noun is said of too: what is on a mat in a room is in the room."""
        if node.dep == "pobj" and node.head.is_spatial:
            return self.governors(node.head, [])
        held = node.head.lower in lex.HAVE | lex.WEARING  # "has a ribbon around its neck"
        return self.subjects(node.head) if node.dep == "dobj" and not held else []

    # -- the objects of nodes

    def own_objects(self, node: Node) -> list[Draft]:
        """The objects of a node alone."""
        return list(self.objects.get(node.at, ()))

    def objects_of(self, *nodes: Node) -> list[Draft]:
        """The objects of nodes, with those joined to them by "and"."""
        found: list[Draft] = []
        for node in nodes:
            if node.lower in lex.PRONOUNS:
                self.resolve_pronoun(node)
            joined = self.own_objects(node)
            for child in node.under("conj", "appos"):
                if is_listed(child) and not child.is_verb and not self.is_parallel(node, child):
                    joined += self.objects_of(child)
            found += joined
        return found

    def is_parallel(self, node: Node, child: Node) -> bool:
        """`a girl with a balloon and a boy with a kite`: the boy is joined to the girl, not to the balloon."""
        besides_garment = is_worn(node) and is_a(singular(child.lower), "person", "animal")
        return node.dep == "pobj" and (besides_garment or has_word(child.under("prep"), node.head.lower, "without"))

    def conjoined_objects(self, node: Node, until: int) -> list[Draft]:
        """The objects of a noun and of the conjuncts around it, which share what follows."""
        bare = (child for child in node.under("conj") if not child.is_verb and not is_postmodified(child))
        found = [*self.own_objects(node), *self.objects_of(*(child for child in bare if child.at < until))]
        while is_listed(node) and not node.head.is_verb and not self.is_parallel(node.head, node):
            node = node.head
            if is_postmodified(node):
                break
            found = [*self.own_objects(node), *found]
        return found

    def subjects(self, node: Node, depth: int = 0) -> list[Draft]:
        """The objects that a verb or adjective describes."""
        head, helpers = node.head, node.under("aux", "auxpass")
        own = node.under(*SUBJECTS) or [subject for helper in helpers for subject in helper.under(*SUBJECTS)]
        found = self.objects_of(*own[-1:])  # of two, as in "a girl whose hair is green", the nearer
        if not found and node.lower in lex.BE:  # "between them is a book"
            found = self.objects_of(*node.under("attr"))
        if found or depth > MAX_DEPTH or (head is node and not node.is_noun):
            return found
        if head.at not in self.objects:
            return self.subjects(head, depth + 1) if head is not node else []
        shared = node.is_verb or node.dep == "acl"
        return self.owners(self.conjoined_objects(head, node.at) if shared else self.own_objects(head), acting=True)

    def owners(self, drafts: Sequence[Draft], acting: bool = False) -> list[Draft]:
        """Whom a place or an action is said of: garments and what is absent neither sit nor stand."""
        owners: list[Draft] = []
        for draft in drafts:
            owner, last = None, draft.canonical.split()[-1]
            if draft.absent:
                owner = next((target for name, target, _ in draft.relations if name == "of"), None)
            elif not acting or {last, f"{last}s"} & lex.CLOTHES:
                owner = next((other for name, other in draft.incoming if belongs(draft, name)), None)
            owners.append(owner or draft)
        return list(dict.fromkeys(owners))

    # -- pronouns

    def resolve_pronoun(self, node: Node) -> None:
        """Find the objects of a pronoun; those of objects when asked for, as more is known of the others then."""
        if node.at not in self.objects:
            self.objects[node.at] = []  # none yet, while they are looked for
            found = self.antecedents(node)
            self.objects = dict(sorted({**self.objects, node.at: found}.items()))

    def antecedents(self, node: Node) -> list[Draft]:
        """What a pronoun means: "who" its head, "it" the last object that fits and is not in the same relation."""
        if node.tag.startswith("W") or node.lower in lex.RELATIVE_PRONOUNS:
            clause = node
            while clause.dep not in CLAUSES and clause.head is not clause:
                clause = clause.head
            return self.own_objects(clause.head) if clause.dep in CLAUSES else []
        excluded: list[Draft] = []  # nothing lies on itself, chases itself, or is its own part
        if node.dep == "pobj":
            excluded = self.own_objects(node.head.head) or self.governors(node.head, [])
        elif node.dep in {"dobj", "poss"}:
            excluded = self.subjects(node.head) if node.dep == "dobj" else self.own_objects(node.head)
        before = (draft.number for at, drafts in self.objects.items() if at < node.at for draft in drafts)
        last = max(before, default=self.known - 1)
        owned_part = node.dep == "poss" and node.head.is_body_part
        found = self.scene.antecedents(node.lower, excluded, last, owned_part)
        if not found and node.lower in lex.UNNAMED_PEOPLE and node.dep != "poss":  # "He is running"
            phrase = self.scene.prompt.text[node.token.start : node.token.end]
            draft = Draft(phrase, lex.UNNAMED_PEOPLE[node.lower], Count(1, 1, "the"), definite=True, subject=True)
            draft.sentence, draft.start = self.scene.sentence, node.token.start
            found = [self.scene.add(draft)]
        return found


def belongs(draft: Draft, relation: str) -> bool:
    """Whether an object is worn by another, or is its text or a part of its body."""
    part = draft.canonical == "text" or draft.canonical in lex.BODY_PARTS
    return relation in lex.BELONGING or (relation == "with" and part)


def regroup_garment(node: Node) -> None:
    """`a skeleton with a hat and sunglasses`: join a garment to a garment, not to its wearer."""
    if node.dep == "conj" and is_worn(node) and not node.head.is_verb and not is_worn(node.head):
        before = (word for word in node.head.subtree() if word.dep in {"pobj", "dobj"} and word.at < node.at)
        if worn := max(filter(is_worn, before), key=lambda word: word.at, default=None):
            node.attach(worn, "conj")


def is_worn(node: Node) -> bool:
    """Whether a noun is a garment or a part of a body."""
    return node.is_garment or node.is_body_part


def is_postmodified(node: Node) -> bool:
    """Whether something follows a noun that describes it alone."""
    return any(child.at > node.at for child in node.under("prep", "acl", "relcl"))


def is_listed(node: Node) -> bool:
    """Whether a noun is an item of a list: "an owl, a fox, and a bear"."""
    return node.dep == "conj" or (node.dep == "appos" and bool(node.under("conj", "cc")))


def agents_of(node: Node) -> list[Node]:
    """By whom something is done: "carried by his father"."""
    if node.tag not in PARTICIPLES or node.under("dobj"):
        return []
    preps = [prep for prep in node.under("agent", "prep") if prep.lower == "by" and not prep.token.relation]
    return [child for prep in preps for child in prep.under("pobj", "pcomp")]


def is_particle(child: Node, verb: Node) -> bool:
    """`down` in "lying down", `left` in "looking left"."""
    alone = all(each.is_preposition for each in child.children)  # "away from a house"
    if child.at < verb.at or not alone or child.token.attributes or child.lower in lex.NON_PARTICLES:
        return False
    adverbial = child.tag in {"RB", "RP", "IN"} or child.lower in lex.SIDES
    return child.dep == "prt" or (adverbial and child.dep in {"advmod", "npadvmod", "dobj", "acomp"})
