"""Who is meant: the things that the nodes of a tree name, refer to, or speak of."""

from __future__ import annotations

from onprompt.language import lexicon as lex
from onprompt.language import lexicon_links as links
from onprompt.language.nodes import Node
from onprompt.language.noun_phrases import Reader
from onprompt.language.ontology import parts, singular
from onprompt.language.relations import is_preposition, is_script, is_spatial, is_worn, relation_name
from onprompt.language.scene_builder import Draft, is_alive
from onprompt.types import Count

SUBJECTS = ("nsubj", "nsubjpass", "csubj")
POSTMODIFIERS = ("prep", "acl", "relcl")
BELONGING = frozenset(("wearing", "covered with", "filled with", "topped with", "decorated with"))
RELATIVE = frozenset(("that", "which", "who", "whom", "whose"))
DEEP = 12  # levels of a tree that are climbed


class Naming:
    """One tree: `things` are the drafts that a node, by its place, stands for."""

    def __init__(self, nodes: list[Node], reader: Reader) -> None:
        self.nodes, self.reader, self.drafts = nodes, reader, reader.drafts
        self.things: dict[int, list[int]] = {}
        self.known = 0  # how many things the sentences before have named

    def name(self) -> None:
        """Find the things of all nodes: nouns first, since pronouns look back at them."""
        self.known = len(self.drafts.all)
        for node in self.nodes:
            self.regroup(node)
        for node in self.nodes:
            if not is_script(node) and (index := self.reader.mention(node)) is not None:
                self.things[node.at] = [index]
        self.meet()
        for node in self.nodes:
            if node.lower in links.PRONOUNS and node.dep not in {"pobj", "dobj"}:
                self.refer(node)
            self.own(node)

    def meet(self) -> None:
        """Remember who is spoken of together."""
        together = [index for at, things in self.things.items() if self.nodes[at].is_noun for index in things]
        self.drafts.meet([index for index in together if self.drafts.all[index].subject])

    def refer(self, node: Node) -> None:
        """Find whom a pronoun means. An object's is found when it is asked for, when more is known of the others."""
        if node.at not in self.things:
            self.things[node.at] = []  # nobody yet, while it is looked for
            found = self.pronoun(node)
            self.things = dict(sorted({**self.things, node.at: found}.items()))

    def regroup(self, node: Node) -> None:
        """`a skeleton with a hat and sunglasses`: what is worn goes with what is worn, not with its wearer."""
        if node.dep != "conj" or not is_worn(node) or node.head.is_verb or is_worn(node.head):
            return
        worn = [
            each for each in node.head.subtree() if each.dep in {"pobj", "dobj"} and is_worn(each) and each.at < node.at
        ]
        if worn:
            node.head.children.remove(node)
            node.head = max(worn, key=lambda each: each.at)
            node.head.children.append(node)

    def of(self, node: Node) -> list[int]:
        """The things of a node, with those joined to it by "and"."""
        if node.lower in links.PRONOUNS:
            self.refer(node)
        found = list(self.things.get(node.at, ()))
        for child in node.under("conj", "appos"):
            if is_listed(child) and not child.is_verb and not self.is_parallel(node, child):
                found += [index for index in self.of(child) if index not in found]
        return found

    def is_parallel(self, node: Node, child: Node) -> bool:
        """`a girl with a balloon and a boy with a kite`: the boy goes with the girl, not with the balloon."""
        prep = node.head
        if node.dep != "pobj":
            return False
        if prep.lower == "without" and self.is_apart(node, child):
            return True
        counted = bool(child.under("det", "nummod"))
        if counted and (
            (is_worn(node) and not is_worn(child)) or (prep.lower == "of" and not node.under("det", "nummod"))
        ):
            return True
        own = child.under("prep")
        placed = is_spatial(prep) and any(map(is_spatial, own))  # "chairs around the table and plates on it"
        return placed or any(each.lower in {prep.lower, "without"} for each in own)

    def is_apart(self, node: Node, child: Node) -> bool:
        """`without a spoon, and a laptop`: a comma, "and" and an article begin something new."""
        words = [each.lower for each in self.nodes[node.at + 1 : child.at]]
        return "," in words and "and" in words and bool(child.under("det", "nummod"))

    def is_modified(self, node: Node) -> bool:
        """Whether something follows a noun that is said of it alone."""
        return any(child.dep in POSTMODIFIERS and child.at > node.at for child in node.children)

    def before(self, node: Node, shared: bool, until: int = 0) -> list[int]:
        """The things of a noun and, where what follows is shared, of the conjuncts around it."""
        found = list(self.things.get(node.at, ()))
        if shared:
            bare = (child for child in node.under("conj") if not child.is_verb and not self.is_modified(child))
            found += [index for child in bare if child.at < until for index in self.of(child)]
        while shared and is_listed(node) and not node.head.is_verb and not self.is_parallel(node.head, node):
            node = node.head
            if self.is_modified(node):
                break
            found = [*self.things.get(node.at, ()), *found]
        return found

    def pronoun(self, node: Node) -> list[int]:
        """Whom a pronoun means: "who" its head, "it" the last that fits and is not spoken of in the same breath."""
        if node.tag.startswith("W") or node.lower in RELATIVE:
            return self.relative(node)
        here = self.same_breath(node)
        if node.dep == "poss" and (clause := self.clause_head(node, here)):
            return clause
        if node.dep == "poss" and singular(node.head.lower) not in lex.BODY and (wholes := self.wholes(node, here)):
            return wholes
        before = max(
            (index for at, found in self.things.items() if at < node.at for index in found), default=self.known - 1
        )
        living = node.dep == "poss" and singular(node.head.lower) in lex.BODY
        found = self.drafts.meant_by(node.lower, here, before, living)
        return found or self.stranger(node)

    def clause_head(self, node: Node, here: list[int]) -> list[int]:
        """`a cat that has a ribbon around its neck`: whom the clause is about, if the pronoun may mean it."""
        clause = node
        while clause.dep not in {"relcl", "acl"} and clause.head is not clause:
            clause = clause.head
        found = [
            index for index in self.things.get(clause.head.at, ()) if index not in here and clause.head is not clause
        ]
        return [index for index in found if self.drafts.fits(node.lower, self.drafts.all[index])]

    def relative(self, node: Node) -> list[int]:
        """`who`, `which`: the noun that the clause hangs on, else the one named before."""
        clause = node
        while clause.dep not in {"relcl", "acl"} and clause.head is not clause:
            clause = clause.head
        if clause.dep in {"relcl", "acl"}:
            return list(self.things.get(clause.head.at, ()))
        named = [at for at in self.things if at < node.at and node.dep in {*SUBJECTS, "poss"}]
        return self.things[named[-1]] if named else []

    def same_breath(self, node: Node) -> list[int]:
        """Whom a pronoun can't mean: nothing lies on itself, chases itself, or is its own part."""
        if node.dep == "pobj":
            return list(self.things.get(node.head.head.at, ())) or self.governors(node.head, [])
        if node.dep == "dobj":
            return self.subjects(node.head)
        return self.things.get(node.head.at, []) if node.dep == "poss" else []

    def wholes(self, node: Node, here: list[int]) -> list[int]:
        """`its chimney`: the last thing that has such a part by nature."""
        part = singular(node.head.lower)
        found = [
            index
            for index in self.named_before(node)
            if index not in here and part in parts(self.drafts.all[index].canonical)
        ]
        return found[-1:]

    def named_before(self, node: Node) -> list[int]:
        """The things named before a node that are still in mind, the last one last."""
        here = {index for at, things in self.things.items() if at > node.at for index in things}
        return [index for index in self.drafts.in_mind() if index not in here]

    def stranger(self, node: Node) -> list[int]:
        """`He is running`: somebody whom nothing before has named."""
        if node.lower not in links.PEOPLE or node.dep == "poss":
            return []
        said = self.reader.prompt.text[node.unit.start : node.unit.end]
        draft = Draft(said, links.PEOPLE[node.lower], Count(1, 1, "the"), definite=True, subject=True)
        draft.sentence, draft.start = self.reader.sentence, node.unit.start
        return [self.drafts.add(draft)]

    def own(self, node: Node) -> None:
        """`the dog's collar`, `her hat`: the thing owned is of its owner."""
        if node.dep == "poss" and node.head.at in self.things and node.at in self.things:
            self.drafts.relate(self.things[node.head.at], "of", self.things[node.at])

    def subjects(self, node: Node, depth: int = 0) -> list[int]:
        """Of whom a verb or adjective speaks."""
        own = [index for child in self.nearest_subject(node) for index in self.of(child)]
        head = node.head
        if not own and node.lower in links.BE:  # "between them is a book"
            own = [index for child in node.under("attr") for index in self.of(child)]
        if own or depth > DEEP:
            return own
        if node.under("expl"):  # "there is a dog"
            return [index for child in node.under("attr", "dobj") for index in self.of(child)]
        if head is node and not node.is_noun:
            return []
        if head.at in self.things:
            found = self.owners(self.before(head, node.is_verb or node.dep == "acl", node.at), deed=True)
            return self.doers(node, found) or found
        return self.subjects(head, depth + 1) if head is not node else []

    def doers(self, node: Node, things: list[int]) -> list[int]:
        """`a man riding a bike eating an apple`: who does something to a thing is alive, if anybody around is."""
        head = node.head
        done_to = node.tag == "VBG" and node.under("dobj") and head.dep == "dobj" and head.head.tag == "VBG"
        if not done_to or any(is_alive(self.drafts.all[index].canonical) for index in things):
            return []
        return [index for index in self.subjects(head.head) if is_alive(self.drafts.all[index].canonical)]

    def nearest_subject(self, node: Node) -> list[Node]:
        """The subject; of two, as in "a girl whose hair is green", the nearer."""
        own = node.under(*SUBJECTS) or [
            each for helper in node.under("aux", "auxpass") for each in helper.under(*SUBJECTS)
        ]
        return own[-1:]

    def owners(self, things: list[int], deed: bool = False) -> list[int]:
        """Who is spoken of where it can't be the thing itself: what is worn or absent neither sits nor stands."""
        found: list[int] = []
        for index in things:
            draft = self.drafts.all[index]
            owner = self.lacking(draft) if draft.absent else self.bearer(index)
            if owner is None or (deed and not draft.absent and not is_clothing(draft.canonical)):
                owner = index
            found.append(owner)
        return list(dict.fromkeys(found))

    def lacking(self, draft: Draft) -> int | None:
        """From whom something is absent."""
        return next((target for name, target in draft.relations if name == "of"), None)

    def bearer(self, index: int) -> int | None:
        """Who wears a thing, or has it as a part."""
        draft = self.drafts.all[index]
        for name, other in self.drafts.held[index]:
            if name in BELONGING or (name == "with" and is_part(draft, self.drafts.all[other])):
                return other
        return None

    def governors(self, node: Node, targets: list[int], depth: int = 0) -> list[int]:
        """Of whom a preposition speaks that leads to these targets."""
        head = node.head
        if depth > DEEP:
            return []
        if head is node:
            inner = {each.at for each in node.subtree()}
            after = [at for at in self.things if at > node.at and at not in inner]
            return self.of(self.nodes[after[0]]) if after else []
        if head.at in self.things:
            spatial = relation_name(node)[0] in links.SPATIAL
            found = self.before(head, spatial, node.at)
            owners = self.owners([*self.above(head), *found, *self.between(node)]) if spatial else found
            return found if set(owners) & set(targets) else owners
        if is_preposition(head):
            return self.governors(head, targets, depth + 1)
        worn = (
            [index for child in head.under("dobj") for index in self.of(child)] if head.lower in links.WEARING else []
        )
        if worn and relation_name(node)[0] == "with":
            return worn  # "wearing a hat with a feather"
        return [*self.subjects(head), *self.between(node)]

    def between(self, node: Node) -> list[int]:
        """The thing right before a place told to another: "riding a bike in a park", "sitting on a bench in a park"."""
        near = [at for at in self.things if node.head.at < at < node.at][-1:]
        named = [self.nodes[at] for at in near if is_spatial(node) and self.nodes[at].is_noun]
        return [index for each in named if is_there_too(each) for index in self.of(each)]

    def above(self, node: Node) -> list[int]:
        """Of whom a place is said too: what is on a mat in a room is in the room, and readers expect both."""
        if node.dep == "pobj" and relation_name(node.head)[0] in links.SPATIAL:
            return self.governors(node.head, [])
        held = node.head.lower in links.HAVE | links.WEARING  # "has a ribbon around its neck"
        return self.subjects(node.head) if node.dep == "dobj" and not held else []


def is_listed(node: Node) -> bool:
    """Whether a noun is an item of a list: "an owl, a fox, and a bear"."""
    return node.dep == "conj" or (node.dep == "appos" and bool(node.under("conj", "cc")))


def is_clothing(name: str) -> bool:
    """Whether a thing is worn, and so does nothing by itself."""
    head = name.split()[-1]
    return head in links.CLOTHES or f"{head}s" in links.CLOTHES


def is_there_too(node: Node) -> bool:
    """Whether a noun is where the one it hangs on is: what is ridden, or what it is in or on."""
    if node.dep == "dobj":
        return node.head.base in links.TAKING_ALONG
    return node.dep == "pobj" and relation_name(node.head)[0] in {"in", "on", "at"}


def is_part(draft: Draft, whole: Draft) -> bool:
    """Whether a thing is a part of another by nature: hair, a door of a house."""
    return draft.canonical == "text" or draft.canonical in lex.BODY or draft.canonical in parts(whole.canonical)
