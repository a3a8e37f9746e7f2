"""The rows of a word in the parser's embedding tables: hashes of its form, first and last letters, and shape.

As spaCy computes them, whose pipeline was trained: MurmurHash64A of a text, then MurmurHash3 (x64, 128 bits) of that.
"""

from collections.abc import Mapping, Sequence

MASK64, MASK32 = (1 << 64) - 1, (1 << 32) - 1
MULTIPLIER = 0xC6A4A7935BD1E995
C1, C2, C3, C4 = 0x87C37B91114253D5, 0x4CF5AD432745937F, 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
LONG = 100  # characters from which a word has no shape of its own
SAME = 4  # letters of one kind in a row that a shape shows
NORMS = {
    **dict.fromkeys(("'s", "'S", "’s", "’S"), "'s"),
    **dict.fromkeys(("’", "‘", "´", "`"), "'"),
    **dict.fromkeys(("”", "“", "''", "``", "´´", "„", "»", "«", "‘‘", "’’"), '"'),
    **{"？": "?", "！": "!", "，": ",", "；": ";", "：": ":", "。": ".", "।": ".", "…": "..."},
    **dict.fromkeys(("—", "–", "--", "---", "——"), "-"),
    **dict.fromkeys(("€", "£", "¥", "฿", "US$", "C$", "A$", "₺", "₹", "৳", "₩", "Mex$", "₣", "E£"), "$"),
}


def features(word: str) -> tuple[str, str, str, str]:
    """The word in lower case, its first letter, its last three, and its shape."""
    return NORMS.get(word, word.lower()), word[:1], word[-3:], shape(word)


def shape(word: str) -> str:
    """`Xxxxx` for Hello, `dd` for 20: kinds of characters, at most four of a kind in a row."""
    if len(word) >= LONG:
        return "LONG"
    shown, last, run = [], "", 0
    for char in word:
        kind = ("X" if char.isupper() else "x") if char.isalpha() else "d" if char.isdigit() else char
        run, last = (run + 1 if kind == last else 0), kind
        if run < SAME:
            shown.append(kind)
    return "".join(shown)


def rows(word: str, seeds: Sequence[int], sizes: Sequence[int], symbols: Mapping[str, int]) -> list[list[int]]:
    """Four rows of each table, whose vectors are added up."""
    keys = (symbols[text] if text in symbols else hash_text(text) for text in features(word))  # "" is among them: 0
    return [[row % size for row in hash_key(key, seed)] for key, seed, size in zip(keys, seeds, sizes, strict=True)]


def hash_text(text: str) -> int:
    """MurmurHash64A with seed 1."""
    data = text.encode("utf-8", "replace")  # lone surrogates are no text
    whole = len(data) // 8 * 8
    value = 1 ^ (len(data) * MULTIPLIER & MASK64)
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * MULTIPLIER & MASK64
        part = (part ^ part >> 47) * MULTIPLIER & MASK64
        value = (value ^ part) * MULTIPLIER & MASK64
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * MULTIPLIER & MASK64
    value = (value ^ value >> 47) * MULTIPLIER & MASK64
    return value ^ value >> 47


def hash_key(key: int, seed: int) -> tuple[int, int, int, int]:
    """MurmurHash3 of eight bytes: four numbers of 32 bits."""
    mixed = key * C1 & MASK64
    mixed = (mixed << 31 | mixed >> 33) * C2 & MASK64
    first = (mixed ^ seed ^ 8) + (seed ^ 8) & MASK64
    second = finalize((seed ^ 8) + first & MASK64)
    first = finalize(first) + second & MASK64
    second = second + first & MASK64
    return first & MASK32, first >> 32, second & MASK32, second >> 32


def finalize(value: int) -> int:
    """The last mixing of 64 bits."""
    value = (value ^ value >> 33) * C3 & MASK64
    value = (value ^ value >> 33) * C4 & MASK64
    return value ^ value >> 33
