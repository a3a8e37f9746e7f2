"""Models of a hub: small ones of each family, made here, with weights by chance."""

import hashlib
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
from safetensors.torch import load_file, save_file

import tiny_detectors
from onprompt import see, verify
from onprompt.errors import ImageError, PluginError, UntrustedFile, UserError
from onprompt.language import name_of
from onprompt.settings import load
from onprompt.types import Detections, Name, NameMatch, Picture
from onprompt.vision.detectors import load_detector
from onprompt.vision.image import load_picture
from onprompt_hub import detector
from onprompt_hub.loading import weight_files
from onprompt_hub.networks import ModelDetections, OpenVocabulary, Segmenter
from tests.conftest import Pixels

Folder = Callable[[str], Path]
OPEN = ["owlvit", "owlv2", "grounding-dino", "mm-grounding-dino", "omdet-turbo"]
CLOSED = ["rt-detr", "yolos", "mask2former"]
ASKED = (["cat", "dog", "traffic light"], ["zebra"], ["cat", "person"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = tiny_detectors.save(name, tmp_path_factory.mktemp(name))
        return made[name]

    return make


def noise(*shape: int) -> Pixels:
    return np.random.default_rng(sum(shape)).integers(0, 256, (*shape, 3), dtype=np.uint8)


def hub(folder: Path, **more: Any) -> detector.HubDetector:
    found = load_detector(load(**{"detector": f"hf:{folder}", "min_confidence": 0, **more}))
    assert isinstance(found, detector.HubDetector)
    return found


def tokenizer(which: detector.HubDetector) -> Any:
    assert isinstance(which.network, OpenVocabulary)
    return which.network.tokenizer


def look(pixels: Pixels, *names: str) -> tuple[Picture, list[Name]]:
    return load_picture(pixels, load()), [name_of(name) for name in names]


def assert_alike(one: Detections, other: Detections) -> None:
    assert one.known == other.known
    assert [each.label for each in one.sightings] == [each.label for each in other.sightings]
    for mine, theirs in zip(one.sightings, other.sightings, strict=True):
        assert mine.confidence == pytest.approx(theirs.confidence, abs=1e-4)
        assert mine.box == pytest.approx(theirs.box, abs=1e-4)


@pytest.fixture
def passes() -> Iterator[Callable[[detector.HubDetector], list[int]]]:
    """How many pictures each pass of a network takes, from now on."""
    hooks = []

    def watch(which: detector.HubDetector) -> list[int]:
        sizes: list[int] = []
        hook = which.network.net.register_forward_pre_hook(
            lambda _, __, inputs: sizes.append(len(inputs["pixel_values"])), with_kwargs=True
        )
        hooks.append(hook)
        return sizes

    yield watch
    for hook in hooks:
        hook.remove()


@pytest.mark.parametrize("name", [*OPEN, *CLOSED])
def test_boxes_lie_in_the_picture_and_confidences_fall(folder: Folder, name: str) -> None:
    seen = hub(folder(name), duplicate_overlap=1).see(*look(noise(40, 60), "cat", "dog", "traffic light"))
    assert len(seen.sightings) > 1
    for each in seen.sightings:
        assert 0 <= each.box.left < each.box.right <= 1
        assert 0 <= each.box.top < each.box.bottom <= 1
        assert each.source == f"hf:{folder(name)}"
    confidences = [each.confidence for each in seen.sightings]
    assert confidences == sorted(confidences, reverse=True)
    assert 0 < confidences[-1] < confidences[0] <= 1


@pytest.mark.parametrize("name", OPEN)
def test_an_open_detector_knows_every_name(folder: Folder, name: str) -> None:
    seen = hub(folder(name)).see(*look(noise(40, 60), "zebra", "Thing7", "traffic light"))
    assert seen.known == {each: NameMatch((each,)) for each in ("zebra", "Thing7", "traffic light")}
    assert {each.label for each in seen.sightings} <= set(seen.known)
    assert all(each.word == each.label for each in seen.sightings)
    assert hub(folder(name)).see(*look(noise(40, 60))) == Detections((), {})


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_detector_answers_by_its_own_words(folder: Folder, name: str) -> None:
    which = hub(folder(name))
    seen = which.see(*look(noise(40, 60), "kitty", "zebra"))
    assert seen.known == {"kitty": NameMatch(("cat",))}
    assert {each.word for each in seen.sightings} <= {"person", "cat", "traffic light"}
    found = ModelDetections(
        np.array([[0, 0, 1, 1], [0, 0, 0.5, 2]], dtype=np.float32),
        np.array([0.4, 0.6], dtype=np.float32),
        ["cat", "person"],
        [None] * 2,
    )
    pairs = [(each.label, each.word) for each in which.sightings([found], seen.known)]
    assert pairs == [("person", "person"), ("kitty", "cat")]


@pytest.mark.parametrize("name", ["grounding-dino", "mm-grounding-dino"])
def test_more_names_than_a_text_holds_are_asked_in_turn(
    folder: Folder, name: str, passes: Callable[[detector.HubDetector], list[int]]
) -> None:
    which = hub(folder(name), duplicate_overlap=1)
    names = [f"thing{i}" for i in range(99)]
    sizes = passes(which)
    seen = which.see(*look(noise(40, 60), *names))
    assert sizes == [4]  # 64 tokens hold 31 names with their stops
    assert set(seen.known) == set(names)
    numbers = [int(each.label.removeprefix("thing")) for each in seen.sightings]
    assert {number // 31 for number in numbers} == {0, 1, 2, 3}
    last = which.see(*look(noise(40, 60), *names[93:]))
    assert_alike(Detections(tuple(each for each in seen.sightings if each.label in last.known), last.known), last)


def test_owl_is_asked_and_read_as_its_own_processor_does(folder: Folder) -> None:
    pixels = noise(40, 60)
    for name, maker in (("owlv2", transformers.Owlv2Processor), ("owlvit", transformers.OwlViTProcessor)):
        which = hub(folder(name), duplicate_overlap=1)
        processor = maker(which.processor, tokenizer(which))
        inputs = processor(images=Image.fromarray(pixels), text=[["a photo of a cat"]], return_tensors="pt")
        out = which.network.net(**inputs)
        theirs = processor.post_process_grounded_object_detection(out, threshold=0.0, target_sizes=[(40, 60)])[0]
        ours = which.see(*look(pixels, "cat")).sightings
        best = int(theirs["scores"].argmax())
        assert ours[0].confidence == pytest.approx(theirs["scores"][best].item(), abs=1e-5)
        box = (theirs["boxes"][best] / torch.tensor([60, 40, 60, 40])).clamp(0, 1)
        assert ours[0].box == pytest.approx(box.tolist(), abs=1e-5)


@pytest.mark.parametrize("name", ["grounding-dino", "mm-grounding-dino"])
def test_dino_is_asked_as_its_own_processor_does_and_a_word_scores_the_mean_of_its_tokens(
    folder: Folder, name: str
) -> None:
    pixels = noise(40, 60)
    which = hub(folder(name), duplicate_overlap=1)
    processor = transformers.GroundingDinoProcessor(which.processor, tokenizer(which))
    with torch.inference_mode():  # as ours: other kernels round otherwise
        out = which.network.net(**processor(images=pixels, text="cat. traffic light.", return_tensors="pt"))
    tokens = out.logits[0].sigmoid()
    scores = torch.stack([tokens[:, 1], tokens[:, 3:5].mean(1)], dim=1)
    ours = which.see(*look(pixels, "Cat", "traffic light")).sightings
    assert [each.confidence for each in ours] == pytest.approx(
        sorted(scores.max(1).values.tolist(), reverse=True)[: len(ours)], abs=1e-4
    )
    assert len(ours) == len(scores)


def test_rtdetr_is_read_as_its_own_processor_does(folder: Folder) -> None:
    pixels = noise(40, 60)
    which = hub(folder("rt-detr"))
    out = which.network.net(**which.processor(images=Image.fromarray(pixels), return_tensors="pt"))
    theirs = which.processor.post_process_object_detection(out, threshold=0.0, target_sizes=[(40, 60)])[0]
    best = max(i for i in range(10) if theirs["scores"][i] == theirs["scores"][theirs["labels"] > 0].max())
    mine = which.see(*look(pixels, "cat")).sightings[0]
    assert mine.word == tiny_detectors.COCO_LIKE[int(theirs["labels"][best])].lower()
    assert mine.confidence == pytest.approx(theirs["scores"][best].item(), abs=1e-5)
    box = (theirs["boxes"][best].detach() / torch.tensor([60, 40, 60, 40])).clamp(0, 1)
    assert mine.box == pytest.approx(box.tolist(), abs=1e-5)


def test_a_place_goes_to_the_likelier_of_two_rivals_and_to_all_names_of_one_thing(folder: Folder) -> None:
    which = hub(folder("owlv2"), duplicate_overlap=1)
    rivals = which.see(*look(noise(64, 64), "cat", "dog"))
    assert len(rivals.sightings) == len({each.box for each in rivals.sightings})
    friends = which.see(*look(noise(64, 64), "cat", "kitty"))
    assert len(friends.sightings) == 2 * len({each.box for each in friends.sightings})


def test_masks_are_what_things_fill_of_their_boxes(folder: Folder) -> None:
    seen = hub(folder("mask2former")).see(*look(noise(40, 60), "cat"))
    for each in seen.sightings:
        assert each.mask is not None
        assert each.mask.dtype == bool
        for edge in (each.mask[0], each.mask[-1], each.mask[:, 0], each.mask[:, -1]):
            assert edge.any()
        height, width = each.mask.shape
        assert width / height == pytest.approx(each.box.width * 96 / (each.box.height * 64), abs=1e-4)


def test_a_box_is_drawn_around_a_mask_and_what_is_not_sure_enough_is_left_out(folder: Folder) -> None:
    which = hub(folder("mask2former")).network
    assert isinstance(which, Segmenter)
    masks = torch.full((1, 3, 8, 8), -20.0)
    masks[0, 0, 2:4, 4:8] = masks[0, 2, :, :] = 20
    kinds = torch.log(torch.tensor([[[0.01, 0.01, 0.9, 0.01, 0.07], [0.0, 0.9, 0, 0, 0.1], [0.1, 0.1, 0.2, 0.1, 0.5]]]))
    out = transformers.utils.ModelOutput(class_queries_logits=kinds, masks_queries_logits=masks)
    (found,) = which.decode(out, [(8, 8)], 0.25)
    assert found.words == ["cat"]
    assert found.boxes.tolist() == [[0.5, 0.25, 1, 0.5]]
    assert found.scores == pytest.approx([0.9], abs=1e-3)
    assert found.masks[0] is not None
    assert found.masks[0].shape == (2, 4)
    assert found.masks[0].all()


def test_weak_sightings_are_none_and_duplicates_are_one(folder: Folder) -> None:
    picture = look(noise(64, 64), "cat")
    everything = hub(folder("owlv2"), duplicate_overlap=1).see(*picture).sightings
    middle = everything[len(everything) // 2].confidence
    strong = hub(folder("owlv2"), duplicate_overlap=1, min_confidence=middle - 1e-6, low_confidence=1).see(*picture)
    assert len(everything) // 2 < len(strong.sightings) < len(everything)
    merged = hub(folder("owlv2"), duplicate_overlap=0.05).see(*picture).sightings
    assert 0 < len(merged) < len(everything)
    assert all(a.box.iou(b.box) <= 0.051 for a in merged for b in merged if a is not b)


def test_threads_share_one_model(folder: Folder) -> None:
    which = hub(folder("omdet-turbo"))
    assert hub(folder("omdet-turbo"), duplicate_overlap=0.9).network is which.network
    looks = [look(noise(40 + i, 60), "cat", f"thing{i}") for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for together, alone in zip(
            pool.map(lambda each: which.see(*each), looks), [which.see(*each) for each in looks], strict=True
        ):
            assert_alike(together, alone)


def test_a_whole_verdict_says_which_weights_ran(folder: Folder) -> None:
    settings = load(detector=f"hf:{folder('owlv2')}", min_confidence=0)
    assert {each.label for each in see(noise(64, 64), ["cat", "dog"], settings=settings)} <= {"cat", "dog"}
    mosaic = noise(4, 4).repeat(16, axis=0).repeat(16, axis=1)  # fine noise would be an empty picture
    verdict = verify(mosaic, "a cat", settings=settings.model_copy(update={"matcher": ""}))
    assert verdict.evidence
    assert any(each.label == "cat" for each in verdict.evidence.sightings)
    digest = hashlib.sha256((folder("owlv2") / "model.safetensors").read_bytes()).hexdigest()
    assert verdict.provenance["weights"] == {"model.safetensors": digest}
    assert {"onprompt-hub", "torch", "transformers"} < verdict.provenance["versions"].keys()


def test_weights_in_parts_are_found(folder: Folder, tmp_path: Path) -> None:
    detector.load_model(str(folder("owlv2"))).network.net.save_pretrained(tmp_path, max_shard_size="20KB")
    found = weight_files(tmp_path)
    assert len(found) > 1
    assert all(Path(each).is_file() for each in found)


def test_neither_torchvision_nor_another_floating_type_is_used(folder: Folder) -> None:
    assert "torchvision" not in sys.modules
    for name in tiny_detectors.MODELS:
        net = hub(folder(name)).network.net
        assert {weight.dtype for weight in net.parameters()} == {torch.float32}
        assert not net.training


def test_half_precision_weights_are_run_in_full(folder: Folder, tmp_path: Path) -> None:
    copied(folder("yolos"), tmp_path)
    weights = {name: weight.half() for name, weight in load_file(tmp_path / "model.safetensors").items()}
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert {weight.dtype for weight in hub(tmp_path).network.net.parameters()} == {torch.float32}


def copied(source: Path, target: Path) -> None:
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())


def test_a_model_that_finds_nothing_is_refused(tmp_path: Path) -> None:
    config = transformers.ViTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    transformers.ViTForImageClassification(config).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"ViTForImageClassification.*(?s:.)*Grounding DINO.*"):
        hub(tmp_path)


def test_a_model_of_unknown_licence_is_not_used_where_only_permissive_ones_may_be(folder: Folder) -> None:
    with pytest.raises(UserError, match="permissive = true"):
        hub(folder("yolos"), permissive=True)


def test_weights_that_are_pickled_incomplete_or_broken_are_refused_not_made_up(folder: Folder, tmp_path: Path) -> None:
    copied(folder("yolos"), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["bbox_predictor.layers.0.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UntrustedFile, match=r"no bbox_predictor\.layers\.0\.weight"):
        hub(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(UntrustedFile, match=r"can't load hf:"):
        hub(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(UntrustedFile, match=r"no model\.safetensors .* pickles"):
        hub(tmp_path)


def test_a_model_that_needs_timm_says_so(folder: Folder, tmp_path: Path) -> None:
    copied(folder("yolos"), tmp_path)
    config = transformers.DetrConfig()
    config.architectures = ["DetrForObjectDetection"]
    config.save_pretrained(tmp_path)
    with pytest.raises(PluginError, match=r"does not install: .*timm"):
        hub(tmp_path)


def test_a_picture_too_thin_to_scale_is_refused(folder: Folder) -> None:
    with pytest.raises(ImageError, match="t process an image of 1200 × 2"):
        hub(folder("yolos")).see(*look(np.zeros((2, 1200, 3), dtype=np.uint8), "cat"))
    hub(folder("owlv2")).see(*look(np.zeros((2, 1200, 3), dtype=np.uint8), "cat"))


def test_without_a_network_the_command_says_what_to_do_and_prints_nothing_else(tmp_path: Path) -> None:
    Image.fromarray(noise(64, 64)).save(tmp_path / "noise.png")
    result = subprocess.run(
        [sys.executable, "-m", "onprompt", "verify", "noise.png", "a cat", "--detector", "hf:nobody/no-model"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
    )
    assert result.returncode == 3
    assert result.stdout == ""
    assert "nobody/no-model" in result.stderr
    assert "HF_HUB_OFFLINE" in result.stderr
    assert "Traceback" not in result.stderr


def test_loading_and_looking_print_nothing(folder: Folder) -> None:
    model = f"hf:{folder('owlv2')}"
    code = (
        "import sys, numpy, onprompt\n"
        "assert not {'torch', 'transformers', 'huggingface_hub'} & set(sys.modules)\n"
        f"settings = onprompt.Settings(detector={model!r})\n"
        "onprompt.see(numpy.zeros((9, 9, 3), 'uint8'), ['cat'], settings=settings)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
