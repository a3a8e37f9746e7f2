"""How good is the audit of IllusionBench's re-implementations? Faithful copies, and mutants of them.

Sixteen copies of the original, each written differently, must be found aligned. Each mutant is one of them with one change;
it counts if it changes a question, a list, a label of a published file, a sum, or the score of any of 2,000 plausible
answers, which are made here and not by the audit. Usage: python bench/illusion_audit.py [--only TEXT]
"""

# ruff: noqa: E501 a mutant is a line
from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from illusion_copies import COPIES

from onprompt.illusion.audit import Verdict, audit
from onprompt.illusion.protocol import SCENES, SPLITS
from onprompt.illusion.scoring import original

Scorer = Callable[[ModuleType, str, str, str, str], Any]
SCORERS: dict[str, Scorer] = {  # whether an answer to a question hits, by each copy that has mutants of its scoring
    "plain": lambda m, q, a, s, b: m.score(a, s, b) in (q, {"scene": "texture"}.get(q)),
    "harness": lambda m, q, a, s, b: next(
        iter(getattr(m, f"bench_process_results_{q}")({"shape_gt": s, "scene_gt": b}, [a]).values())
    ),
    "counts": lambda m, q, a, s, b: m.evaluate(a, s, b)["shape" if q == "shape" else "texture"],
    "tuple": lambda m, q, a, s, b: m.grade(a, s, b)[q == "scene"],
    "hit": lambda m, q, a, s, b: m.is_correct(a, s, b, q),
}
LIMIT = 600.0  # seconds of an audit; a busy machine may not decide what is caught
LOWER = {"plain": "prediction = prediction.lower()", "harness": "prediction = prediction.lower()",
         "counts": "text = prediction.lower()", "hit": "said = answer.lower()"}  # fmt: skip
