"""How many of the prompts that `onprompt prompts make` writes parse back to the scene that they were made from.

python bench/made_prompts.py            # 5 seeds × 4 numbers of objects × 400 prompts, all features
"""

import argparse
import time
from collections import Counter

from onprompt.language import parse_many
from onprompt.prompt_sets import FEATURES, is_parsed, make
from onprompt.settings import load
from onprompt.types import Scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--n", type=int, default=400)
    parser.add_argument("--failures", action="store_true", help="print each prompt that does not parse back")
    options = parser.parse_args()
    start, settings = time.monotonic(), load()
    right, total, by_category = 0, 0, Counter[str]()
    for objects in (1, 2, 3, 4):
        features = [name for name in FEATURES if objects > 1 or name != "relations"]
        shares = []
        for seed in range(options.seeds):
            made = list(make(options.n, objects, features, seed))
            parsed = parse_many((each.prompt for each in made), settings)
            good = [
                isinstance(scene, Scene) and is_parsed(each, scene) for each, scene in zip(made, parsed, strict=True)
            ]
            for each, fine in zip(made, good, strict=True):
                by_category[each.category] += not fine
                if options.failures and not fine:
                    print(f"  {each.category}: {each.prompt}")
            shares.append(sum(good) / len(good))
            right, total = right + sum(good), total + len(good)
        print(f"{objects} objects: " + ", ".join(f"{share:.4f}" for share in shares))
    print(f"all: {right:,} of {total:,} = {right / total:.4f} ({time.monotonic() - start:.0f} s)")
    print("not parsed back by category:", dict(by_category.most_common()))


if __name__ == "__main__":
    main()
