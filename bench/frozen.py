"""Do verdicts say what they said before? Compares some 570 of them, apart from names and wording.

`python bench/frozen.py write BEFORE.jsonl DATA` before a change, the same to AFTER.jsonl after it, then
`python bench/frozen.py compare BEFORE.jsonl AFTER.jsonl`. The cases cover all rubrics and judges: evidence on generated
images and captioned photos, hybrid and models by replayed answers (those of tests/rubrics). Compared are scores,
measures and flags and, for each check, its kind, object, outcome, score, confidence, source and box. Verdicts of
version 0.1 (JSON format 4) can be written too, so that the script also runs on that version's code.
"""

import argparse
import csv
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onprompt
from onprompt.settings import Settings

TEXTS = Path(__file__).parent.parent / "tests" / "rubrics"
ANSWERS = ("yes", "no", "cannot tell")
PROMPT = "Two happy dogs and a red ball in a grassy park"
CLOSE = 1e-9


def evidence(data):
    rows = list(csv.DictReader((data / "t2i/Text-To-Image.csv").open()))
    for row in rows[::5]:
        yield f"verify {row['image']}", "verify", data / "t2i" / row["image"], row["prompt"], Settings()
    for row in rows[2::9]:
        yield f"rate {row['image']}", "rate", data / "t2i" / row["image"], row["prompt"], Settings()
    rows = list(csv.DictReader((data / "flickr8k/expert.csv").open()))
    for row in rows[::12]:
        yield f"verify {row['image']}", "verify", data / "flickr8k" / row["image"], row["caption"], Settings()


def hybrid(data, folder):
    lines = []
    for number in range(40, 0, -1):
        said = [{"claim": n, "answer": ANSWERS[n % 3]} for n in range(1, number + 1)]
        lines.append(json.dumps({"contains": f"\n{number}. ", "text": json.dumps({"answers": said})}))
    file = folder / "claims.jsonl"
    file.write_text("\n".join(lines))
    settings = Settings(judge="hybrid", model=f"replay/{file}", answers=folder / "hybrid.sqlite")
    rows = list(csv.DictReader((data / "t2i/Text-To-Image.csv").open()))
    for number, row in enumerate(rows[1::11]):
        rubric = "verify" if number % 3 else "rate"
        yield f"hybrid {rubric} {row['image']}", rubric, data / "t2i" / row["image"], row["prompt"], settings


def models(data, folder):
    image = next((data / "flickr8k").rglob("*.jpg"))
    for rubric in ("verify", "rate", "edit"):
        for number, part in enumerate((TEXTS / f"{rubric}.txt").read_text().split("\n----\n")):
            file = folder / f"{rubric}{number}.jsonl"
            file.write_text(json.dumps({"text": part.partition("\n\n")[2]}))
            settings = Settings(model=f"replay/{file}", answers=folder / "models.sqlite")
            yield f"vlm {rubric} {number}", rubric, image, PROMPT, settings


def judged(rubric, image, prompt, settings):
    if rubric == "edit":
        return onprompt.edit(image, image, prompt, id="case-17", settings=settings)
    return getattr(onprompt, rubric)(image, prompt, settings=settings)


def rounded(value):
    return round(value, 9) if isinstance(value, float) else value


def facts(verdict):
    """What a verdict says; the first name of each pair is that of version 0.1."""
    measures = getattr(verdict, "measures", {})
    shares = getattr(verdict, "shares", None) or {name: measures.get(name) for name in ("elements", "relations")}
    old = not hasattr(verdict, "measures")
    names = {"presence": "presence", "attribute_accuracy": "attribute_accuracy", "coverage": "coverage"}
    names |= {"guessed": "estimated", "yes": "yes"}
    found = {name: getattr(verdict, name) if old else measures.get(now) for name, now in names.items()}
    scene = verdict.scene if old else verdict.evidence.scene if verdict.evidence else None
    estimates = verdict.guesses if old else verdict.evidence.estimates if verdict.evidence else ()
    sightings = verdict.sightings if old else verdict.evidence.sightings if verdict.evidence else ()
    extras = verdict.extras if old else verdict.evidence.extras if verdict.evidence else ()
    return {
        "score": verdict.score,
        "value": rounded(verdict.value),
        "flags": sorted(verdict.flags),
        **{name: rounded(value) for name, value in found.items()},
        "shares": [rounded(shares.get(name)) for name in ("elements", "relations")],
        "factors": {n: factor_facts(f, old) for n, f in verdict.factors.items() if old or not verdict.evidence},
        "checks": [check_facts(check, old) for check in verdict.checks],
        "estimates": [[rounded(check.score), rounded(check.confidence)] for check in estimates],
        "things": [[thing.phrase, thing.canonical] for thing in (scene.things if scene else ())],
        "sightings": [[s.label, s.word, rounded(s.confidence), list(s.box)] for s in sightings],
        "extras": [[s.word, list(s.box)] for s in extras],
        "answers": len(verdict.answers),
    }


def factor_facts(factor, old):
    scores, why = (factor.all, factor.why) if old else (factor.scores, factor.reason)
    return [factor.score, why, rounded(factor.expected), list(scores), rounded(factor.spread)]


def check_facts(check, old):
    kind, thing = (check.kind, check.thing) if old else (check.claim.kind, check.thing)
    kind = kind if not old else kind.removeprefix("not ")
    box = list(check.box) if check.box else None
    numbers = [rounded(check.score), rounded(check.confidence)]
    return [kind, -1 if thing is None else thing, check.outcome.value, *numbers, check.source, box, len(check.chosen)]


def write(out, data):
    with tempfile.TemporaryDirectory() as temporary, out.open("w") as file:
        folder = Path(temporary)
        for cases in (evidence(data), hybrid(data, folder), models(data, folder)):
            for name, rubric, image, prompt, settings in cases:
                try:
                    found = facts(judged(rubric, image, prompt, settings))
                except onprompt.OnpromptError as error:
                    found = {"error": type(error).__name__, "kind": getattr(error, "kind", "")}
                file.write(json.dumps({"case": name, **found}) + "\n")


def same(one, other):
    if isinstance(one, float) and isinstance(other, float | int):
        return abs(one - other) <= CLOSE
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return one == other


def compare(before, after):
    first, then = ({row["case"]: row for row in map(json.loads, path.open())} for path in (before, after))
    differing = Counter()
    for name in first.keys() | then.keys():
        one, other = first.get(name, {}), then.get(name, {})
        for field in one.keys() | other.keys():
            if not same(one.get(field), other.get(field)):
                differing[field] += 1
                print(f"{name}: {field}: {one.get(field)} → {other.get(field)}"[:600])
    print(f"{len(first)} cases before, {len(then)} after; differing: {dict(differing) or 'none'}")
    return bool(differing)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("paths", type=Path, nargs=2)
    given = parser.parse_args()
    if given.what == "compare":
        sys.exit(compare(*given.paths))
    write(*given.paths)
