"""What the log-odds of edits are worth. `python training/edits/fit.py DATA` writes evidence/edits/reliability.toml.

DATA holds edit/*.csv: edits rated by people. One number is fitted for edits by text and one for those with a mask:
where alignment's curve lies, so that most edits that people accept get 5 or more. Slopes, and the curves of
completeness and plausibility, are set by hand: others moved the agreement of `value` with people by less than .03.
Prints how the scale holds for editors, and for photos, that were left out.
"""

import argparse
import csv
import math
from pathlib import Path

import numpy as np

from onprompt.evidence.edits import grade
from onprompt.evidence.edits.claims import judge_operations
from onprompt.evidence.edits.observations import observe_edit
from onprompt.settings import Settings
from onprompt.types import Sample
from onprompt.vision.image import open_picture

FILE = Path(grade.__file__).with_name("reliability.toml")
TASKS = {"alignment": "Text-Guided_IE", "alignment with a mask": "Mask-Guided_IE"}
ACCEPTED = 0.8  # rating from which an edit is accepted
ENOUGH = 0.72  # share of the accepted edits that get 5 or more
FIVE = (4.5 - 1) / 6  # share of the scale that is rounded to 5
BY_HAND = {"completeness": (0.5, 0.5), "plausibility": (2.2, 0.55)}


def observed_edits(data):
    """For each rated edit its row, and what is known of it."""
    settings = Settings()
    for task in TASKS.values():
        for row in csv.DictReader((data / f"edit/{task}.csv").open()):
            names = {"before": row["source"], "after": row["image"], "mask": row["mask"]}
            pictures = {name: open_picture(data / "edit" / path, settings) for name, path in names.items() if path}
            after = pictures.pop("after")
            observed = observe_edit(Sample(row["image"], row["instruction"], after, pictures), settings)
            yield row | {"task": task}, judge_operations(observed), observed


def latents(operations, observed):
    """The log-odds of each operation before the curve, and their limit after it."""
    kept = grade.kept_odds(observed)
    return np.array([(grade.DONE * each.odds + kept, each.odds + grade.BARE) for each in operations]).T


def base_of(rows):
    """Where the curve lies at which ENOUGH of the accepted edits get 5 or more."""
    good = [np.mean(latent[0]) for row, latent in rows if float(row["sc"]) >= ACCEPTED]
    return math.log(FIVE / (1 - FIVE)) - float(np.quantile(good, 1 - ENOUGH)) if good else 0.0


def held_out(rows, key):
    """Shares of accepted edits with 5 or more and with 2 or less, and of failed ones with 3 or less, each left out."""
    scores = []
    for group in sorted({row[key] for row, _ in rows}):
        base = base_of([each for each in rows if each[0][key] != group])
        scores += [
            (
                float(row["sc"]),
                round(1 + 6 * float(np.mean(1 / (1 + np.exp(-np.minimum(base + latent[0], latent[1])))))),
            )
            for row, latent in rows
            if row[key] == group
        ]
    good, failed = ([s for rating, s in scores if test(rating)] for test in (lambda r: r >= ACCEPTED, lambda r: r == 0))
    shares = np.mean(np.array(good) >= 5), np.mean(np.array(good) <= 2), np.mean(np.array(failed) <= 3)
    return [round(float(share), 3) for share in shares], len(good), len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    known = list(observed_edits(parser.parse_args().data))
    lines = ["# What edits' log-odds are worth: written by training/edits/fit.py, read by evidence/edits/grade.py."]
    for name, task in TASKS.items():
        rows = [(row, latents(operations, observed)) for row, operations, observed in known if row["task"] == task]
        base = round(base_of(rows), 2)
        good = sum(float(row["sc"]) >= ACCEPTED for row, _ in rows)
        about = f"{ENOUGH:.0%} of {good} accepted edits get 5 or more"
        lines += [
            "",
            f'["{name}"]' if " " in name else f"[{name}]",
            f"base = {base} # {about}",
            "slope = 1.0",
        ]
        for key in ("model", "group"):
            print(name, "left out:", "editors" if key == "model" else "photos", *held_out(rows, key))
    for name, (base, slope) in BY_HAND.items():
        lines += ["", f"[{name}]", f"base = {base} # set by hand", f"slope = {slope}"]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
