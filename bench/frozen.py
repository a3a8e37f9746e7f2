"""Do parses and verdicts stay the same, field by field? Compares scenes, edit parses and verdicts before and after.

`python bench/frozen.py write BEFORE.jsonl DATA` before a change, the same to AFTER.jsonl after it, then
`python bench/frozen.py compare BEFORE.jsonl AFTER.jsonl`, which exits with 1 if anything differs. Prompts and
instructions come from DATA and bench/frozen.toml. The verdicts cover all rubrics and judges: evidence on generated
images, captioned photos and edits; models, claims (all, or only open ones) and juries by replayed answers.

Every field is compared except IGNORED ones; names of classes and modules are not. Where a change renames a field or a
code, add it to RENAMED. Both tables also apply to files that were written before.
"""

import argparse
import csv
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import onprompt

HERE = Path(__file__).parent
TEXTS = HERE.parent / "tests" / "rubrics"  # answers of models on which the readers of rubrics are tested
PROMPT = "Two happy dogs and a red ball in a grassy park"
ANSWERS = ("yes", "no", "cannot tell")
MOST_CLAIMS = 40  # in one question
GROUPS = ("scenes", "edits", "verdicts")
SHOWN = 10  # differences of each group, without --all
CLOSE = 1e-6  # largest difference between equal numbers
SMALL = 64  # largest array that is written in full
RENAMED: dict[str, str] = {}  # fields and codes: {new: old}
IGNORED = {
    "sample": "the case itself, and its pixels",
    "judge": "a name, which may change",
    "provenance": "versions, settings and hashes, which any change of the code changes",
    "usage": "seconds",
    "cached": "depends on what the process asked before",
    "key": "a hash of the question with its wording",
}
UNORDERED = {"flags"}
NOTHING = (None, "", [], {})  # a missing field equals an empty one


