"""The local backend: claims about an image with what is kept of it and without, memory, overhead over the pipeline.

python bench/local.py [FOLDER [SIDE]]   FOLDER: a model; by default the small one of the tests. SIDE: of the images.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import openvino_genai as genai
from openvino import Tensor
from PIL import Image

from onprompt.models.backends import local
from onprompt.settings import Settings
from onprompt.types import Message, Question, SentImage
from onprompt.vision.image import load_picture

TINY = Path(__file__).parent.parent / "tests/models/backends/local_model/tiny"
CLAIMS = 20
ROUNDS = 11
REGION = 64  # pixels a side: the small model reads larger images at 256, so that this is a quarter


def pictures(seed: int, number: int, side: int) -> list[SentImage]:
    """Noise, so that no two images share anything; decoded."""
    noise = np.random.default_rng(seed).integers(0, 256, (number, side, side, 3), dtype=np.uint8)
    found = [SentImage(load_picture(Image.fromarray(pixels), Settings()), side, "png", 0) for pixels in noise]
    return [shown for shown in found if shown.picture.decoded]


def about(shown: SentImage, number: int, *region: SentImage) -> Question:
    text = f"Is this statement true of the image? There are {number} red balls. Answer yes or no."
    return Question((Message("user", (shown, *region, text)),), max_tokens=16, choices=("yes", "no"))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def resident() -> float:
    """Megabytes of this process in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def kept_against_single(backend: local.Local, side: int, closer: bool) -> None:
    """Claims about new images, each with a region or not, with what is kept of an image, and without."""
    ratios, times = [], []
    for seed in range(ROUNDS):
        regions = pictures(9000 + seed, CLAIMS, REGION) if closer else []
        first, second = [
            [about(shown, number, *regions[number : number + 1]) for number in range(CLAIMS)]
            for shown in pictures(2 * seed, 2, side)
        ]
        kept = seconds(lambda: list(map(backend.ask, first)))  # noqa: B023
        single = seconds(lambda: [(backend.model_in_memory().kept.clear(), backend.ask(each)) for each in second])  # noqa: B023
        ratios.append(single / kept)
        times.append((kept, single))
    kept, single = (median(column) for column in zip(*times, strict=True))
    what = f"{CLAIMS} claims{' with regions' if closer else ''}"
    print(f"{what}: {kept:.3f} s, with nothing kept {single:.3f} s; {median(ratios):.1f} times as fast")


def memory(backend: local.Local, side: int) -> None:
    """Megabytes after each fifty of 250 images."""
    seen = []
    for number, (shown,) in enumerate((pictures(seed, 1, side) for seed in range(1000, 1250)), 1):
        for claim in range(CLAIMS):
            backend.ask(about(shown, claim, shown))
        if number % 50 == 0:
            seen.append(resident())
    print(f"after 50, 100, … images: {', '.join(f'{size:.0f}' for size in seen)} MB; {seen[-1] / seen[0] - 1:+.1%}")


def overhead(backend: local.Local, folder: Path, side: int) -> None:
    """The first answer about an image, by the backend and by the bare pipeline with the same question."""
    scheduler = genai.SchedulerConfig()
    scheduler.num_kv_blocks, scheduler.max_num_batched_tokens = local.CACHE_BLOCKS, local.STEP_TOKENS
    scheduler.enable_prefix_caching = True
    options = {"INFERENCE_NUM_THREADS": local.available_cores(), "ENABLE_CPU_PINNING": False}
    pipeline = genai.ContinuousBatchingPipeline(str(folder), scheduler, "CPU", options)
    config = backend.model_in_memory().likeliest(apply_chat_template=True)

    def bare(shown: SentImage, text: str) -> None:
        history = genai.ChatHistory([{"role": "user", "content": f"<ov_genai_image_0>{text}"}])
        pipeline.generate([history], images=[[Tensor(shown.picture.pixels[None])]], generation_config=[config])

    times = []
    for seed in range(8 * ROUNDS):
        (shown,) = pictures(5000 + seed, 1, side)
        question = about(shown, 1)
        ask, other = partial(backend.ask, question), partial(bare, shown, str(question.messages[0].parts[1]))
        times.append((seconds(ask), seconds(other)) if seed % 2 else (seconds(other), seconds(ask))[::-1])
    ours, other_way = (median(column) for column in zip(*times, strict=True))
    more = ours / other_way - 1
    print(f"first answer: {1000 * ours:.1f} ms, bare pipeline {1000 * other_way:.1f} ms; {more:+.1%}")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TINY
    side = int(sys.argv[2]) if len(sys.argv) > 2 else Settings().send_side
    start = time.perf_counter()
    backend = local.Local(str(folder), Settings())
    print(f"{folder.name}: loaded in {time.perf_counter() - start:.2f} s; images of {side} px")
    for closer in (False, True):
        kept_against_single(backend, side, closer)
    overhead(backend, folder, side)
    memory(backend, side)


if __name__ == "__main__":
    main()
