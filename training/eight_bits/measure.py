"""Measure what the networks' convolutions are given: `python training/eight_bits/measure.py DATA`.

DATA holds `pairs.jsonl`, captioned pictures, and the pictures. They are verified with their captions in full precision,
so that each network is given what it is given in use; a half of them as montages of four or nine, which have as much
detail as larger pictures. Writes a file for each network to src/onprompt/vision/activations: for each channel of each
convolution's inputs the range, half-way between that of an average picture and that of all pictures, and the mean.
"""

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import openvino as ov
from openvino import opset13 as op
from PIL import Image

import onprompt
from onprompt import plugins
from onprompt.settings import load
from onprompt.vision import detection, runtime  # noqa: F401 whose networks are measured
from onprompt.vision.runtime import ACTIVATIONS, FULL_PRECISION, Network, compile_model, convolutions, fold_constants

TILE = 256
TILES = (1, 2, 1, 3)  # a side of each picture in turn
# The first and the last convolutions that stay in 32 bits: the first two of PPLCNetV2 make a quarter of its error and
# next to nothing of its time.
PRECISE = {"pplcnet": (2, 0)}


class Recorder:
    """An even sample of the inputs that each network is given."""

    def __init__(self, most):
        self.most, self.random = most, random.Random(0)
        self.seen, self.inputs, self.builds, self.variants = Counter(), defaultdict(list), {}, {}

    def install(self, detector):
        network, read_all = runtime.network, Network.read_all

        def remember(variant, made_of, build, **options):
            made = network(variant, made_of, build, **options)
            self.builds[variant], self.variants[id(made)] = build, variant
            return made

        def record(made, batches, reader):
            if variant := self.variants.get(id(made)):
                for inputs in batches:
                    self.keep(variant, [np.array(each) for each in inputs])
            return read_all(made, batches, reader)

        plugins.load("vision.detectors", detector)
        for name, module in list(sys.modules.items()):
            if name.startswith("onprompt") and module is not runtime and vars(module).get("network") is network:
                module.network = remember
        Network.read_all = record

    def keep(self, variant, inputs):
        self.seen[variant] += 1
        kept = self.inputs[variant]
        if len(kept) < self.most:
            kept.append(inputs)
        elif self.random.random() < self.most / self.seen[variant]:
            kept[self.random.randrange(self.most)] = inputs


def montage(files, side):
    """The first picture as it is, or side × side of them as tiles."""
    if side == 1:
        return Image.open(files[0]).convert("RGB")
    made = Image.new("RGB", (side * TILE, side * TILE))
    for place, file in enumerate(files[: side**2]):
        tile = Image.open(file).convert("RGB").resize((TILE, TILE))
        made.paste(tile, (place % side * TILE, place // side * TILE))
    return made


def activations(build, inputs):
    """The lowest, highest and mean value of each channel, a row each, for each convolution."""
    model = fold_constants(build())
    layers = convolutions(model)
    probe = ov.Model([op.result(layer.input_value(0)) for layer in layers], model.get_parameters(), "probe")
    request = compile_model(probe, FULL_PRECISION).create_infer_request()
    seen = [([], [], []) for _ in layers]
    for each in inputs:
        request.infer(each)
        for index, found in enumerate(seen):
            value = request.get_output_tensor(index).data
            for kept, of_channels in zip(found, (value.min, value.max, value.mean), strict=True):
                kept.append(of_channels(axis=(0, 2, 3)))
    rows = []
    for low, high, mean in seen:
        average = [np.mean(each, axis=0) for each in (low, high, mean)]
        widest = np.min(low, axis=0), np.max(high, axis=0)
        rows.append(np.stack([(average[0] + widest[0]) / 2, (average[1] + widest[1]) / 2, average[2]]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("networks", nargs="+", help="eiseg pplcnet …")
    parser.add_argument("--detector", default="coco", help="the detector in use: strong for those of onprompt-yolo")
    parser.add_argument("--pictures", type=int, default=200)
    parser.add_argument("--most", type=int, default=120, help="inputs of a network that are looked at")
    options = parser.parse_args()
    rows = [json.loads(line) for line in (options.data / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    random.Random(0).shuffle(rows)
    recorder = Recorder(options.most)
    recorder.install(options.detector)
    settings = load(detector=options.detector, precision="f32")
    for number in range(options.pictures):
        files = [options.data / row["image"] for row in rows[number * 9 : number * 9 + 9]]
        onprompt.verify(montage(files, TILES[number % 4]), rows[number * 9]["text"], settings=settings)
    if unseen := set(options.networks) - set(recorder.inputs):
        sys.exit(f"not in use: {', '.join(sorted(unseen))}; in use: {', '.join(recorder.inputs)}")
    for variant in options.networks:
        inputs = recorder.inputs[variant]
        layers = activations(recorder.builds[variant], inputs)
        first, last = PRECISE.get(variant, (0, 0))
        for layer in (*layers[:first], *layers[len(layers) - last :]):
            layer[:] = np.nan
        path = ACTIVATIONS / f"{variant}.npz"
        channels = np.array([layer.shape[1] for layer in layers], dtype=np.int32)
        np.savez_compressed(path, channels=channels, values=np.concatenate(layers, axis=1).astype(np.float16))
        print(f"{variant}: {len(layers)} convolutions, {len(inputs)} inputs, {path.stat().st_size:,} bytes")


main()