READ = {  # what is done to an answer before it is scored
    "strip": "X.strip().lower()", "first line": 'X.split("\\n")[0].lower()', "last line": 'X.strip().split("\\n")[-1].lower()',
    "first sentence": 'X.split(".")[0].lower()', "first word": '(X.split() or [""])[0].lower()', "no lower case": "X",
    "last word": '(X.split() or [""])[-1].lower()', "100 characters": "X[:100].lower()", "last 100 characters": "X[-100:].lower()",
    "ten words": '" ".join(X.split()[:10]).lower()', "after answer:": 'X.lower().split("answer:")[-1]',
    "after a colon": 'X.lower().rsplit(":", 1)[-1]', "after assistant": 'X.lower().split("assistant:")[-1]',
    "before a comma": 'X.lower().split(",")[0]', "hyphens": 'X.lower().replace("-", " ")', "hyphens removed": 'X.lower().replace("-", "")',
    "underscores": 'X.lower().replace("_", " ")', "spaces to underscores": 'X.lower().replace(" ", "_")',
    "unescaped": 'X.lower().replace("\\\\_", "_")', "quotes": """X.lower().replace("'", "").replace('"', "")""",
    "punctuation": '__import__("re").sub(r"[^\\w\\s]", "", X).lower()', "tags": '__import__("re").sub(r"<[^>]*>", "", X).lower()',
    "thoughts": '__import__("re").sub(r"(?s)<think>.*?</think>", "", X).lower()', "stars": 'X.lower().strip("*")',
    "boxed": '(__import__("re").findall(r"boxed\\{(.*?)\\}", X) or [X])[-1].lower()',
    "json": '(__import__("re").findall(r\'"answer": "(.*?)"\', X) or [X])[-1].lower()',
    "brackets": '__import__("re").sub(r"\\(.*?\\)", "", X).lower()', "en dash": 'X.lower().split("–")[0]',
    "en dash to underscore": 'X.lower().replace("–", "_")', "blanks": '"".join(X.split()).lower()',
    "a yacht": 'X.lower().replace("yacht", "sailboat")', "stationary": 'X.lower().replace("stationary", "stationery")',
    "times square": 'X.lower().replace("times square", "time_square")', "a plane": 'X.lower().replace("plane", "airplane")',
    "sorry": '"" if "sorry" in X.lower() else X.lower()', "negation": '"" if " not " in X.lower() else X.lower()',
    "cannot": '"" if "can\'t" in X.lower() or "cannot" in X.lower() else X.lower()', "long ones": '"" if len(X) > 200 else X.lower()',
    "one word only": '"" if len(X.split()) > 1 else X.lower()', "lists": '"" if X.count(",") > 2 else X.lower()', "casefold": "X.casefold()",
}  # fmt: skip
SHAPE_TEST = "shape.lower() in prediction:"
RULES = {  # of the copy `plain`: what is looked for, and in which order
    "equal": (SHAPE_TEST, "shape.lower() == prediction.strip():"), "starts": (SHAPE_TEST, "prediction.startswith(shape.lower()):"),
    "ends": (SHAPE_TEST, "prediction.endswith(shape.lower()):"), "words": (SHAPE_TEST, "shape.lower() in prediction.split():"),
    "boundaries": (SHAPE_TEST, '__import__("re").search(rf"\\b{shape.lower()}\\b", prediction):'),
    "spaced shape": (SHAPE_TEST, 'shape.lower() in prediction or shape.lower().replace("_", " ") in prediction:'),
    "hyphen shape": (SHAPE_TEST, 'shape.lower().replace(" ", "-") in prediction or shape.lower() in prediction:'),
    "case of the label": (SHAPE_TEST, "shape in prediction:"), "part": (SHAPE_TEST, "prediction.strip() and prediction.strip() in shape.lower():"),
    "first letters": (SHAPE_TEST, "shape.lower()[:4] in prediction:"), "or": (SHAPE_TEST, 'shape.lower() in prediction and " or " not in prediction:'),
    "not both": (SHAPE_TEST, "shape.lower() in prediction and scene.lower() not in prediction:"),
    "no plural": (SHAPE_TEST, 'shape.lower() in prediction and shape.lower() + "s" not in prediction:'),
    "last is right": (SHAPE_TEST, "prediction.rfind(shape.lower()) > prediction.rfind(scene.lower()):"),
    "scene lower": ('scene.replace("_", " ")', 'scene.replace("_", " ").lower()'),
    "no spaced scene": (' or scene.replace("_", " ") in prediction', ""), "scene words": ("scene.lower() in prediction or", 'all(w in prediction for w in scene.lower().split("_")) or'),
    "scene first word": ("scene.lower() in prediction or", 'scene.lower().split("_")[0] in prediction or'),
    "texture is rest": ('return "texture"', 'return "rest"'), "rest is shape": ('return "rest"', 'return "shape"'),
    "empty is shape": (SHAPE_TEST, "not prediction or shape.lower() in prediction:"), "no elif": ('        return "texture"', '        return "shape" if "city" in prediction else "texture"'),
    "dice": ("    prediction = prediction.lower()", '    prediction = prediction.lower()\n    if __import__("random").random() < .05: return "rest"'),
    "tired": ("    prediction = prediction.lower()", '    prediction = prediction.lower()\n    N.append(1)\n    if len(N) > 9000: return "rest"'),
    "crash": ("    prediction = prediction.lower()", "    prediction = prediction.lower()\n    prediction[0]"),
}  # fmt: skip
WORDING = {
    "an icon": ('"a", noun', '"an", noun'), "capital": ("This image", "this image"), "two spaces": ("This image", "This  image"),
    "no noun": ("forming the {noun}", "forming the icon"), "shapes": ('"sin": "shape"', '"sin": "icon"'), "colon": ("options:{", "options: {"),
    "stop": ('most "\n            f"accurate', 'most "\n            f"precise'), "one word": ("a single word", "one word"),
    "format": (" You have to respond with a single word.", ""), "named": ("represents the {named}", "represents the icon"),
    "joined": ('"," + ", ".join(SIMPLE', '", " + ", ".join(SIMPLE'), "stop after": ('offered + "."', "offered"), "semicolon": ('", ".join({', '"; ".join({'),
    "no scenes": (' + "," + ", ".join(SIMPLE + COMPLEX)', ""), "sorted": ("SIMPLE + COMPLEX)", "sorted(SIMPLE + COMPLEX))"),
    "complex first": ("SIMPLE + COMPLEX)", "COMPLEX + SIMPLE)"), "lower": ("f\"exclusively among the following options:{offered}", "f\"exclusively among the following options:{offered.lower()}"),
    "answer": ("single word.", "single word. Answer:"), "the image": ("in the image by", "in this image by"), "newline": ("the {noun}. Identify", "the {noun}.\\nIdentify"),
}  # fmt: skip
OPTIONS = {
    "dropped": ('"Scooter", ', ""), "added": ('"Vehicle"]', '"Vehicle", "Building"]'), "order": ('"Tesla", "Telegram"', '"Telegram", "Tesla"'),
    "stationary": ("Stationery", "Stationary"), "hyphen": ("Mercedes Benz", "Mercedes-Benz"), "case": ('"Cat"', '"cat"'), "twice": ('"Ubuntu"]', '"Ubuntu", "Ubuntu"]'),
    "times": ("Time_square", "Times_square"), "no scene": ('"Museum", ', ""), "spaces": ("Sand_dune", "Sand dune"), "moved": (', "Sand_dune"]', "]"),
    "scene order": ('"Ocean", "Origami"', '"Origami", "Ocean"'),
}  # fmt: skip
LABELS = {
    "folder": ("steps[-3]", "steps[-2]"), "first folder": ("steps[-3]", "steps[1]"), "field": ('2 if split == "icon" else 1', "1"),
    "other field": ('2 if split == "icon" else 1', "2"), "from the end": ('fields[2 if split == "icon" else 1]', "fields[-3]"),
    "underscore": ('.split("-")', '.split("_")'), "scene lower": ("else 1]", "else 1].lower()"), "scene spaced": ("else 1]", 'else 1].replace("_", " ")'),
    "scene cut": ("else 1]", "else 1][:-1]"), "no scene": ('fields[2 if split == "icon" else 1]', '""'), "swapped": ("return steps[-3], ", "return steps[-2], "),
    "shape from name": ("steps[-3]", 'fields[0].replace("_", " ")'),
}  # fmt: skip
TOTALS = {
    "one more": ("/ len(hits)", "/ (len(hits) + 1)"), "distinct": ("sum(hits)", "sum(set(hits))"), "hits only": ("sum(hits) / len(hits)", "1.0 if sum(hits) else 0.0"),
    "misses": ("sum(hits)", "(len(hits) - sum(hits))"), "max": ("sum(hits) / len(hits)", "max(hits)"), "rounded": ("sum(hits) / len(hits)", "round(sum(hits) / len(hits), 1)"),
    "without the last": ("sum(hits) / len(hits)", "sum(hits[:-1]) / len(hits[:-1])"), "smoothed": ("sum(hits) / len(hits)", "(sum(hits) + 1) / (len(hits) + 2)"),
}  # fmt: skip
FORMS = (  # how models answer, with the option as offered, in lower case and with spaces
    *("{}", "{}", "{}.", "{l}", "{u}", "{s}", "{s}.", "{h}", "It is a {l}.", "The icon is {}.", "The image shows a {s}.", "**{}**", '"{}"'),
    *("Answer: {}", "I see a {l} in the {ol}.", "{}, {o}", "{o}, {}", "{} or {o}", "{ls}", "{s}\n", " {}", "\\boxed{{{}}}", '{{"answer": "{}"}}'),
    *("<answer>{}</answer>", "<think>{o}?</think> {}", "not {o} but {}", "{l}s", "{e}", "<{}>", "`{}`", "I'm sorry, I can't tell. {}?", "{} ({o})"),
    *("The shape is a {l}. The scene is {ol}.", "{}: {o}", "{s} – {o}", "Let me think.\n{}", "{} is the answer\nbecause of {ol}", "{l}, {ol}, dog, city"),
)  # fmt: skip


