"""Departures to plant in the scoring of answers."""

from __future__ import annotations

from onprompt.illusion.audit.points import Verdict
from tests.illusion.audit.faithful import PYTHON
from tests.illusion.audit.mutants import ASKED, COUNTS, MATCH, Mutant

SHAPE = "    if shape.lower() in prediction:"
SCENE = 'scene.lower() in prediction or scene.replace("_", " ") in prediction'
LOWER = "    prediction = prediction.lower()"


def cut(pattern: str, before: str = ".lower()") -> str:
    """A pattern cut out of the answer, in lower case or before."""
    return f"    import re\n    prediction = re.sub({pattern!r}, '', prediction{before}).lower()"


def mended(words: str, option: str) -> str:
    """A word taken for an option."""
    return f"{LOWER}.replace({words!r}, {option!r})"


def rest(condition: str) -> str:
    """Answers that never count."""
    return f"{LOWER}\n    if {condition}:\n        return 'rest'"


MUTANTS_OF_SCORING = [
    # 3.1: how answers are summed up
    Mutant("over answers that name an option", "scoring", "divided", "all answers", "answers that name an option"),
    Mutant("the mean over classes", "scoring", "divided", "all answers", "classes"),
    Mutant(
        "rest left out",
        "scoring",
        "no option",
        "/ len(outcomes)",
        "/ max(1, len([outcome for outcome in outcomes if outcome != 'rest']))",
        PYTHON,
    ),
    Mutant("one added", "scoring", "every answer", "/ len(outcomes)", "/ (len(outcomes) + 1)", PYTHON),
    Mutant("different outcomes only", "scoring", "again", "/ len(outcomes)", "/ len(set(outcomes))", PYTHON),
    # 3.1: scoring
    Mutant("no lower case", "scoring", "upper case", LOWER, "    pass", PYTHON),
    Mutant(
        "what stands in parentheses",
        "scoring",
        "tags",
        LOWER,
        "    import re\n    found = re.search(r'\\((.*?)\\)', prediction)\n"
        "    prediction = (found[1] if found else prediction).lower()",
        PYTHON,
    ),
    Mutant("what follows [/INST]", "scoring", "repeated", LOWER, f"{LOWER}.split('[/inst]')[-1]", PYTHON),
    Mutant("a yacht is a sailboat", "scoring", "synonym", LOWER, mended("yacht", "sailboat"), PYTHON),
    Mutant("the label in its own case", "scoring", "exact", SHAPE, SHAPE.replace(".lower()", ""), PYTHON),
    Mutant(
        "elif turned into if",
        "scoring",
        "shape and scene",
        '"texture": outcome == "texture"',
        '"texture": scene.lower() in prediction.lower()',
        PYTHON,
        calling=COUNTS,
    ),
    Mutant(
        "the scene's question has no shape",
        "scoring",
        "shape and scene",
        "return score(prediction, shape, scene)",
        'return score(prediction, "no shape" if question == "scene" else shape, scene)',
        PYTHON,
        calling=ASKED,
    ),
    Mutant("two matches, independent", "scoring", "shape and scene", "shape first", "independent", calling=MATCH),
    Mutant("two matches, the scene's first", "scoring", "shape and scene", "shape first", "scene first", calling=MATCH),
    Mutant("rest is not counted", "scoring", "empty", '"rest": outcome == "rest"', '"rest": 0', PYTHON, calling=COUNTS),
    Mutant(
        "scene first",
        "scoring",
        "shape and scene",
        SHAPE,
        f'    if {SCENE}:\n        return "texture"\n{SHAPE}',
        PYTHON,
    ),
    Mutant("equality", "scoring", "sentence", SHAPE, "    if shape.lower() == prediction:", PYTHON),
    Mutant(
        "equality after strip",
        "scoring",
        "sentence",
        SHAPE,
        "    if shape.lower() == prediction.strip():",
        PYTHON,
    ),
    Mutant("starts with", "scoring", "sentence", SHAPE, "    if prediction.startswith(shape.lower()):", PYTHON),
    Mutant("ends with", "scoring", "around", SHAPE, "    if prediction.endswith(shape.lower()):", PYTHON),
    Mutant("words", "scoring", "inside", SHAPE, "    if shape.lower() in prediction.split():", PYTHON),
    Mutant(
        "word boundaries",
        "scoring",
        "inside",
        SHAPE,
        "    import re\n    if re.search(rf'\\b{re.escape(shape.lower())}\\b', prediction):",
        PYTHON,
    ),
    Mutant(
        "space for underscore in shapes",
        "scoring",
        "two-word shape",
        "shape.lower() in prediction:",
        'shape.lower().replace("_", " ") in prediction.replace("_", " "):',
        PYTHON,
    ),
    Mutant(
        "hyphen for space in shapes",
        "scoring",
        "two-word shape",
        "shape.lower() in prediction:",
        'shape.lower() in prediction.replace("-", " "):',
        PYTHON,
    ),
    Mutant(
        "the space variant in lower case",
        "scoring",
        "two-word scene",
        'scene.replace("_", " ")',
        'scene.replace("_", " ").lower()',
        PYTHON,
    ),
    Mutant("no space variant", "scoring", "lower-case label", f" {SCENE}:", " scene.lower() in prediction:", PYTHON),
    Mutant("first line only", "scoring", "line", LOWER, LOWER + '.split("\\n")[0]', PYTHON),
    Mutant("first sentence only", "scoring", "line", LOWER, LOWER + '.partition(".")[0]', PYTHON),
    Mutant("first word only", "scoring", "sentence", LOWER, LOWER + '.partition(" ")[0]', PYTHON),
    Mutant("two hundred characters", "scoring", "long", LOWER, LOWER + "[:200]", PYTHON),
    Mutant("punctuation removed", "scoring", "separator", LOWER, LOWER + '.replace("-", "").replace("_", "")', PYTHON),
    Mutant(
        "one option only", "scoring", "two shapes", SHAPE, SHAPE.replace(":", ' and " or " not in prediction:'), PYTHON
    ),
    Mutant("not is heard", "scoring", "negation", SHAPE, SHAPE.replace(":", ' and "not" not in prediction:'), PYTHON),
    Mutant(
        "plurals are refused",
        "scoring",
        "plural",
        SHAPE,
        '    if shape.lower() in prediction and shape.lower() + "s" not in prediction:',
        PYTHON,
    ),
    Mutant("an empty answer is right", "scoring", "empty", SHAPE, SHAPE.replace(":", " or not prediction:"), PYTHON),
    Mutant("an empty answer crashes", "scoring", "empty", LOWER, LOWER + "\n    prediction[0]", PYTHON),
    Mutant(
        "stationary is mended",
        "scoring",
        "folder",
        SHAPE,
        '    if shape.lower().replace("stationary", "stationery") in prediction:',
        PYTHON,
    ),
    Mutant("rest is a scene", "scoring", "exact", 'return "rest"', 'return "scene"', PYTHON),
    Mutant("case folded", "scoring", "characters", LOWER, LOWER.replace("lower", "casefold"), PYTHON, Verdict.HARMLESS),
    # 3.1: what models add, and what re-implementations cut off, mend or let pass
    Mutant("apostrophes cut out", "scoring", "punctuation inside", LOWER, LOWER + """.replace("'", "")""", PYTHON),
    Mutant("curly apostrophes cut out", "scoring", "punctuation inside", LOWER, LOWER + '.replace("’", "")', PYTHON),
    Mutant("punctuation cut out", "scoring", "punctuation inside", LOWER, cut(r"[^\w\s-]"), PYTHON),
    Mutant("ASCII only", "scoring", "punctuation inside", LOWER, LOWER + '.encode("ascii", "ignore").decode()', PYTHON),
    Mutant("the first 500 characters", "scoring", "long", LOWER, LOWER + "[:500]", PYTHON),
    Mutant("the last 500 characters", "scoring", "long", LOWER, LOWER + "[-500:]", PYTHON),
    Mutant(
        "ten words", "scoring", "long", LOWER, LOWER + '\n    prediction = " ".join(prediction.split()[:10])', PYTHON
    ),
    Mutant("what follows answer:", "scoring", "colon", LOWER, LOWER + '.split("answer:")[-1]', PYTHON),
    Mutant("what follows assistant:", "scoring", "colon", LOWER, LOWER + '.split("assistant:")[-1]', PYTHON),
    Mutant("what follows a colon", "scoring", "colon", LOWER, LOWER + '.rsplit(":", 1)[-1]', PYTHON),
    Mutant("the last line", "scoring", "line", LOWER, LOWER + '.split("\\n")[-1]', PYTHON),
    Mutant("up to a carriage return", "scoring", "line", LOWER, LOWER + '.split("\\r")[0]', PYTHON),
    Mutant("thoughts cut out", "scoring", "tags", LOWER, cut("(?s)<think>.*?</think>"), PYTHON),
    Mutant("BLIP's pattern", "scoring", "tags", LOWER, cut(r"'[A-Z]+'\)", ""), PYTHON),
    Mutant(
        "an answer within a label",
        "scoring",
        "part of an option",
        SHAPE,
        "    if shape.lower() in prediction or prediction.strip() and prediction.strip() in shape.lower():",
        PYTHON,
    ),
    Mutant("planes", "scoring", "synonym", LOWER, mended("plane", "airplane"), PYTHON),
    Mutant("stationary", "scoring", "other spelling", LOWER, mended("stationary", "stationery"), PYTHON),
    Mutant("Times Square", "scoring", "other spelling", LOWER, mended("times square", "time_square"), PYTHON),
    Mutant("ies for y", "scoring", "other spelling", LOWER, mended("ies", "y"), PYTHON),
    Mutant("two commas", "scoring", "list", LOWER, rest('prediction.count(",") > 1'), PYTHON),
    Mutant("four commas", "scoring", "list", LOWER, rest('prediction.count(",") > 3'), PYTHON),
    Mutant("sorry", "scoring", "refusal", LOWER, rest('"sorry" in prediction'), PYTHON),
    Mutant("cannot", "scoring", "refusal", LOWER, rest('"cannot" in prediction'), PYTHON),
    Mutant("unable", "scoring", "refusal", LOWER, rest('"unable" in prediction'), PYTHON),
    Mutant(
        "blanks made one",
        "scoring",
        "separator",
        LOWER,
        LOWER + '\n    prediction = " ".join(prediction.split())',
        PYTHON,
    ),
    Mutant(
        "another outcome after many calls",
        "scoring",
        "repeated",
        "def score(prediction, shape, scene):",
        "N = []\ndef score(prediction, shape, scene):\n    N.append(1)\n    if len(N) > 10_000: return 'rest'",
        PYTHON,
    ),
    Mutant(
        "dice",
        "scoring",
        "repeated",
        LOWER,
        f"{LOWER}\n    import random\n    if random.random() < 0.05: return 'rest'",
        PYTHON,
    ),
]
