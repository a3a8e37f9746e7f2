"""Generate several images with diffusers, and keep the one that shows the prompt best.

python best_of_n.py stable-diffusion-v1-5/stable-diffusion-v1-5 "Two red cups on a table." --n 4
"""

import argparse

import torch
from diffusers import DiffusionPipeline

import onprompt


def main() -> None:
    """Generate, rank, save the best."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", help="a pipeline of the Hugging Face hub, or a folder")
    parser.add_argument("prompt")
    parser.add_argument("--n", type=int, default=4)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--out", default="best.png")
    options = parser.parse_args()

    pipeline = DiffusionPipeline.from_pretrained(options.pipeline).to("cuda" if torch.cuda.is_available() else "cpu")
    images = pipeline(options.prompt, num_images_per_prompt=options.n, num_inference_steps=options.steps).images
    ranked = onprompt.best(images, options.prompt)
    for place, candidate in enumerate(ranked, 1):
        value = "no value" if candidate.value is None else f"{candidate.value:.2f}"
        print(f"{place}. image {candidate.number}: {value}. {candidate.reason}")
    images[ranked[0].number].save(options.out)


if __name__ == "__main__":
    main()
