"""Small real models of each family, with weights by chance, saved as the hub keeps them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers as hf

SIDE = 64
WORDS = (
    *("cat", "dog", "traffic", "light", "hot", "zebra", "a", "photo", "of", "detect"),
    *(f"thing{i}" for i in range(99)),
)
COCO_LIKE = {0: "N/A", 1: "person", 2: "Cat", 3: "traffic light"}
SWIN: dict[str, Any] = {
    **{"image_size": SIDE, "embed_dim": 8, "depths": [1, 1, 1, 1], "num_heads": [1, 1, 2, 2], "window_size": 2},
}


def clip_words(folder: Path) -> int:
    """A tokenizer with a token for each word; its size. The end must be the largest number, as in CLIP's own."""
    letters = [chr(code) for code in range(33, 127)]
    pairs = [" ".join(merge) for word in WORDS for merge in merges(word)]
    whole = dict.fromkeys(["!", *letters, *(f"{letter}</w>" for letter in letters)])
    vocabulary = list(dict.fromkeys([*whole, *(pair.replace(" ", "") for pair in pairs)]))
    vocabulary += ["<|startoftext|>", "<|endoftext|>"]
    numbers = {word: number for number, word in enumerate(vocabulary)}
    rules = [tuple(pair.split(" ")) for pair in dict.fromkeys(pairs)]
    hf.CLIPTokenizer(vocab=numbers, merges=rules, pad_token="!").save_pretrained(folder)
    return len(vocabulary)


def merges(word: str) -> list[tuple[str, str]]:
    """The steps that make a word of its letters."""
    letters = [*word[:-1], f"{word[-1]}</w>"]
    return [("".join(letters[:end]), letters[end]) for end in range(1, len(letters))]


def bert_words(folder: Path) -> int:
    """A tokenizer with the marks that Grounding DINO's code looks for at their numbers in BERT's; its size."""
    vocabulary = [f"[unused{number}]" for number in range(1100)]
    marks = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]", 1012: ".", 1029: "?"}
    for number, mark in marks.items():
        vocabulary[number] = mark
    vocabulary += WORDS
    hf.BertTokenizer(vocab={word: number for number, word in enumerate(vocabulary)}).save_pretrained(folder)
    return len(vocabulary)


def text_tower(size: int) -> dict[str, Any]:
    return {
        **{"vocab_size": size, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1},
        **{"num_attention_heads": 2, "eos_token_id": size - 1, "bos_token_id": size - 2},
    }


def owl(folder: Path, version: str) -> Any:
    text = {**text_tower(clip_words(folder)), "max_position_embeddings": 16}
    sight = {**text, "image_size": SIDE, "patch_size": 16}
    fixed = {"height": SIDE, "width": SIDE}
    made = {"text_config": text, "vision_config": sight, "projection_dim": 16}
    if version == "owlvit":
        hf.OwlViTImageProcessorPil(size=fixed).save_pretrained(folder)
        return hf.OwlViTForObjectDetection(hf.OwlViTConfig(**made))
    hf.Owlv2ImageProcessorPil(size=fixed).save_pretrained(folder)
    return hf.Owlv2ForObjectDetection(hf.Owlv2Config(**made))


