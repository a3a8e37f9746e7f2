"""How much a warm `verify` costs beyond the bare inference of the models it ran: `python bench/overhead.py`.

Both are measured in one process and one run, alternating, so that a noisy machine disturbs both alike. The bare side
runs the same networks on the very inputs that `verify` gave them. Prints the medians and their ratio.
"""

import argparse
import statistics
import time

import onprompt
from onprompt.settings import load
from onprompt.vision.runtime import Network
from onprompt.weights.cache import paths

CASES = {
    "coffee.png": "a red cup on a table next to two spoons",
    "astronaut.png": "an astronaut to the right of a flag, holding a white helmet",
    "chelsea.png": "a brown cat",
}


def recorded(picture, prompt):
    """The networks that one call runs, with their inputs."""
    calls, run = [], Network.run

    def record(network, inputs):
        calls.append((network, inputs))
        return run(network, inputs)

    Network.run = record
    try:
        onprompt.verify(picture, prompt)
    finally:
        Network.run = run
    return calls


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    files = paths(list(CASES), load())
    ratios = []
    for name, prompt in CASES.items():
        picture = files[name]
        calls = recorded(picture, prompt)
        whole, bare = [], []
        for _ in range(rounds):
            whole.append(seconds(lambda picture=picture, prompt=prompt: onprompt.verify(picture, prompt)))
            bare.append(seconds(lambda calls=calls: [network.run(inputs) for network, inputs in calls]))
        ratio = statistics.median(whole) / statistics.median(bare)
        ratios.append(ratio)
        print(
            f"{name:14} verify {statistics.median(whole) * 1000:6.1f} ms, "
            f"bare inference {statistics.median(bare) * 1000:6.1f} ms, overhead {ratio - 1:+.1%}"
        )
    print(f"mean overhead {statistics.mean(ratios) - 1:+.1%}")


main()
