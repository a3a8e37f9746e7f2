"""How long a jury takes beside its slowest model: `python bench/jury_speed.py`. Needs no network.

One server on loopback answers after 200 ms, however many ask; three models on it are asked with 32 questions each under
way, and then one of them alone. The jury has no evidence, which takes the processor for longer than any server.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from asking import serve
from PIL import Image

import onprompt
from onprompt.api import judges
from onprompt.settings import Settings
from onprompt.types import Verdict


def seconds(items, settings):
    """Seconds for all verdicts."""
    start = time.perf_counter()
    for found in onprompt.judge_many("verify", items, settings=settings):
        assert isinstance(found, Verdict), found
        assert found.score == 4
        assert not found.flags
    return time.perf_counter() - start


def pictures(folder, number):
    """Small images of noise, each with its prompt."""
    made = np.random.default_rng(0)
    for index in range(number):
        path = Path(folder) / f"{index}.png"
        Image.fromarray(made.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(path)
        yield {"image": path, "prompt": f"a cat and {index} mice"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    port, calls = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(port, calls, options.latency), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        items = list(pictures(folder, options.questions))
        while not port.value:
            time.sleep(0.01)
        usual = {
            "base_url": f"http://127.0.0.1:{port.value}/v1",
            "concurrency": options.slots,
            "jury_evidence_weight": 0.0,
        }
        models, ratios = ("openai/a", "openai/b", "openai/c"), []
        for number in range(options.rounds + 1):  # the first is for imports alone
            answers = {"answers": Path(folder) / f"answers{number}.sqlite"}
            rest = items if number else items[:40]
            before = calls.value
            one = seconds(rest, Settings(model=models[0], judge="vlm", **usual, **answers))
            three = seconds(rest, Settings(models=(*models[1:], "openai/d"), **usual, **answers))
            judges.close()
            if number:
                ratios.append(three / one)
                print(
                    f"one model {one:.2f} s, three {three:.2f} s, ratio {three / one:.3f}, {calls.value - before} calls"
                )
        print(f"median ratio {statistics.median(ratios):.3f}")
    server.terminate()


if __name__ == "__main__":
    main()