def dino(folder: Path, version: str) -> Any:
    made = {
        "backbone_config": hf.SwinConfig(**SWIN, out_features=["stage2", "stage3", "stage4"]),
        "text_config": hf.BertConfig(**text_tower(bert_words(folder)), max_position_embeddings=64),
        **{"num_queries": 12, "d_model": 32, "max_text_len": 64, "encoder_layers": 1, "decoder_layers": 2},
        **{"encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2},
    }
    sizes = {"shortest_edge": 2 * SIDE, "longest_edge": 4 * SIDE}
    hf.GroundingDinoImageProcessorPil(size=sizes).save_pretrained(folder)
    if version == "grounding-dino":
        return hf.GroundingDinoForObjectDetection(hf.GroundingDinoConfig(**made))
    return hf.MMGroundingDinoForObjectDetection(hf.MMGroundingDinoConfig(**made))


def omdet(folder: Path) -> Any:
    text = {**text_tower(clip_words(folder)), "max_position_embeddings": 77, "projection_dim": 16}
    config = hf.OmDetTurboConfig(
        backbone_config=hf.SwinConfig(**SWIN, out_features=["stage2", "stage3", "stage4"]),
        text_config=hf.CLIPTextConfig(**text),
        apply_layernorm_after_vision_backbone=False,
        **{"image_size": SIDE, "text_projection_in_dim": 16, "text_projection_out_dim": 16, "class_embed_dim": 16},
        **{"task_encoder_hidden_dim": 32, "num_queries": 10, "encoder_in_channels": [16, 32, 64]},
        **{"encoder_hidden_dim": 32, "vision_features_channels": [32] * 3, "encoder_dim_feedforward": 16},
        **{"encoder_attention_heads": 2, "decoder_hidden_dim": 32, "decoder_num_heads": 2, "decoder_num_layers": 1},
        decoder_dim_feedforward=16,
    )
    hf.DetrImageProcessorPil(size={"height": SIDE, "width": SIDE}, do_pad=False).save_pretrained(folder)
    return hf.OmDetTurboForObjectDetection(config)


def rtdetr(folder: Path) -> Any:
    backbone = hf.RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 16, 32, 64],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = hf.RTDetrConfig(
        backbone_config=backbone,
        encoder_in_channels=[16, 32, 64],
        decoder_in_channels=[16, 16, 16],
        id2label=COCO_LIKE,
        **{"encoder_hidden_dim": 16, "d_model": 16, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "num_queries": 10},
        **{"encoder_attention_heads": 2, "decoder_attention_heads": 2, "decoder_layers": 1},
    )
    hf.RTDetrImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    return hf.RTDetrForObjectDetection(config)


def yolos(folder: Path) -> Any:
    config = hf.YolosConfig(
        id2label=COCO_LIKE,
        image_size=[SIDE, SIDE],
        **{"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16},
        num_detection_tokens=10,
    )
    hf.YolosImageProcessorPil(size={"shortest_edge": SIDE, "longest_edge": 2 * SIDE}).save_pretrained(folder)
    return hf.YolosForObjectDetection(config)


def mask2former(folder: Path) -> Any:
    config = hf.Mask2FormerConfig(
        backbone_config=hf.SwinConfig(**SWIN, out_features=["stage1", "stage2", "stage3", "stage4"]),
        id2label=COCO_LIKE,
        **{"feature_size": 32, "mask_feature_size": 32, "hidden_dim": 32, "encoder_feedforward_dim": 16},
        **{"encoder_layers": 1, "decoder_layers": 2, "num_attention_heads": 2, "dim_feedforward": 16},
        num_queries=10,
    )
    sizes = {"shortest_edge": SIDE, "longest_edge": 2 * SIDE}
    hf.Mask2FormerImageProcessorPil(size=sizes).save_pretrained(folder)
    return hf.Mask2FormerForUniversalSegmentation(config)


MODELS: dict[str, Callable[[Path], Any]] = {
    "owlvit": lambda folder: owl(folder, "owlvit"),
    "owlv2": lambda folder: owl(folder, "owlv2"),
    "grounding-dino": lambda folder: dino(folder, "grounding-dino"),
    "mm-grounding-dino": lambda folder: dino(folder, "mm-grounding-dino"),
    "omdet-turbo": omdet,
    "rt-detr": rtdetr,
    "yolos": yolos,
    "mask2former": mask2former,
}


def save(name: str, folder: Path) -> Path:
    """A model in a folder, the same each time, with weights large enough for answers that differ."""
    torch.manual_seed(0)
    net = MODELS[name](folder)
    with torch.no_grad():
        for weight in net.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.3)
    net.save_pretrained(folder)
    return folder
