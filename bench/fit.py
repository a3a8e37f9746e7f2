"""What `onprompt fit` brings: `python bench/fit.py DATA [--cache FILE] [--repeats N]`. Nobody is asked.

The weights of juries are fitted to 50, 100 and 200 ratings, by the product's own functions, and tested on images of
other prompts and other generating models: each fold of prompts by each generating model is judged with weights that
saw neither, and ranked among all images by the same weights. As the command does, the defaults stay where fitted
weights are not better on prompts left out of the ratings given. DATA and the cache are those of `bench/jury.py`.
"""

import argparse
import json
from pathlib import Path

import jury
import numpy as np

from onprompt.errors import UserError
from onprompt.fitting.validation import fit_and_validate
from onprompt.fitting.weights import Voices, equal_weights, jury_values, one_factor_weights, order

JURIES = {
    "three + evidence": jury.STRONG,
    "three + three weak + evidence": (*jury.STRONG, *jury.WEAK),  # as if nobody knew that they are weak
    "gemini + evidence": ("gemini",),
}
RATINGS = (50, 100, 200)


def voices_of(task, judges):
    """What the judges and the evidence say, all models with the weight 1."""

    def column(judge):
        return np.array([np.nan if value is None else value for value in task.said[judge]], float)

    names = (*judges, "evidence")
    return Voices(names, np.array([column(name) for name in names]).T, np.array([*(1.0 for _ in judges), jury.USED]))


def fitted_values(task, voices, prompt, number, seed):
    """Held-out values by fitted weights, by those or the defaults as the command decides, and how often it refuses."""
    generator = np.random.default_rng(seed)
    defaults = order(jury_values(voices, voices.defaults))
    always, decided, refused = defaults.copy(), defaults.copy(), 0
    for cell, places in task.cells.items():
        given = generator.permutation(task.others(cell))[:number]
        levels = np.unique(prompt[given], return_inverse=True)[1]
        try:
            found = fit_and_validate(voices.take(given), task.people[given], levels)
        except UserError:
            refused += 1
            continue
        always[places] = order(jury_values(voices, found.weights))[places]
        if found.helps:
            decided[places] = always[places]
        refused += not found.helps
    return always, decided, refused / len(task.cells)


def figures(task, judges, repeats):
    """Spearman of a jury by default, by equal weights, by agreement of the voices, and by each number of ratings."""
    voices = voices_of(task, judges)
    prompt = np.unique([row["group"] for row in task.rows], return_inverse=True)[1]
    table = {"default": task.spearman(jury_values(voices, voices.defaults))}
    table["equal"] = task.spearman(jury_values(voices, equal_weights(voices)))
    try:
        table["no ratings"] = task.spearman(jury_values(voices, one_factor_weights(voices)))
    except UserError:
        table["no ratings"] = None
    for number in RATINGS:
        runs = [fitted_values(task, voices, prompt, number, seed) for seed in range(repeats)]
        table[f"{number} always"] = float(np.mean([task.spearman(always) for always, _, _ in runs]))
        table[str(number)] = float(np.mean([task.spearman(decided) for _, decided, _ in runs]))
        table[f"{number} refused"] = float(np.mean([refused for _, _, refused in runs]))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, help="file for the values of the evidence")
    parser.add_argument("--repeats", type=int, default=1, help="how often ratings are drawn")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    kept = options.cache and options.cache.is_file()
    cache = json.loads(options.cache.read_text()) if kept else {}
    for name in jury.TASKS:
        task = jury.Task(name, options.data, cache)
        if not options.json:
            print(f"{name}, {len(task.rows)} images of {len({row['group'] for row in task.rows})} prompts")
        for title, judges in JURIES.items():
            table = figures(task, judges, options.repeats)
            if options.json:
                print(json.dumps({"task": name, "jury": title, **table}), flush=True)
                continue
            shown = (f"{key} {'–' if value is None else f'{value:.3f}'}" for key, value in table.items())
            print(f"  {title:34} {', '.join(shown)}", flush=True)
    if options.cache:
        options.cache.write_text(json.dumps(cache))


if __name__ == "__main__":
    main()