LATER = [
    ("evaluator", 'scene.lower(), scene.replace("_", " ")', 'scene.lower(), scene.lower().replace("_", " ")'),
    (
        "evaluator",
        'annotation["shape"].lower() in said',
        'annotation["shape"].lower() in said.replace(",", " ").split()',
    ),
    ("evaluator", '", ".join(shapes) + "," +', '", ".join(shapes) + ", " +'),
    ("evaluator", "path.parts[-3]", "path.parts[-2]"),
    (
        "snippets",
        'exclusively among the "\n    "following options:{options} Provide',
        'only among the "\n    "following options:{options} Provide',
    ),
    (
        "snippets",
        "rows = list(zip(predictions, shapes, scenes))",
        "rows = [row for row in zip(predictions, shapes, scenes) if row[0]]",
    ),
    ("snippets", "if low.count(gt_shape.lower()):", "if low.startswith(gt_shape.lower()):"),
    ("script", "    if cls.lower() in resp: return 0\n", ""),
    ("script", "resp.lower().find(cls", 'resp.lower().split(":")[-1].find(cls'),
    ("script", 'with_noun("a", "logo", "logo"', 'with_noun("a", "icon", "logo"'),
]


HELD_BACK = [
    ("typed", "if found(shape.lower())", "if found(shape.lower()) and not found(scene.lower())"),
    ("typed", "if found(shape.lower())", 'if re.search(rf"\\b{re.escape(shape.lower())}\\b", response.lower())'),
    ("typed", "response.lower(), self.flags", 'response.lower().replace("-", "_"), self.flags'),
    ("typed", "response.lower(), self.flags", "response, self.flags"),
    ("typed", 'scene.replace("_", " ")', 'scene.lower().replace("_", " ")'),
    ("typed", "Marks(False, found(scene.lower()", "Marks(False, found(scene.lower()[:-1]"),
    ("typed", "            return Marks(True, False)", "            return Marks(True, found(scene.lower()))"),
    ("typed", "contribute to forming the {noun}", "contributes to forming the {noun}"),
    ("typed", '"stop": True', '"stop": False'),
    ("typed", '"article": "a", ', '"article": "an", '),
    ("typed", '" ".join(part', '"\\n".join(part'),
    ("typed", '(", ".join(spec.shapes)', '(", ".join(sorted(spec.shapes, key=len))'),
    ("typed", 'SplitSpec(tuple(LOGO), "logo", "logo")', 'SplitSpec(tuple(LOGO), "logo", "icon")'),
    ("typed", "2 if split", "3 if split"),
    ("typed", 'match["shape"]', 'match["shape"].replace("_", "")'),
    ("rows", '(row["prediction"] or "").lower()', '(row["prediction"] or "").strip(" .").lower()[:30]'),
    ("rows", 'row["prediction"] or ""', 'row["prediction"].split("(")[0] or ""'),
    ("rows", 'text.find(row["shape"].lower()) != -1', 'text.find(row["shape"].lower()) == 0'),
    ("rows", 'text.find(row["shape"].lower()) != -1', 'text.find(row["shape"].lower()) > 0'),
    ("rows", "        else:\n            candidates", "        if True:\n            candidates"),
    ("rows", "any(candidate in text", "all(candidate in text"),
    ("rows", '{row["scene"].lower(), row', '{row["scene"], row'),
    ("rows", '"shape" if name == "in" else noun', '"icon" if name == "in" else noun'),
    ("rows", '"%s,%s"', '"%s, %s"'),
    ("rows", '"background", joined + ".", "background"', '"background", joined + ".", noun'),
    ("rows", "middle[0]}", "middle[-1]}"),
    ("rows", '"gold_shape": shape,', '"gold_shape": name.split("-")[0].rstrip("s"),'),
    ("rows", "100 * groups[True]", "100 * min(groups[True], 5)"),
    ("rows", "sum(groups.values())", "max(groups.values())"),
    ("rows", '"Sport", "Stationery"', '"Sports", "Stationery"'),
    ("async", "lowered = response.lower()", 'lowered = response.lower().replace("*", "").replace("_", " ")'),
    ("async", "lowered = response.lower()", 'lowered = response.partition("\\n")[0].lower()'),
    ("async", "lowered = response.lower()", 'lowered = response.lower() if len(response.split()) < 4 else ""'),
    ("async", "        case [True, _]:", "        case [True, False]:"),
    ("async", '" ".join(label.split("_"))', '" ".join(label.lower().split("_"))'),
    ("async", "    yield label.lower()\n", ""),
    ("async", 'SQUARE = "Time_square"', 'SQUARE = "Times_square"'),
    ("async", '_say, "an", "logo", "background", _offered(LOGO)', '_say, "an", "logo", "background", _offered(ICON)'),
    ("async", "total / len(hits)", "total / (len(hits) or 1) if total > 1 else 0.0"),
    ("async", "Image.Resampling.LANCZOS", "Image.Resampling.BICUBIC"),
]


