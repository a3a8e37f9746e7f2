"""How open detectors are asked by words, each family as it was trained, and how their scores are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

Asked = Sequence[Sequence[str]]  # for each picture of a batch its words
Inputs = Mapping[str, Any]


class Answer(NamedTuple):
    """Scores (picture, place, word) of 0..1, and boxes (picture, place, centre and size) in shares of the input."""

    scores: Any
    boxes: Any


class Family(NamedTuple):
    """What sets a family apart."""

    ask: Callable[[Any, Any, Inputs, Asked], Answer]
    square: bool = False  # whether pictures are padded to a square, at the right and below
    joined: bool = False  # whether words are put as one text, which has a limit


def owl(net: Any, tokenizer: Any, inputs: Inputs, asked: Asked) -> Answer:
    """OWL-ViT and OWLv2: each word is a text of its own."""
    texts = [f"a photo of a {word}" for words in filled(asked) for word in words]
    out = net(**tokens(net, tokenizer, texts), **inputs)
    return Answer(out.logits.sigmoid(), out.pred_boxes)


def omdet(net: Any, tokenizer: Any, inputs: Inputs, asked: Asked) -> Answer:
    """OmDet-Turbo: each word is a text of its own, and a task names them all."""
    classes = tokens(net, tokenizer, [word for words in filled(asked) for word in words])
    tasks = tokens(net, tokenizer, [f"Detect {', '.join(words)}." for words in asked])
    counts = torch.tensor([len(words) for words in filled(asked)], device=net.device)
    texts = {f"{kind}_{key}": each[key] for kind, each in (("classes", classes), ("tasks", tasks)) for key in each}
    out = net(**texts, classes_structure=counts, pixel_values=inputs["pixel_values"])
    return Answer(out.decoder_class_logits.sigmoid(), out.decoder_coord_logits)


def dino(net: Any, tokenizer: Any, inputs: Inputs, asked: Asked) -> Answer:
    """Grounding DINO and its kin: one text, "cat. traffic light."; a word scores the mean of its tokens.

    By the best token, a dog would pass for a hot dog.
    """
    stop, limit = tokenizer.convert_tokens_to_ids("."), net.config.max_text_len
    texts = []
    shares = torch.zeros(len(asked), max(map(len, asked)), limit)
    for picture, words in enumerate(asked):
        text = [tokenizer.cls_token_id]
        for index, piece in enumerate(pieces(tokenizer, words, limit)):
            shares[picture, index, len(text) : len(text) + len(piece)] = 1 / max(1, len(piece))
            text += [*piece, stop]
        texts.append({"input_ids": [*text, tokenizer.sep_token_id]})
    out = net(**tokenizer.pad(texts, return_tensors="pt").to(net.device), **inputs)
    return Answer(out.logits.sigmoid() @ shares.to(net.device).mT, out.pred_boxes)


def pieces(tokenizer: Any, words: Sequence[str], limit: int) -> list[list[int]]:
    """The tokens of each word. A full stop or question mark would end it; what is longer than a text is cut."""
    plain = [word.lower().replace(".", " ").replace("?", " ") for word in words]
    return [ids[: limit - 3] for ids in tokenizer(plain, add_special_tokens=False)["input_ids"]]


def parts(net: Any, tokenizer: Any, words: Sequence[str]) -> list[slice]:
    """Which words fit into one text: with a stop after each, and a token at both ends."""
    limit = net.config.max_text_len
    found, start, used = [], 0, 2
    for index, piece in enumerate(pieces(tokenizer, words, limit)):
        if used + len(piece) + 1 > limit:
            found.append(slice(start, index))
            start, used = index, 2
        used += len(piece) + 1
    return [*found, slice(start, len(words))]


def filled(asked: Asked) -> list[list[str]]:
    """Equally many words for each picture: the last one again. Empty texts would count among OmDet's best places."""
    most = max(map(len, asked))
    return [[*words, *[words[-1]] * (most - len(words))] for words in asked]


def tokens(net: Any, tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """Texts as numbers, all as long as the network takes them."""
    length = net.config.text_config.max_position_embeddings
    found = tokenizer(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    return {key: found[key].to(net.device) for key in ("input_ids", "attention_mask")}


FAMILIES = {
    "owlvit": Family(owl),
    "owlv2": Family(owl, square=True),
    "omdet-turbo": Family(omdet),
    "grounding-dino": Family(dino, joined=True),
    "mm-grounding-dino": Family(dino, joined=True),
}
