"""What a detector of a model hub costs beyond its bare network: `python bench/hf.py`. Needs onprompt[hf], no network.

The model has the size of OWLv2 base and weights by chance, which cost the same. Prints, for one picture at a time and
for eight, medians of the bare network on inputs that lie on the device, of making pictures ready, and of all of `see`.
"""

import argparse
import statistics
import tempfile
import time

import numpy as np
import torch
import transformers

from onprompt.language import name_of
from onprompt.settings import load
from onprompt.types import Look
from onprompt.vision.detectors.hf import HubDetector
from onprompt.vision.image import load_picture

NAMES = ("cat", "dog", "traffic light")


def saved(folder, small):
    """OWLv2 base at 960 px, with a tokenizer that knows letters only."""
    letters = [chr(code) for code in range(33, 127)]
    words = ["!", *letters[1:], *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    transformers.CLIPTokenizer(
        vocab={word: number for number, word in enumerate(words)}, merges=[], pad_token="!"
    ).save_pretrained(folder)
    transformers.Owlv2ImageProcessorPil().save_pretrained(folder)
    layers = {"num_hidden_layers": 1 if small else 12}
    config = transformers.Owlv2Config(
        vision_config={"image_size": 960, "patch_size": 16, **layers},
        text_config={**layers, "bos_token_id": len(words) - 2, "eos_token_id": len(words) - 1},
    )
    transformers.Owlv2ForObjectDetection(config).save_pretrained(folder)
    return folder


def seconds(action, device, rounds):
    """The median of several rounds after one that warms up."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        action()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def measured(detector, looks, rounds):
    """Seconds of the bare network, of making the pictures ready, and of the whole."""
    pixels = torch.stack([inputs["pixel_values"] for inputs in detector.made_ready(looks)]).to(detector.device)
    texts = torch.randint(1, 190, (len(NAMES) * len(looks), 16), device=detector.device)
    with torch.inference_mode():
        bare = seconds(lambda: detector.network.net(input_ids=texts, pixel_values=pixels), detector.device, rounds)
    ready = seconds(lambda: detector.made_ready(looks), "cpu", rounds)
    return bare, ready, seconds(lambda: detector.see(looks), detector.device, rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--small", action="store_true", help="a network of one layer, to try this script")
    parser.add_argument("--side", type=int, default=1024, help="pixels of a picture's side")
    options = parser.parse_args()
    pixels = np.random.default_rng(0).integers(0, 256, (options.side, options.side, 3), dtype=np.uint8)
    transformers.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        # By chance nearly every place would be a sighting; of a trained network's few are.
        settings = load(
            detector=f"hf:{saved(folder, options.small)}", faintest=0.999, missing_below=0.999, low_confidence=1
        )
        detector = HubDetector(settings)
        looks = [Look(load_picture(pixels, settings), [name_of(name) for name in NAMES])] * 8
        device = torch.cuda.get_device_name() if detector.device == "cuda" else detector.device
        print(f"OWLv2 base, {device}, torch {torch.__version__}, transformers {transformers.__version__}")
        for count in (1, 8):
            bare, ready, whole = measured(detector, looks[:count], options.rounds)
            print(
                f"{count} at a time: network {bare * 1000:.1f} ms, making ready {ready * 1000:.1f} ms, see "
                f"{whole * 1000:.1f} ms: {count / whole:.2f} pictures/s, {whole / bare - 1:+.0%} over the bare network"
            )


main()