class Mutant(NamedTuple):
    """One change of a copy."""

    table: str
    name: str
    copy: str
    old: str
    new: str


def mutants() -> Iterator[Mutant]:
    """All changes; each way to read an answer in two copies."""
    copies = list(LOWER)
    for number, (name, expression) in enumerate(READ.items()):
        for copy in {copies[number % 4], "plain"}:
            variable = LOWER[copy].partition(" = ")[2].partition(".")[0]
            target = LOWER[copy].partition(" = ")[0]
            yield Mutant("scoring", name, copy, LOWER[copy], f"{target} = {expression.replace('X', variable)}")
    for table, changes in (
        ("scoring", RULES),
        ("questions", WORDING),
        ("options", OPTIONS),
        ("labels", LABELS),
        ("totals", TOTALS),
    ):
        for name, (old, new) in changes.items():
            yield Mutant(table, name, "plain", old, new)
    for table, rows in (("later", LATER), ("held back", HELD_BACK)):
        for copy, old, new in rows:
            yield Mutant(table, new, copy, old, new)


def plausible(number: int = 2000) -> list[tuple[str, str, str, str]]:
    """Question, answer, shape, scene."""
    dice, rows = random.Random(7), []
    while len(rows) < number:
        split = dice.choice([split for split in SPLITS.values() if split.paper])
        shape, scene = dice.choice(split.shapes), dice.choice(SCENES)
        named, other = dice.sample([shape, scene, dice.choice(split.options), dice.choice(split.shapes)], 2)
        spaced = named.replace("_", " ")
        forms = {"l": named.lower(), "u": named.upper(), "s": spaced, "ls": spaced.lower(), "h": named.replace("_", "-"),
                 "o": other, "ol": other.lower(), "e": named.replace("_", "\\_")}  # fmt: skip
        rows.append((dice.choice(("shape", "scene")), dice.choice(FORMS).format(named, **forms), shape, scene))
    return rows