class Case(NamedTuple):
    """A call of a public function."""

    group: str
    name: str
    function: str
    given: tuple[Any, ...]
    settings: dict[str, Any]


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parses(data):
    own = tomllib.loads((HERE / "frozen.toml").read_text(encoding="utf-8"))
    corpus = lines_of(data / "prompts/corpus.txt")
    prompts = [
        *(row["text"] for row in table(data / "prompts/dsg1k.csv")),
        *(json.loads(line)["prompt"] for line in lines_of(data / "prompts/geneval.jsonl")),
        *(row["prompt"] for row in table(data / "t2i/Text-To-Image.csv")),
        *corpus[:: len(corpus) // 150],
        *own["prompts"],
    ]
    tables = [*table(data / "edit/Text-Guided_IE.csv"), *table(data / "edit/Mask-Guided_IE.csv")]
    instructions = [*(row["instruction"] for row in tables), *own["instructions"]]
    for prompt in dict.fromkeys(prompts):
        yield Case("scenes", prompt, "parse", (prompt,), {})
    for instruction in dict.fromkeys(instructions):
        yield Case("edits", instruction, "parse_edit", (instruction,), {})


def replay(folder, name, lines):
    """Write a file of answers, and name the model that gives them."""
    (folder / name).write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return f"replay/{name}"


def claim_models(folder):
    """Models that answer questions about claims: many in one question, or one by one."""
    answers = [{n: ANSWERS[n % 3] for n in range(1, most + 1)} for most in range(MOST_CLAIMS, 0, -1)]
    last = [f"\n{len(each)}. " for each in answers]  # the number of the last claim in a question
    texts = zip(last, map(json.dumps, answers), strict=True)
    yield replay(folder, "claims.jsonl", [{"contains": number, "text": text} for number, text in texts])
    by_word = [{"contains": " on ", "text": "cannot tell"}, {"contains": "red", "text": "no"}, {"text": "yes"}]
    yield replay(folder, "one-by-one.jsonl", by_word)


def rubric_models(folder, rubric):
    """A model for each answer of the tests, with the answer's name and whether it is readable."""
    for number, part in enumerate((TEXTS / f"{rubric}.txt").read_text(encoding="utf-8").split("\n----\n")):
        about, _, said = part.partition("\n\n")
        name = re.search("^name: (.*)", about, re.MULTILINE)[1]
        readable = bool(re.search(r"^expect: \d", about, re.MULTILINE))
        yield name, replay(folder, f"{rubric}{number}.jsonl", [{"text": said}]), readable


def inputs(data, path, *names):
    """The rows of a table as arguments, images and masks first, with a name for each row."""
    folder = (data / path).parent
    for row in table(data / path):
        *files, text = (row[name] for name in names)
        yield f"{row['image']}: {text}", (*(folder / file for file in files), text)


def verdicts(data, folder):
    made = list(inputs(data, "t2i/Text-To-Image.csv", "image", "prompt"))
    photos = list(inputs(data, "flickr8k/expert.csv", "image", "caption"))
    by_text = list(inputs(data, "edit/Text-Guided_IE.csv", "source", "image", "instruction"))
    by_mask = inputs(data, "edit/Mask-Guided_IE.csv", "source", "image", "mask", "instruction")
    masked = [(name, (before, after, text, mask)) for name, (before, after, mask, text) in by_mask]
    edits = by_text[::7] + masked[::9]  # steps that skip none of the models, whose images are in turns
    claims, one_by_one = claim_models(folder)
    all_asked = {"judge": "claims", "model": claims}
    measured = {**all_asked, "measured": True}
    for judge, rubric, rows, settings in (
        ("evidence", "verify", made[::3] + photos[::8], {}),
        ("evidence", "rate", made[2::6], {}),
        ("evidence", "edit", edits, {}),
        ("claims measured", "verify", made[1::9], measured),
        ("claims measured", "rate", made[6::20], measured),
        ("claims measured", "edit", edits[::4], measured),
        ("claims", "verify", made[4::9], all_asked),
        ("claims", "rate", made[8::20], all_asked),
        ("claims one by one", "verify", made[3::20], {**all_asked, "model": one_by_one, "claims_per_call": 1}),
        ("jury with claims", "verify", made[5::40], {"models": (f"claims:{claims}", "replay/verify0.jsonl")}),
    ):
        for name, given in rows:
            yield Case("verdicts", f"{judge} {rubric} {name}", rubric, given, settings)
    image = photos[0][1][0]
    for rubric, rows in (("verify", made[::13]), ("rate", made[2::25]), ("edit", edits[1::5])):
        models = list(rubric_models(folder, rubric))
        for name, model, _ in models:
            given = (image, image, PROMPT) if rubric == "edit" else (image, PROMPT)
            yield Case("verdicts", f"vlm {rubric} {name}", rubric, given, {"model": model})
        every, readable = [model for _, model, _ in models], [model for _, model, good in models if good]
        for number, (name, given) in enumerate(rows):
            pair = (readable[2 * number], (readable if number % 4 else every[::-1])[2 * number + 1])
            yield Case("verdicts", f"jury {rubric} {name}", rubric, given, {"models": pair})


def plain(value: Any, name: str = "") -> Any:
    """Any value as JSON, by field."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {RENAMED.get(key, key): plain(each, key) for key, each in value.items() if key not in IGNORED}
    if isinstance(value, Enum):
        return plain(value.value)
    if hasattr(value, "tolist"):  # numpy's
        return plain(value.tolist() if value.size <= SMALL else [*value.shape, value.mean()])
    if isinstance(value, list | tuple | set | frozenset):
        entries = [plain(each) for each in value]
        return sorted(entries) if name in UNORDERED or isinstance(value, set | frozenset) else entries
    if isinstance(value, float):
        return round(value, 8)
    return RENAMED.get(value, value) if isinstance(value, str) else value


def found(case):
    """What a case gives, or the error that it ends with."""
    settings = onprompt.Settings(answers=Path(f"{os.getpid()}.sqlite"), **case.settings)
    named = {"id": "case-17"} if case.function == "edit" else {}  # the id that the tests' answers repeat
    try:
        result = getattr(onprompt, case.function)(*case.given, **named, settings=settings)
    except onprompt.OnpromptError as error:
        result = {"error": str(error), "kind": getattr(error, "kind", "")}
    return {"group": case.group, "case": case.name, "found": plain(result)}


def write(out, data, workers):
    data, begun = data.resolve(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder, out.open("w", encoding="utf-8") as file:
        cases = [*parses(data), *verdicts(data, Path(folder))]
        assert len({(case.group, case.name) for case in cases}) == len(cases)
        spawn = multiprocessing.get_context("spawn")
        # In the folder, replayed models have the same names each time.
        with ProcessPoolExecutor(workers, spawn, initializer=os.chdir, initargs=(folder,)) as pool:
            for number, row in enumerate(pool.map(found, cases, chunksize=8), 1):
                file.write(json.dumps(row) + "\n")
                if number % 200 == 0 or number == len(cases):
                    print(f"{number} of {len(cases)} cases, {time.monotonic() - begun:.0f} s", file=sys.stderr)


def differences(one, other, path=""):
    """The path of each field that differs, with both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            yield from differences(one.get(name), other.get(name), f"{path}.{name}" if path else name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif isinstance(one, float | int) and isinstance(other, float | int) and bool not in (type(one), type(other)):
        if abs(one - other) > CLOSE:
            yield path, one, other
    elif one != other and not (one in NOTHING and other in NOTHING):
        yield path, one, other


def compare(before, after, everything):
    files = [[json.loads(line) for line in lines_of(path)] for path in (before, after)]
    any_differs = False
    for group in GROUPS:
        first, then = ({row["case"]: plain(row["found"]) for row in rows if row["group"] == group} for rows in files)
        found = [
            (name, *each)
            for name in {**first, **then}
            for each in differences(first.get(name, "no such case"), then.get(name, "no such case"))
        ]
        any_differs |= bool(found)
        kinds = Counter(re.sub(r"\[\d+\]", "", path).lstrip(".") or "case" for _, path, *_ in found)
        print(f"{group}: {len(first)} before, {len(then)} after, {len({name for name, *_ in found})} differ")
        print(*(f"  {number} × {kind}" for kind, number in kinds.most_common()), sep="\n", end="\n" * bool(kinds))
        for name, path, one, other in found if everything else found[:SHOWN]:
            print(f"  {name[:100]}: {path or 'case'}: {one!r:.300} → {other!r:.300}")
    return any_differs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    writing = commands.add_parser("write", help="write what all cases give")
    writing.add_argument("out", type=Path)
    writing.add_argument("data", type=Path)
    writing.add_argument("--workers", type=int, default=2, help="processes; default: 2")
    comparing = commands.add_parser("compare", help="compare two such files")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--all", action="store_true", help=f"list all differences, not {SHOWN} of each group")
    given = parser.parse_args()
    if given.what == "compare":
        sys.exit(compare(given.before, given.after, given.all))
    write(given.out, given.data, given.workers)


if __name__ == "__main__":
    main()
