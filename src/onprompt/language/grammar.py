"""The second half of step 1: from a sentence's tree to things, what they are like, and how they stand to each other."""

from __future__ import annotations

from dataclasses import replace

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.attributes import attribute, progressive
from onprompt.language.coreference import DEEP, SUBJECTS, Naming
from onprompt.language.nodes import Node
from onprompt.language.noun_phrases import Reader, degree
from onprompt.language.relations import OBJECTS, is_preposition, is_script, relation_name
from onprompt.language.scene_builder import Draft, is_person
from onprompt.language.units import Unit
from onprompt.types import Attribute, Count

PREDICATES = ("acomp", "oprd", "conj", "ROOT", "advcl", "acl", "attr", "appos", "amod", "ccomp", "xcomp", "relcl")


class Sentence(Naming):
    """One tree with its asides, read into the drafts."""

    def __init__(self, nodes: list[Node], asides: list[tuple[int, Unit]], reader: Reader) -> None:
        super().__init__(nodes, reader)
        self.asides = asides

    def read(self) -> None:
        """Who is named, then what is said of whom, from left to right."""
        self.name()
        for node in self.nodes:
            self.link(node)
        for node in self.nodes:
            if is_script(node):
                self.drafts.describe(self.written(node.head), Attribute("style", self.reader.plain_phrase(node)))
        for at, unit in self.asides:
            self.aside(at, unit)
        for at, things in self.things.items():
            self.lack(self.nodes[at], things)

    def written(self, node: Node) -> list[int]:
        """The words that are written in some script: of the clause, else the last text named."""
        texts = [
            index
            for at in self.things
            if at < node.at
            for index in self.things[at]
            if self.drafts.all[index].canonical == "text"
        ]
        return texts[-1:] or self.governors(node, [])[-1:]

    def lack(self, node: Node, things: list[int]) -> None:
        """`a kitchen with a table but no chairs`: what is absent is absent from the other."""
        if node.dep == "conj" and node.head.at in self.things and any(c.lower == "but" for c in node.head.under("cc")):
            gone = [index for index in things if self.drafts.all[index].absent and not self.drafts.all[index].relations]
            self.drafts.relate(gone, "of", self.things[node.head.at])

    # -- what is said of whom

    def link(self, node: Node) -> None:
        """What a node says of things."""
        if node.unit.text is not None:
            self.quote(node)
        elif is_preposition(node):
            self.preposition(node)
        elif node.unit.attributes and node.at not in self.things:
            if node.dep in PREDICATES and not (node.dep == "amod" and node.head.at > node.at):
                self.tell(node, list(node.unit.attributes))
        elif node.is_verb and node.dep != "amod":
            self.verb(node)
        elif is_adjective(node):
            self.predicate(node)
        elif node.tag == "RB" and node.dep == "advmod" and node.head.at in self.things and node.at == node.head.at + 1:
            present = [index for index in self.things[node.head.at] if not self.drafts.all[index].absent]
            self.drafts.describe(present, self.posture(node))

    def aside(self, at: int, unit: Unit) -> None:
        """What was left out of the tree is told to the thing named before it, at the start of a piece to the next."""
        if unit.whole or not unit.attributes:
            return
        opens = at == 0 or self.nodes[at - 1].lower in {",", "and"}
        after = [place for place in self.things if place >= at]
        before = [place for place in self.things if place < at]
        fronted = opens and after and (not before or unit.attributes[0].kind == "position") and self.starts_phrase(at)
        near = after[:1] if fronted or not before else before[-1:]
        if unit.attributes[0].kind == "text":  # "a sign around its neck that says": the sign bears it
            near = [place for place in before if self.nodes[place].lower in links.BEARERS][-1:] or near
        for place in near:
            things = self.things[place]
            if unit.attributes[0].kind in {"position", "orientation"} and not fronted:
                things = self.owners(things)
            for each in unit.attributes:
                self.tell_place(things, each)

    def starts_phrase(self, at: int) -> bool:
        """Whether a noun phrase begins at a place: "on the left, a cup"."""
        node = next((each for each in self.nodes[at:] if each.lower != ","), None)
        return node is not None and (
            node.unit.count is not None or node.lower in lex.DEFINITE or node.at in self.things
        )

    def tell_place(self, things: list[int], found: Attribute) -> None:
        """`from the left` completes an ordinal: second from the left."""
        for index in things:
            own = self.drafts.all[index].attributes
            nth = next((each for each in own if each.kind == "position" and each.value in lex.ORDINALS), None)
            if nth and found.value.startswith("from the"):
                own[own.index(nth)] = Attribute("position", f"{nth.value} {found.value}")
            else:
                own.append(found)

    def tell(self, node: Node, attributes: list[Attribute]) -> None:
        """A node's attributes, said of its subject, or denied; without a subject they wait for one."""
        denied, things = self.is_denied(node), self.subjects(node)
        said = [replace(each, kind=f"not {each.kind}") if denied else each for each in attributes]
        for each in said:
            self.drafts.describe(things, each)
        if not things and not self.things:
            self.drafts.loose += said

    def quote(self, node: Node) -> None:
        """Quoted text is to be read on the thing that bears it; without one, the words are the thing."""
        bearers = self.bearers(node)
        if not bearers:
            draft = Draft("text", "text", Count(1, None), sentence=self.reader.sentence, start=node.unit.start)
            bearers = self.things[node.at] = [self.drafts.add(draft)]
        bearer = self.drafts.all[bearers[-1]]
        kind = "not text" if self.is_denied(node) or bearer.absent else "text"
        bearer.absent = bearer.absent and bearer.canonical != "text"  # 'no text "HELLO"' speaks of these words only
        self.drafts.describe(bearers[-1:], Attribute(kind, node.unit.text or ""))

    def bearers(self, node: Node) -> list[int]:
        """The thing that quoted words are written on: the one they hang on, else the one named before."""
        if node.at in self.things:
            return self.things[node.at]
        if node.dep in {"compound", "amod", "nmod", "appos"} and node.head.at in self.things:
            return self.things[node.head.at]
        before = [at for at in self.things if at < node.at]
        clause = node.head
        if clause.is_verb and clause.lower in links.TEXT_VERBS and (subjects := self.subjects(clause)):
            return subjects
        after = [at for at in self.things if at == node.at + 1]
        return self.things[(before[-1:] or after or [-1])[0]] if before or after else []

    def is_denied(self, node: Node) -> bool:
        """Whether a "not" stands over a node within its clause."""
        for _ in range(DEEP):
            if any(child.dep == "neg" or child.lower in {"not", "n't", "never"} for child in node.children):
                return True
            if node.head is node or (node.is_verb and node.dep not in {"xcomp", "aux"}) or node.dep in {"relcl", "acl"}:
                return False
            if node.head.at in self.things:
                return False
            node = node.head
        return False

    def predicate(self, node: Node) -> None:
        """`the car is red`, `bigger than a horse`: an adjective said of its subject."""
        things = self.subjects(node)
        name = lex.COMPARATIVES.get(node.lower) or (
            f"as {node.lower} as" if any(c.lower == "as" and c.at < node.at for c in node.children) else ""
        )
        if name and (targets := self.compared(node)):
            self.drafts.relate(things, name, [index for index in targets if index not in things])
            return
        if node.at in self.things:
            return
        found = attribute(self.reader.toned(node), node.tag, node.lemma, degree(node))
        if found and not self.reader.is_tone(node):
            self.tell(node, [found])

    def posture(self, node: Node) -> Attribute | None:
        """`feet apart`, `head down`: an adverb right after a noun."""
        return (
            Attribute("state", node.lower)
            if node.lower not in links.NOT_PARTICLES and not node.lower.endswith("ly")
            else None
        )

    def compared(self, node: Node) -> list[int]:
        """Those compared with: `than the girl`, `as a church`."""
        near = [*node.children, *node.head.children]
        preps = (child for child in near if child.at > node.at and child.lower in {"than", "as"})
        return [index for prep in preps for child in prep.children for index in self.of(child)]

    def verb(self, node: Node) -> None:
        """What the subject does, and to whom."""
        if node.dep in {"aux", "auxpass"} or (
            node.lower in links.TEXT_VERBS and any(n.unit.text is not None for n in node.children)
        ):
            return
        things = self.subjects(node)
        if node.lower in links.BE:
            return
        objects = [index for child in node.under(*OBJECTS) for index in self.of(child)]
        agents = [index for child in self.by(node) for index in self.of(child)]
        if agents:
            self.drafts.relate(agents, self.doing(node), things)
        elif objects and things:
            self.act(node, things, objects)
            if node.base in links.POSTURES:  # "sitting a table"
                self.drafts.describe(things, Attribute("action", node.base))
        elif things and not node.under("acomp"):
            self.drafts.describe(things, self.action(node))
        elif not self.things and (found := self.action(node)):
            self.drafts.loose.append(found)

    def by(self, node: Node) -> list[Node]:
        """Those by whom something is done."""
        if node.tag not in {"VBN", "VBD"} or node.under("dobj"):
            return []
        preps = (
            child
            for child in node.children
            if child.dep in {"agent", "prep"} and child.lower == "by" and not child.unit.relation
        )
        return [child for prep in preps for child in prep.under("pobj", "pcomp")]

    def doing(self, node: Node) -> str:
        """The relation that a verb names."""
        particle = "".join(f" {child.lower}" for child in node.under("prt"))
        if node.lower in links.HAVE:
            return "with"
        return "wearing" if node.lower in links.WEARING else progressive(node.base) + particle

    def act(self, node: Node, things: list[int], objects: list[int]) -> None:
        """A verb with an object is a relation; denied, the object is not to be there."""
        if self.is_denied(node):
            for index in objects:
                self.drafts.all[index].absent = True
            self.drafts.relate(objects, "of", things)
            return
        gone = [index for index in objects if self.drafts.all[index].absent]
        self.drafts.relate(gone, "of", things)
        self.drafts.relate(things, self.doing(node), [index for index in objects if index not in gone])

    def action(self, node: Node) -> Attribute | None:
        """A verb without an object is an action, an expression or a state."""
        if (
            node.base in links.NOT_ACTIONS
            or node.lower in links.WRITTEN
            or any(relation_name(prep)[1] for prep in node.under("prep"))
        ):
            return None
        more = "".join(f" {child.lower}" for child in node.children if is_particle(child, node))
        passive = node.tag in {"VBN", "VBD"} and (not node.under(*SUBJECTS) or node.under("auxpass"))
        if lex.kind_of(node.lower) in {"expression", "lighting", "orientation"} or passive:
            found = attribute(node.lower, "VBN" if passive else node.tag, node.base, degree(node))
            found = replace(found, value=found.value + more) if found else None
        else:
            found = Attribute("action", node.base + more)
        return replace(found, kind=f"not {found.kind}") if found and self.is_denied(node) else found

    def preposition(self, node: Node) -> None:
        """A preposition relates whom it speaks of to its objects."""
        targets = [index for child in node.under("pobj") for index in self.of(child)]
        name, _ = relation_name(node)
        if not targets or name in {"than"} or (node.head.is_verb and self.by(node.head) and node.lower == "by"):
            return
        things = [index for index in self.governors(node, targets) if index not in targets]
        if name == "wearing":
            things = (
                [index for index in things if is_person(self.drafts.all[index].canonical)]
                or self.wearers(node)
                or things
            )
        if name in {"without", "instead of"}:
            for index in targets:
                self.drafts.all[index].absent = True
        gone = [index for index in targets if self.drafts.all[index].absent]
        if name in {"with", "without"}:
            self.drafts.relate(gone, "of", things)
        staged = name == "with" and all(self.is_staged(child) for child in node.under("pobj"))
        if name != "instead of" and not staged:
            name = f"not {name}" if self.is_denied(node) else name
            self.drafts.relate(things, name, [index for index in targets if index not in gone])

    def wearers(self, node: Node) -> list[int]:
        """The nearest person above a preposition."""
        head = node.head
        for _ in range(DEEP):
            people = [index for index in self.things.get(head.at, ()) if is_person(self.drafts.all[index].canonical)]
            if people or head.head is head:
                return people
            head = head.head
        return []

    def is_staged(self, node: Node) -> bool:
        """`with a lighthouse in the background` sets the scene and relates nothing."""
        after = min((at for at in self.things if at > node.at), default=len(self.nodes))
        return any(
            unit.attributes and unit.attributes[0].value in {"background", "foreground", "distance"}
            for at, unit in self.asides
            if node.at < at <= after
        )


def is_particle(child: Node, verb: Node) -> bool:
    """`down` in "lying down", `left` in "looking left"."""
    if child.at < verb.at or child.children or child.unit.attributes or child.lower in links.NOT_PARTICLES:
        return False
    return child.dep == "prt" or (
        child.dep in {"advmod", "npadvmod", "dobj", "acomp"}
        and (child.tag in {"RB", "RP", "IN"} or child.lower in links.SIDES)
    )


def is_adjective(node: Node) -> bool:
    """Whether a node is an adjective that is said of something, not one before a noun."""
    if node.dep == "amod":
        return node.head.at < node.at
    return (node.tag.startswith("JJ") and node.dep in PREDICATES) or node.dep == "acomp"
