"""Prompting open-vocabulary detectors, each family as it was trained, and reading their scores."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

Words = Sequence[Sequence[str]]  # for each image of a batch its words
Inputs = Mapping[str, Any]


class Output(NamedTuple):
    """Scores (image, query, word) in 0..1, and boxes (image, query, centre and size) as fractions of the input."""

    scores: Any
    boxes: Any


class Family(NamedTuple):
    """How a family of models is run."""

    run: Callable[[Any, Any, Inputs, Words], Output]
    square: bool = False  # whether images are padded to a square, on the right and at the bottom
    joined: bool = False  # whether all words form one text, whose length is limited


def owl(net: Any, tokenizer: Any, inputs: Inputs, words: Words) -> Output:
    """OWL-ViT and OWLv2: each word is a text of its own."""
    texts = [f"a photo of a {word}" for row in pad_words(words) for word in row]
    out = net(**tokenize(net, tokenizer, texts), **inputs)
    return Output(out.logits.sigmoid(), out.pred_boxes)


def omdet(net: Any, tokenizer: Any, inputs: Inputs, words: Words) -> Output:
    """OmDet-Turbo: each word is a text of its own, and a task lists them all."""
    padded = pad_words(words)
    classes = tokenize(net, tokenizer, [word for row in padded for word in row])
    tasks = tokenize(net, tokenizer, [f"Detect {', '.join(row)}." for row in words])
    counts = torch.tensor([len(row) for row in padded], device=net.device)
    texts = {f"{kind}_{key}": ids[key] for kind, ids in (("classes", classes), ("tasks", tasks)) for key in ids}
    out = net(**texts, classes_structure=counts, pixel_values=inputs["pixel_values"])
    return Output(out.decoder_class_logits.sigmoid(), out.decoder_coord_logits)


def dino(net: Any, tokenizer: Any, inputs: Inputs, words: Words) -> Output:
    """Grounding DINO and its variants: one text, "cat. traffic light."; a word scores the mean of its tokens.

    By the best token, a dog would pass for a hot dog.
    """
    stop, limit = tokenizer.convert_tokens_to_ids("."), net.config.max_text_len
    texts = []
    weights = torch.zeros(len(words), max(map(len, words)), limit)
    for image, row in enumerate(words):
        text = [tokenizer.cls_token_id]
        for index, ids in enumerate(tokenize_words(tokenizer, row, limit)):
            weights[image, index, len(text) : len(text) + len(ids)] = 1 / max(1, len(ids))
            text += [*ids, stop]
        texts.append({"input_ids": [*text, tokenizer.sep_token_id]})
    out = net(**tokenizer.pad(texts, return_tensors="pt").to(net.device), **inputs)
    return Output(out.logits.sigmoid() @ weights.to(net.device).mT, out.pred_boxes)


def tokenize_words(tokenizer: Any, words: Sequence[str], limit: int) -> list[list[int]]:
    """The tokens of each word, truncated; full stops and question marks are removed, since they would end it."""
    plain = [word.lower().replace(".", " ").replace("?", " ") for word in words]
    return [ids[: limit - 3] for ids in tokenizer(plain, add_special_tokens=False)["input_ids"]]


def split_words(net: Any, tokenizer: Any, words: Sequence[str]) -> list[slice]:
    """Which words fit into one text, with a stop after each and a special token at both ends."""
    limit = net.config.max_text_len
    slices, start, used = [], 0, 2
    for index, ids in enumerate(tokenize_words(tokenizer, words, limit)):
        if used + len(ids) + 1 > limit:
            slices.append(slice(start, index))
            start, used = index, 2
        used += len(ids) + 1
    return [*slices, slice(start, len(words))]


def pad_words(words: Words) -> list[list[str]]:
    """The last word repeated until each image has equally many; empty texts would be among OmDet's best queries."""
    longest = max(map(len, words))
    return [[*row, *[row[-1]] * (longest - len(row))] for row in words]


def tokenize(net: Any, tokenizer: Any, texts: list[str]) -> dict[str, Any]:
    """Token ids of texts, padded to the network's text length."""
    length = net.config.text_config.max_position_embeddings
    encoded = tokenizer(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    return {key: encoded[key].to(net.device) for key in ("input_ids", "attention_mask")}


FAMILIES = {
    "owlvit": Family(owl),
    "owlv2": Family(owl, square=True),
    "omdet-turbo": Family(omdet),
    "grounding-dino": Family(dino, joined=True),
    "mm-grounding-dino": Family(dino, joined=True),
}
