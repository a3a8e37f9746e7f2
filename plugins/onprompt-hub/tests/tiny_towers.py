"""Small CLIP, SigLIP and SigLIP 2 models with weights by chance, saved as the hub keeps them."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers as hf

from tiny_detectors import SIDE, WORDS, clip_words

WINDOW = 16  # tokens of a text
LAYERS: dict[str, Any] = {
    **{"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
}
VISION: dict[str, Any] = {**LAYERS, "image_size": SIDE, "patch_size": 16}
SQUARE = {"height": SIDE, "width": SIDE}


def clip(folder: Path) -> Any:
    size = clip_words(folder)
    text = {**LAYERS, "vocab_size": size, "max_position_embeddings": WINDOW}
    text |= {"eos_token_id": size - 1, "bos_token_id": size - 2}
    hf.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=SQUARE).save_pretrained(folder)
    return hf.CLIPModel(hf.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=16))


def sentence_pieces(folder: Path) -> int:
    """The tokenizer of the first SigLIP; its size."""
    lines = folder / "lines.txt"
    lines.write_text("\n".join([*WORDS, *(" ".join(WORDS[i : i + 4]) for i in range(len(WORDS)))]))
    pieces = sentencepiece.SentencePieceTrainer
    pieces.train(input=str(lines), model_prefix=str(folder / "spiece"), vocab_size=60, minloglevel=2)
    hf.SiglipTokenizer(str(folder / "spiece.model")).save_pretrained(folder)
    lines.unlink()
    return 60


def letters(folder: Path) -> int:
    """The tokenizer of SigLIP 2, with a token for each letter; its size."""
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *string.ascii_lowercase, *string.digits]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    hf.Siglip2Tokenizer(vocab=vocabulary, padding_side="right").save_pretrained(folder)
    return len(pieces)


def siglip(folder: Path, tokens: Callable[[Path], int]) -> Any:
    text = {**LAYERS, "vocab_size": tokens(folder), "max_position_embeddings": WINDOW, "projection_size": 16}
    hf.SiglipImageProcessorPil(size=SQUARE).save_pretrained(folder)
    return hf.SiglipModel(hf.SiglipConfig(text_config=text, vision_config=VISION))


def naflex(folder: Path) -> Any:
    text = {**LAYERS, "vocab_size": letters(folder), "max_position_embeddings": WINDOW, "projection_size": 16}
    hf.Siglip2ImageProcessorPil(patch_size=16, max_num_patches=24).save_pretrained(folder)
    vision = {**LAYERS, "patch_size": 16, "num_patches": 16}
    return hf.Siglip2Model(hf.Siglip2Config(text_config=text, vision_config=vision))


MODELS: dict[str, Callable[[Path], Any]] = {
    "clip": clip,
    "siglip": lambda folder: siglip(folder, sentence_pieces),
    "siglip2": lambda folder: siglip(folder, letters),  # at a fixed resolution, it is a SigLIP with another tokenizer
    "siglip2-naflex": naflex,
}


def save(name: str, folder: Path) -> Path:
    """A model in a folder, the same each time, with weights large enough for answers that differ."""
    torch.manual_seed(0)
    net = MODELS[name](folder)
    with torch.no_grad():
        for weight in net.parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.3)
        if name != "clip":
            net.logit_scale.fill_(2.0)
            net.logit_bias.fill_(-1.5)
    net.save_pretrained(folder)
    return folder
