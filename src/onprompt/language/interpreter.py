"""From a sentence's tree to objects with attributes, and the relations between them."""

from collections.abc import Sequence
from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language.attributes import attribute_of
from onprompt.language.coreference import Coreference
from onprompt.language.dependency_tree import CLAUSES, MAX_DEPTH, NAME_PARTS, OBJECTS, SUBJECTS, Node, has_word
from onprompt.language.noun_phrases import NounPhraseReader, degree, is_tone, with_tone
from onprompt.language.relations import is_preposition, is_script, relation_name
from onprompt.language.scene_builder import Draft
from onprompt.language.segmentation import Token
from onprompt.types import Attribute, Count

PREDICATES = ("acomp", "oprd", "conj", "ROOT", "advcl", "acl", "attr", "appos", "amod", "ccomp", "xcomp", "relcl")
VERBAL_KINDS = frozenset(("expression", "lighting", "orientation"))  # "smiling" is no action
PARTICIPLES = frozenset(("VBN", "VBD"))


class Interpreter(Coreference):
    """One tree with its detached phrases, read into the scene; these come with the place where they stood."""

    def __init__(self, nodes: list[Node], detached: list[tuple[int, Token]], reader: NounPhraseReader) -> None:
        super().__init__(nodes, reader)
        self.detached = detached

    def read(self) -> None:
        """Find the objects, then what is said of them, from left to right."""
        self.resolve()
        for node in self.nodes:
            self.read_node(node)
        for node in self.nodes:
            if is_script(node):
                style = Attribute("style", self.reader.plain_phrase(node))
                self.scene.describe(self.text_before(node.head), style)
        for at, token in self.detached:
            self.read_detached(at, token)
        for at, indices in self.objects.items():
            self.relate_absent_conjunct(self.nodes[at], indices)

    def read_node(self, node: Node) -> None:
        """What a node says of objects."""
        if node.token.text is not None:
            self.read_quote(node)
        elif is_preposition(node):
            self.read_preposition(node)
        elif node.token.attributes and node.at not in self.objects:
            if node.dep in PREDICATES and not (node.dep == "amod" and node.head.at > node.at):
                self.describe_subject(node, node.token.attributes)
        elif node.is_verb and node.dep != "amod":
            self.read_verb(node)
        elif is_predicative(node):
            self.read_adjective(node)

    def split_absent(self, indices: list[int]) -> tuple[list[int], list[int]]:
        """Objects that are absent, and those that are not."""
        absent = [index for index in indices if self.scene.drafts[index].absent]
        return absent, [index for index in indices if index not in absent]

    def exclude(self, indices: list[int]) -> None:
        """Mark objects as absent."""
        for index in indices:
            self.scene.drafts[index].absent = True

    def relate_absent_conjunct(self, node: Node, indices: list[int]) -> None:
        """`a kitchen with a table but no chairs`: what is absent belongs to the other conjunct."""
        if node.dep == "conj" and node.head.at in self.objects and has_word(node.head.under("cc"), "but"):
            absent, _ = self.split_absent(indices)
            unrelated = [index for index in absent if not self.scene.drafts[index].relations]
            self.scene.relate(unrelated, "of", self.objects[node.head.at])

    def is_denied(self, node: Node) -> bool:
        """Whether a "not" governs a node within its clause."""
        for _ in range(MAX_DEPTH):
            if node.under("neg") or has_word(node.children, "not", "n't", "never"):
                return True
            if node.head is node or (node.is_verb and node.dep not in {"xcomp", "aux"}) or node.dep in CLAUSES:
                return False
            if node.head.at in self.objects:
                return False
            node = node.head
        return False

    # -- detached phrases

    def read_detached(self, at: int, token: Token) -> None:
        """A detached phrase describes the object before it; at the start of a piece, the next one."""
        if token.of_image or not token.attributes:
            return
        kind = token.attributes[0].kind
        opens = at == 0 or self.nodes[at - 1].lower in {",", "and"}
        after = [place for place in self.objects if place >= at]
        before = [place for place in self.objects if place < at]
        fronted = bool(opens and after and (not before or kind == "position"))
        near = after[:1] if fronted or not before else before[-1:]
        for place in near:
            indices = self.objects[place]
            if kind in {"position", "orientation"} and not fronted:
                indices = self.owners(indices)
            for attribute in token.attributes:
                self.add_position(indices, attribute)

    def add_position(self, indices: list[int], attribute: Attribute) -> None:
        """Add an attribute; `from the left` completes an ordinal: second from the left."""
        for index in indices:
            own = self.scene.drafts[index].attributes
            own.append(attribute)

    # -- quoted text

    def read_quote(self, node: Node) -> None:
        """Quoted text is read on the object that bears it; without one, the text is an object."""
        bearers = self.text_bearers(node)
        if not bearers:
            draft = Draft("text", "text", Count(1, None), sentence=self.reader.sentence, start=node.token.start)
            bearers = self.objects[node.at] = [self.scene.add(draft)]
        bearer = self.scene.drafts[bearers[-1]]
        kind = "not text" if self.is_denied(node) or bearer.absent else "text"
        bearer.absent = bearer.absent and bearer.canonical != "text"  # 'no text "HELLO"' excludes only these words
        self.scene.describe(bearers[-1:], Attribute(kind, node.token.text or ""))

    def text_bearers(self, node: Node) -> list[int]:
        """The object that quoted text is on: its head, the subject of "says", else the one named before."""
        if node.at in self.objects:
            return self.objects[node.at]
        if node.dep in {*NAME_PARTS, "appos"} and node.head.at in self.objects:
            return self.objects[node.head.at]
        before = [at for at in self.objects if at < node.at]
        return self.objects[before[-1]] if before else self.objects.get(node.at + 1, [])

    def text_before(self, node: Node) -> list[int]:
        """The text that is written in some script: the last one named, else what the preposition describes."""
        before = [index for at, indices in self.objects.items() if at < node.at for index in indices]
        texts = [index for index in before if self.scene.drafts[index].canonical == "text"]
        return texts[-1:] or self.governors(node, [])[-1:]

    # -- adjectives

    def describe_subject(self, node: Node, attributes: Sequence[Attribute]) -> None:
        """Give attributes, or deny them, to a node's subject; without one they wait for the first object."""
        denied, indices = self.is_denied(node), self.subjects(node)
        given = [replace(a, kind=f"not {a.kind}") if denied else a for a in attributes]
        for attribute in given:
            self.scene.describe(indices, attribute)
        if not indices and not self.objects:
            self.scene.unattached += given

    def read_adjective(self, node: Node) -> None:
        """`the car is red`: an adjective said of its subject."""
        if node.at not in self.objects and not is_tone(node):
            attribute = attribute_of(with_tone(node), node.tag, node.lemma, degree(node))
            self.describe_subject(node, [attribute] if attribute else [])

    # -- verbs

    def read_verb(self, node: Node) -> None:
        """What the subject does, and to whom."""
        quotes = any(child.token.text is not None for child in node.children)
        if node.dep in {"aux", "auxpass"} or (node.lower in lex.TEXT_VERBS and quotes):
            return
        subjects = self.subjects(node)
        if node.lower in lex.BE:
            return
        objects = self.objects_of(*node.under(*OBJECTS))
        if agents := self.objects_of(*agents_of(node)):
            self.scene.relate(agents, verb_relation(node), subjects)
        elif objects and subjects:
            self.relate_by_verb(node, subjects, objects)
            if node.verb in lex.POSTURE_VERBS:  # "sitting a table"
                self.scene.describe(subjects, Attribute("action", node.verb))
        elif subjects and not node.under("acomp"):
            self.scene.describe(subjects, self.action(node))
        elif not self.objects and (action := self.action(node)):
            self.scene.unattached.append(action)

    def relate_by_verb(self, node: Node, subjects: list[int], objects: list[int]) -> None:
        """A verb with an object is a relation; if denied, the object is absent."""
        if self.is_denied(node):
            self.exclude(objects)
        absent, present = self.split_absent(objects)
        self.scene.relate(absent, "of", subjects)
        self.scene.relate(subjects, verb_relation(node), present)

    def action(self, node: Node) -> Attribute | None:
        """A verb without an object is an action, an expression or a state."""
        consumed = any(relation_name(prep)[1] for prep in node.under("prep"))
        directions = [a.value for child in node.children for a in child.token.attributes if a.kind == "direction"]
        invisible = node.verb in lex.NON_ACTION_VERBS and not directions  # but "going straight down"
        if invisible or node.lower in lex.WRITING_PARTICIPLES or consumed:
            return None
        adverbs = [*(child.lower for child in node.children if is_particle(child, node)), *directions]
        particles = "".join(f" {adverb}" for adverb in adverbs)
        passive = node.tag in PARTICIPLES and (not node.under(*SUBJECTS) or node.under("auxpass"))
        attribute: Attribute | None = Attribute("action", node.verb)
        if passive or lex.kind_of(node.lower) in VERBAL_KINDS:
            attribute = attribute_of(node.lower, "VBN" if passive else node.tag, node.verb, degree(node))
        if attribute is None:
            return None
        return Attribute(
            f"not {attribute.kind}" if self.is_denied(node) else attribute.kind, attribute.value + particles
        )

    # -- prepositions

    def read_preposition(self, node: Node) -> None:
        """A preposition relates what it describes to its objects."""
        nouns = node.under("pobj")
        targets, (name, _) = self.objects_of(*nouns), relation_name(node)
        agent = node.lower == "by" and node.head.is_verb and agents_of(node.head)
        if not targets or name == "than" or agent:
            return
        described = [index for index in self.governors(node, targets) if index not in targets]
        if name == "wearing":  # "a man with a beard in a coat"
            described = self.owners(described)
        if name in {"without", "instead of"}:
            self.exclude(targets)
        absent, present = self.split_absent(targets)
        if name in {"with", "without"}:
            self.scene.relate(absent, "of", described)
        staged = name == "with" and all(map(self.is_staged, nouns))
        if name != "instead of" and not staged:
            self.scene.relate(described, f"not {name}" if self.is_denied(node) else name, present)

    def is_staged(self, node: Node) -> bool:
        """`with a lighthouse in the background` sets the scene and relates nothing."""
        after = min((at for at in self.objects if at > node.at), default=len(self.nodes))
        near = (token.attributes for at, token in self.detached if node.at < at <= after and token.attributes)
        return any(attributes[0].value in lex.BACKDROPS for attributes in near)