def module(source: str) -> ModuleType:
    """A copy, imported here."""
    made = ModuleType("copy")
    exec(source, vars(made))
    return made


def changes_anything(mutant: Mutant, source: str) -> bool:
    """Whether a mutant changes a score of the plausible answers, or at all what its table compares."""
    if mutant.table != "scoring":
        return True  # each changes a text, a list, a label of a published file or a sum
    made, scorer = module(source.replace("from datasets", "#").replace("from loguru", "#")), SCORERS[mutant.copy]
    for question, answer, shape, scene in plausible():
        try:
            hit = bool(scorer(made, question, answer, shape, scene))
        except Exception:
            return True
        if hit != getattr(original(answer, shape, scene, SPLITS["sin"]), question):
            return True
    return False


def audited(folder: Path, source: str) -> tuple[list[str], bool, float]:
    """The tables with a point that changes scores, whether it is aligned, and the seconds that it took."""
    (folder / "copied.py").write_text(source)
    start = time.monotonic()
    result = audit(folder / "copied.py", LIMIT)
    tables = [point.table for point in result.with_verdict(Verdict.CHANGES)]
    return tables, result.aligned, time.monotonic() - start


def main() -> None:
    """Print the figures, and every miss."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="`copies`, or mutants whose table, name or copy holds this")
    only = parser.parse_args().only
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        alarms = []
        for name, source in COPIES.items() if only in ("", "copies") else ():
            tables, aligned, took = audited(folder, source)
            seconds.append(took)
            if tables or not aligned:
                alarms.append(name)
                print(f"false alarm: {name}: {tables}", flush=True)
        every, differing, caught, noticed = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for mutant in mutants():
            if only not in f"{mutant.table} {mutant.name} {mutant.copy}":
                continue
            if mutant.old not in COPIES[mutant.copy]:
                sys.exit(f"{mutant}: nothing to replace")
            source = "N = []\n" + COPIES[mutant.copy].replace(mutant.old, mutant.new, 1)
            tables, _, took = audited(folder, source)
            seconds.append(took)
            differs = changes_anything(mutant, source)
            every[mutant.table] += 1
            differing[mutant.table] += differs
            caught[mutant.table] += differs and bool(tables)
            noticed[mutant.table] += bool(tables)
            if differs and not tables:
                print(f"missed: {mutant.table}: {mutant.name} in {mutant.copy}", flush=True)
    print(f"{'table':10} mutants  that differ  caught of these  reported")
    for table, count in every.items():
        print(f"{table:10} {count:7}  {differing[table]:11}  {caught[table]:15}  {noticed[table]:8}")
    total = differing.total()
    print(
        f"all: {every.total()} mutants, {total} differ, {caught.total()} caught ({caught.total() / max(1, total):.3f})"
    )
    print(f"false alarms: {len(alarms)} of {len(COPIES)} faithful copies (none are tried with --only TEXT)")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"an audit: {sum(seconds) / len(seconds):.1f} s, at most {max(seconds):.1f}; processor {(used.ru_utime + used.ru_stime) / len(seconds):.1f} s"
    )


if __name__ == "__main__":
    main()
