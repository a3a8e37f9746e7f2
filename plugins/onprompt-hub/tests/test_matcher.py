"""Matchers of a hub: small CLIP, SigLIP and SigLIP 2 models, made here, with weights by chance."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import tiny_detectors
import tiny_towers
from onprompt import verify
from onprompt.errors import NotFetched, UserError
from onprompt.runs.reading import Run
from onprompt.runs.run import JudgeJob
from onprompt.settings import load
from onprompt.types import Picture
from onprompt.vision.image import load_picture
from onprompt.vision.matchers import load_matcher
from onprompt_hub.calibration import calibrate_matcher
from onprompt_hub.match_curve import Calibration, Curve
from onprompt_hub.matcher import HubMatcher
from test_detector import copied, noise
from tests.conftest import Pixels

Folder = Callable[[str], Path]
FAMILIES = list(tiny_towers.MODELS)
TEXTS = ["a cat", "a Dog", "traffic light", "a photo of a zebra"]
LONG = "traffic light " * 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = tiny_towers.save(name, tmp_path_factory.mktemp(name))
        return made[name]

    return make


def hub(where: Path, **more: Any) -> HubMatcher:
    found = load_matcher(load(matcher=f"hf:{where}", **more))
    assert isinstance(found, HubMatcher)
    return found


def picture(*shape: int) -> Picture:
    return load_picture(noise(*shape), load())


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_are_those_of_the_models_own_processor_and_forward_pass(folder: Folder, name: str) -> None:
    which = hub(folder(name))
    images = transformers.AutoImageProcessor.from_pretrained(folder(name), backend="pil")
    words = transformers.AutoTokenizer.from_pretrained(folder(name))
    inputs = words(TEXTS, padding="max_length", truncation=True, max_length=tiny_towers.WINDOW, return_tensors="pt")
    kept = {key: inputs[key] for key in ("input_ids", *(["attention_mask"] if name == "clip" else []))}
    with torch.inference_mode():
        out = which.towers.net(**kept, **images(images=Image.fromarray(noise(40, 60)), return_tensors="pt"))
        expected = out.logits_per_image[0].sigmoid()
        if name == "clip":  # whose logits are cosines times its temperature
            cosines = out.logits_per_image[0] / which.towers.net.logit_scale.exp()
            expected = (40 * (cosines - 0.24)).sigmoid()
    assert which.probabilities(picture(40, 60), TEXTS) == pytest.approx(expected.tolist(), abs=2e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_phrase_may_be_true_of_a_part(folder: Folder, name: str) -> None:
    which = hub(folder(name))
    best = []
    for pixels in (noise(50, 50), noise(50, 50) // 3 + 120, noise(50, 50) // 8):
        corners = [pixels[y : y + 30, x : x + 30] for y in (0, 20) for x in (0, 20)]
        pictures = [load_picture(np.ascontiguousarray(view), load()) for view in (pixels, *corners)]
        views = np.array([which.probabilities(each, TEXTS) for each in pictures])
        assert which.phrase_probabilities(pictures[0], TEXTS) == pytest.approx(views.max(axis=0).tolist(), abs=2e-4)
        best += views.argmax(axis=0).tolist()
    assert len(set(best)) > 1, "not always the whole"


@pytest.mark.parametrize("name", FAMILIES)
def test_together_or_one_by_one_or_from_threads_is_the_same(folder: Folder, name: str) -> None:
    which, pictures = hub(folder(name)), [picture(40 + i, 60) for i in range(12)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda each: which.phrase_probabilities(each, TEXTS), pictures))
    which.towers.pictures.values.clear()
    which.towers.texts.values.clear()
    alone = [[which.phrase_probabilities(each, [text])[0] for text in TEXTS] for each in pictures]
    assert np.array(together) == pytest.approx(np.array(alone), abs=2e-4)
    assert which.probabilities(pictures[0], []) == which.phrase_probabilities(pictures[0], []) == []


@pytest.fixture
def passes() -> Iterator[Callable[[HubMatcher], dict[str, list[int]]]]:
    """How many items each pass of a tower takes, from now on."""
    hooks = []

    def watch(which: HubMatcher) -> dict[str, list[int]]:
        sizes: dict[str, list[int]] = {"pixel_values": [], "input_ids": []}

        def note(_: Any, __: Any, inputs: Any) -> None:
            for key in sizes.keys() & inputs.keys():
                sizes[key].append(len(inputs[key]))

        for tower in (which.towers.net.vision_model, which.towers.net.text_model):
            hooks.append(tower.register_forward_pre_hook(note, with_kwargs=True))
        return sizes

    yield watch
    for hook in hooks:
        hook.remove()


@pytest.mark.parametrize("name", ["clip", "siglip2-naflex"])
def test_crops_and_texts_of_a_picture_are_one_pass_each_and_are_remembered(
    folder: Folder, name: str, passes: Callable[[HubMatcher], dict[str, list[int]]]
) -> None:
    which = hub(folder(name))
    which.towers.pictures.values.clear()
    which.towers.texts.values.clear()
    sizes = passes(which)
    for _ in range(3):
        which.phrase_probabilities(picture(33, 66), [*TEXTS, "a cat"])
        which.probabilities(picture(33, 66), TEXTS[:1])
    assert sizes == {"pixel_values": [5], "input_ids": [4]}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("shape", [(2, 1200), (900, 3), (2, 2), (1280, 160)])
def test_pictures_of_odd_shapes_are_scored(folder: Folder, name: str, shape: tuple[int, int]) -> None:
    estimates = hub(folder(name)).phrase_probabilities(picture(*shape), TEXTS)
    assert all(0 <= estimate <= 1 for estimate in estimates)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_long_text_is_truncated_and_that_is_known(folder: Folder, name: str) -> None:
    which = hub(folder(name))
    assert not which.truncates("a cat")
    assert which.truncates(LONG)
    for odd in (LONG, "🐈 \ud800", ""):
        assert 0 <= which.probabilities(picture(40, 60), [odd])[0] <= 1


@pytest.mark.parametrize("name", FAMILIES)
def test_case_does_not_matter(folder: Folder, name: str) -> None:
    which = hub(folder(name))
    assert which.probabilities(picture(40, 60), ["A CAT"]) == which.probabilities(picture(40, 60), ["a cat"])


def mosaic() -> Pixels:
    return noise(4, 4).repeat(16, axis=0).repeat(16, axis=1)  # fine noise would be an empty picture


def test_a_verdict_says_which_model_and_curve_made_the_estimates(folder: Folder) -> None:
    where = folder("siglip")
    verdict = verify(mosaic(), "a zebra and a light", settings=load(matcher=f"hf:{where}"))
    which = hub(where)
    stated = verdict.provenance["matcher"]
    assert stated == {
        "model": where.name,
        "revision": which.revision,
        "calibration": "none",
        "whole": pytest.approx([np.exp(2), -1.5]),
        "phrase": pytest.approx([np.exp(2), -1.5]),
    }
    assert "model.safetensors" in verdict.provenance["weights"]
    assert verdict.provenance["versions"]["torch"] == torch.__version__
    assert verdict.provenance["settings"]["matcher"] == f"hf:{where.name}"
    assert "matcher_uncalibrated" in verdict.flags
    assert "prompt_truncated" not in verdict.flags
    (overall,) = (check.finding.probability for check in verdict.checks if check.claim.kind == "whole")
    assert overall == pytest.approx(
        which.probabilities(load_picture(mosaic(), load()), ["a zebra and a light"])[0], abs=1e-4
    )
    crowd = "a zebra and a light and " + "a dog and " * 20 + "a cat"
    long = verify(mosaic(), crowd, settings=load(matcher=f"hf:{where}"))
    assert "prompt_truncated" in long.flags


def test_the_revision_is_the_hubs_commit(folder: Folder, tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    where = tmp_path / "models--owner--name" / "snapshots" / commit
    where.mkdir(parents=True)
    copied(folder("clip"), where)
    assert hub(where).identity["revision"] == commit


def test_two_models_of_a_hub_have_their_own_hashes(folder: Folder, tmp_path: Path) -> None:
    detector = tiny_detectors.save("yolos", tmp_path)
    verdict = verify(mosaic(), "a cat", settings=load(matcher=f"hf:{folder('clip')}", detector=f"hf:{detector}"))
    hashes = verdict.provenance["weights"]
    assert hashes["model.safetensors"] != hashes[f"{folder('clip').name}/model.safetensors"]


def test_an_edit_is_judged_by_it_too(folder: Folder) -> None:
    from onprompt import edit

    before, after = mosaic(), mosaic().copy()
    after[10:40, 10:40] = (200, 30, 30)
    verdict = edit(before, after, "add a red cat", settings=load(matcher=f"hf:{folder('clip')}"))
    assert "matcher_uncalibrated" in verdict.flags
    assert verdict.provenance["matcher"]["model"] == folder("clip").name


# ---- what can go wrong -----------------------------------------------------------------------------------------------


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    config = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    transformers.ViTForImageClassification(config).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"its type is vit\. Supported are CLIP, SigLIP, SigLIP 2 models"):
        hub(tmp_path)


def test_settings_that_do_not_suit_are_refused(folder: Folder) -> None:
    with pytest.raises(UserError, match="permissive = true"):
        hub(folder("clip"), permissive=True)
    with pytest.raises(NotFetched, match=r"(?s)'/no/such/folder'.*HF_HUB_OFFLINE.*hf:/my/folder"):
        hub(Path("/no/such/folder"))


def onprompt(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "onprompt", *arguments], capture_output=True, text=True, cwd=folder, env=environment
    )


# ---- calibration -----------------------------------------------------------------------------------------------------

COLOURS = {
    **{"red": (220, 20, 20), "green": (20, 180, 20), "blue": (20, 20, 220), "white": (250, 250, 250)},
    **{"black": (5, 5, 5), "grey": (128, 128, 128), "yellow": (240, 230, 20), "pink": (250, 150, 200)},
}
THINGS = {"cat": (slice(None), slice(0, 32)), "dog": (slice(0, 32), slice(None)), "zebra": (slice(None), slice(None))}


def drawn(colour: str, thing: str, seed: int) -> Pixels:
    """A picture of which a part has a colour, which part depends on the thing."""
    pixels = np.full((64, 64, 3), 90.0)
    pixels[THINGS[thing]] = COLOURS[colour]
    return (pixels + np.random.default_rng(seed).normal(0, 12, pixels.shape)).clip(0, 255).astype(np.uint8)


CASES = [(f"a {colour} {thing}", drawn(colour, thing, i)) for i in range(3) for colour in COLOURS for thing in THINGS]


@pytest.fixture(scope="module")
def trained(folder: Folder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP that was trained to tell the captions of such pictures apart."""
    where = tmp_path_factory.mktemp("trained")
    copied(folder("clip"), where)
    net = transformers.CLIPModel.from_pretrained(where)
    images = transformers.AutoImageProcessor.from_pretrained(where, backend="pil")
    words = transformers.AutoTokenizer.from_pretrained(where)
    texts, pictures = zip(*CASES[: len(CASES) // 3], strict=True)
    inputs = words(list(texts), padding="max_length", max_length=tiny_towers.WINDOW, return_tensors="pt")
    inputs |= images(images=list(pictures), input_data_format="channels_last", return_tensors="pt")
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    torch.manual_seed(0)
    for _ in range(100):
        optimizer.zero_grad()
        net(**inputs, return_loss=True).loss.backward()
        optimizer.step()
    net.save_pretrained(where)
    return where


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Pictures with captions, and a row whose file is missing."""
    with (tmp_path / "captions.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("image", "caption"))
        for number, (caption, pixels) in enumerate(CASES):
            Image.fromarray(pixels).save(tmp_path / f"{number}.png")
            writer.writerow((f"{number}.png", caption))
        writer.writerow(("gone.png", "a red cat"))
    return tmp_path / "captions.csv"


def test_a_model_is_calibrated_on_captions_and_used_by_the_file(trained: Path, table: Path, tmp_path: Path) -> None:
    result = onprompt(tmp_path, "calibrate", f"hf:{trained}", str(table), "--out", "tiny.toml")
    assert result.returncode == 0, result.stderr
    assert "calibrated on 72 images, 72 captions, " in result.stdout
    assert "1 row left out, for example: " in result.stdout
    assert "use it with --set matcher=hf:tiny.toml" in result.stdout
    which = hub(tmp_path / "tiny.toml")
    assert which.calibration
    figures = which.calibration.figures
    assert figures["whole_auc"] > 0.9
    assert figures["whole_log_loss"] < 0.5 < figures["whole_log_loss_uncalibrated"]
    (own, other) = which.probabilities(load_picture(CASES[0][1], load()), [CASES[0][0], "a blue zebra"])
    assert own > 0.5 > other
    verdict = verify(CASES[0][1], "a red cat", settings=load(matcher=f"hf:{tmp_path / 'tiny.toml'}"))
    assert "matcher_uncalibrated" not in verdict.flags
    assert verdict.provenance["matcher"]["calibration"] == "tiny.toml"
    assert verdict.provenance["matcher"]["whole"] == list(which.calibration.whole)
    assert verdict.provenance["settings"]["matcher"] == "hf:tiny.toml"
    assert str(tmp_path) not in json.dumps(verdict.provenance)


def test_a_run_takes_the_file_and_other_curves_are_another_configuration(
    trained: Path, table: Path, tmp_path: Path
) -> None:
    curve = Calibration(str(trained), hub(trained).revision, Curve(20.0, -5.0), Curve(20.0, -5.0), {})
    curve.write(tmp_path / "mine.toml")
    (tmp_path / "few.csv").write_text("\n".join(table.read_text().splitlines()[:4]))
    done = onprompt(tmp_path, "run", "few.csv", "--out", "run.sqlite", "--set", f"matcher=hf:{tmp_path / 'mine.toml'}")
    assert done.stdout.startswith("3 verdicts, 0 errors")
    stored = Run(tmp_path / "run.sqlite").verdict("0.png")
    assert stored.provenance["matcher"]["whole"] == [20.0, -5.0]
    settings = load(matcher=f"hf:{tmp_path / 'mine.toml'}")
    identity = JudgeJob("verify", settings).identity
    assert identity["matcher"] == stored.provenance["matcher"]
    load_matcher.__wrapped__.cache_clear()  # type: ignore[attr-defined]
    curve._replace(whole=Curve(30.0, -5.0)).write(tmp_path / "mine.toml")
    assert JudgeJob("verify", settings).identity != identity


def test_a_calibration_of_other_weights_is_refused(trained: Path, tmp_path: Path) -> None:
    Calibration(str(trained), "0123", Curve(20, -5), Curve(20, -5), {}).write(tmp_path / "old.toml")
    with pytest.raises(UserError, match=r"calibrates the revision 0123 of .*onprompt calibrate` again"):
        hub(tmp_path / "old.toml")
    with pytest.raises(UserError, match=r"can't read the calibration .*none\.toml"):
        hub(tmp_path / "none.toml")


def test_a_model_that_tells_nothing_is_not_calibrated(folder: Folder, table: Path, tmp_path: Path) -> None:
    result = onprompt(tmp_path, "calibrate", f"hf:{folder('siglip2')}", str(table), "--out", "bad.toml")
    assert result.returncode == 2
    assert "does not tell the images' own captions from those of others" in result.stderr
    assert not (tmp_path / "bad.toml").exists()
    with pytest.raises(UserError, match="only hf:OWNER/MODEL or hf:FOLDER can be calibrated, not 'small'"):
        calibrate_matcher([], load())