def agents_of(node: Node) -> list[Node]:
    """By whom something is done: "carried by his father"."""
    if node.tag not in PARTICIPLES or node.under("dobj"):
        return []
    preps = [prep for prep in node.under("agent", "prep") if prep.lower == "by" and not prep.token.relation]
    return [child for prep in preps for child in prep.under("pobj", "pcomp")]


def verb_relation(node: Node) -> str:
    """The relation that a verb names; where there is no such English verb, the word as written."""
    if node.lower in lex.HAVE:
        return "with"
    if node.lower in lex.WEARING:
        return "wearing"
    return node.progressive + "".join(f" {child.lower}" for child in node.under("prt"))


def is_particle(child: Node, verb: Node) -> bool:
    """`down` in "lying down", `left` in "looking left"."""
    if child.at < verb.at or child.children or child.token.attributes or child.lower in lex.NON_PARTICLES:
        return False
    adverbial = child.tag in {"RB", "RP", "IN"} or child.lower in lex.SIDES
    return child.dep == "prt" or (adverbial and child.dep in {"advmod", "npadvmod", "dobj", "acomp"})


def is_predicative(node: Node) -> bool:
    """Whether a node is an adjective that does not stand before a noun."""
    if node.dep == "amod":
        return node.head.at < node.at
    return (node.tag.startswith("JJ") and node.dep in PREDICATES) or node.dep == "acomp"
