"""Generate on all processes of accelerate, and judge each image as soon as it is there.

    accelerate launch judge_while_generating.py stable-diffusion-v1-5/stable-diffusion-v1-5 prompts.txt

Images wait for a judge only if generating is faster than judging: the judge works in threads beside the generator.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from accelerate import PartialState
from accelerate.utils import gather_object
from diffusers import DiffusionPipeline

import onprompt


def reading(result: onprompt.Verdict | onprompt.OnpromptError) -> tuple[float | None, str]:
    """The value and the reason; without a verdict no value, and why."""
    return (result.value, result.summary) if isinstance(result, onprompt.Verdict) else (None, str(result))


def main() -> None:
    """Generate and judge this process's share of the prompts; the first process prints all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", help="a pipeline of the Hugging Face hub, or a folder")
    parser.add_argument("prompts", type=Path, help="a file with a prompt per line")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()

    state = PartialState()
    pipeline = DiffusionPipeline.from_pretrained(options.pipeline).to(state.device)

    def generate(prompts: list[str]) -> Iterator[dict[str, object]]:
        for prompt in prompts:
            yield {"image": pipeline(prompt, num_inference_steps=options.steps).images[0], "prompt": prompt}

    with state.split_between_processes(options.prompts.read_text().splitlines()) as share:
        results = onprompt.judge_many("verify", generate(share))  # which asks for the next image while it judges
        rows = [(prompt, *reading(result)) for prompt, result in zip(share, results, strict=True)]
    for prompt, value, why in gather_object(rows):
        if state.is_main_process:
            print(f"{'no verdict' if value is None else f'{value:.2f}'}  {prompt!r}: {why}")


if __name__ == "__main__":
    main()
