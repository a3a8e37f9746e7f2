"""What asking a model costs beyond the server's own time: `python bench/asking.py`. Needs no network.

A server on loopback answers after 200 ms, however many ask. The same 2,000 questions about 2,000 small pictures are put
to it with 32 under way, twice: the second time all answers are in the store. Ideal is 2,000 / 32 × 200 ms.
--jury compares a jury of three models, without evidence, with one model in place of that.
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import onprompt
from onprompt.api import judges
from onprompt.settings import Settings
from onprompt.types import Verdict

TEXT = 'Step 1: ["a cat"]\nStep 2: ["a cat"]\nStep 3&4: []\nStep 5: all matched.\n(4)'
BODY = json.dumps(
    {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2300, "completion_tokens": 40},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(BODY)


def serve(port, calls, latency):
    """A server that answers every request after a while, and counts them."""

    async def handle(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lines = head.lower().split(b"\r\n")
                size = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
                await reader.readexactly(size)
                with calls.get_lock():
                    calls.value += 1
                await asyncio.sleep(latency)
                writer.write(HEAD + BODY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main():
        server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=512, limit=2**22)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())


def memory():
    """Megabytes of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def run(items, settings):
    """Seconds for all, and megabytes after each tenth."""
    start, sizes = time.perf_counter(), []
    for number, found in enumerate(onprompt.judge_many("verify", items, settings=settings), 1):
        assert isinstance(found, Verdict), found
        assert (found.score, found.flags) == (4, ())
        if number % max(1, len(items) // 10) == 0:
            sizes.append(memory())
    return time.perf_counter() - start, sizes


def pictures(folder, number):
    """Small images of noise, each with its prompt."""
    made = np.random.default_rng(0)
    for index in range(number):
        path = folder / f"{index}.png"
        Image.fromarray(made.integers(0, 255, (64, 64, 3), dtype=np.uint8)).save(path)
        yield {"image": path, "prompt": f"a cat and {index} mice"}


def one(items, settings, calls, ideal):
    """All questions to one model, then again from the cache."""
    first, sizes = run(items, settings)
    asked = calls.value
    again = []
    for _ in range(5):
        judges.close()
        again.append(run(items, settings)[0])
    second = statistics.median(again)
    print(f"first run   {first:7.2f} s, {first / ideal:.3f} × the ideal {ideal:.2f} s, {asked} calls")
    print(f"second run  {second:7.2f} s, {second / first:.2%} of the first, {calls.value - asked} calls")
    print(f"memory      {sizes[0]:.0f} MB after a tenth, {sizes[-1]:.0f} MB at the end")


def jury(items, settings, rounds):
    """One model and a jury of three in turns, with new models each time."""
    ratios, folder = [], settings.answers.parent
    for number in range(rounds):
        settings = settings.model_copy(update={"answers": folder / f"{number}.sqlite"})
        alone, _ = run(items, settings)
        three = {"judge": "", "model": "", "models": ("openai/a", "openai/b", "openai/c")}
        together, _ = run(items, settings.model_copy(update=three))
        judges.close()
        ratios.append(together / alone)
        print(f"one model {alone:.2f} s, three {together:.2f} s, ratio {ratios[-1]:.3f}")
    print(f"median ratio {statistics.median(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--slots", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--jury", type=int, metavar="ROUNDS", help="a jury of three against one model, in turns")
    options = parser.parse_args()
    port, calls = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(port, calls, options.latency), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        items = list(pictures(folder, options.questions))
        while not port.value:
            time.sleep(0.01)
        settings = Settings(
            judge="vlm",
            model="openai/test",
            base_url=f"http://127.0.0.1:{port.value}/v1",
            answers=folder / "answers.sqlite",
            concurrency=options.slots,
            jury_evidence_weight=0.0,
        )
        run(items[:1], settings.model_copy(update={"answers": folder / "warm.sqlite"}))  # imports
        calls.value = 0
        print(f"{options.questions} questions, {options.slots} at a time, {options.latency * 1000:.0f} ms each")
        if options.jury:
            jury(items, settings, options.jury)
        else:
            one(items, settings, calls, options.questions / options.slots * options.latency)
    server.terminate()


if __name__ == "__main__":
    main()
