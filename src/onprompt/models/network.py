"""A vision-language network in memory: batches of token ids and images in, tokens with their probabilities out."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import transformers

Inputs = Mapping[str, torch.Tensor]
TOP_TOKENS = 20  # the most probable tokens, kept for each step
MIN_PREFIX = 64  # tokens; a shorter common prefix is not worth caching
PREFIX_CACHED = ("qwen2_5_vl", "idefics3")  # tested to give the same answers with a cached prefix
WINDOWED = ("qwen2_5_vl",)  # transformers would launch one attention kernel per window of an image
WINDOW_ATTENTION = "onprompt_flash_by_window"  # `flash` in the name makes transformers pass the window bounds


class Batch(NamedTuple):
    """Several questions as the network takes them, and the length of their common prefix."""

    inputs: dict[str, torch.Tensor]
    prefix: int


class Generated(NamedTuple):
    """One answer: its tokens, the question's length, and for each step the most probable tokens."""

    tokens: list[int]
    question_length: int
    steps: list[dict[int, float]]


class Network:
    """A network of transformers that takes texts and images."""

    def __init__(self, net: Any, pad: int, end_tokens: Sequence[int]) -> None:
        self.net, self.pad, self.end_tokens = net, pad, tuple(end_tokens)
        self.device, self.dtype = net.device, net.dtype
        self.image_token: int | None = getattr(net.config, "image_token_id", None)
        self.caches_prefix = net.config.model_type in PREFIX_CACHED
        self.prefix: list[int] = []  # of the last batches
        self.prefix_cache: tuple[list[int], Any] = ([], None)  # the last prefix computed, with its keys and values
        self.lock = threading.Lock()  # some networks keep state between the steps of a batch
        net.generation_config = transformers.GenerationConfig()  # a model's own may sample or penalize repetition
        for module in net.modules():
            pad_gated_layer(module)
        if net.config.model_type in WINDOWED:
            transformers.AttentionInterface.register(WINDOW_ATTENTION, window_attention)
            net.set_attn_implementation({"vision_config": WINDOW_ATTENTION})

    def batch(self, rows: Sequence[Inputs]) -> Batch:
        """Questions collated on the device."""
        prefix = self.common_prefix([row["input_ids"][0].tolist() for row in rows])
        inputs = {key: self.collate(key, rows, prefix) for key in rows[0]}
        if self.device.type == "cuda":
            inputs = {key: value.pin_memory() for key, value in inputs.items()}
        return Batch({key: value.to(self.device, non_blocking=True) for key, value in inputs.items()}, prefix)

    def collate(self, key: str, rows: Sequence[Inputs], prefix: int) -> torch.Tensor:
        """One input of all questions; token-wise inputs are padded after the common prefix."""
        if rows[0][key].shape != rows[0]["input_ids"].shape:
            return torch.cat([row[key] for row in rows])
        width = max(row[key].shape[1] for row in rows)
        padded = torch.full((len(rows), width), self.pad if key == "input_ids" else 0, dtype=rows[0][key].dtype)
        for line, row in zip(padded, rows, strict=True):
            line[:prefix] = row[key][0, :prefix]
            line[width - row[key].shape[1] + prefix :] = row[key][0, prefix:]
        return padded

    def common_prefix(self, rows: Sequence[list[int]]) -> int:
        """How many tokens before the first image all questions share, if caching them is worth while."""
        if not self.caches_prefix or self.image_token is None:
            return 0
        first, last = min(rows), max(rows)  # what these two share, all share
        pairs = enumerate(zip(first, last, strict=False))
        common = next((index for index, (a, b) in pairs if a != b or a == self.image_token), 0)
        known = len(self.prefix)
        continues = known and known <= common and first[:known] == self.prefix
        if continues and (len(rows) == 1 or common < known + MIN_PREFIX):
            return known  # a few more may be the same by chance
        if len(rows) == 1 or common < MIN_PREFIX:
            return 0
        self.prefix = first[:common]
        return common

    def generate(
        self, batch: Batch, longest: int, temperature: float = 0.0, top: int = 0, also: Sequence[int] = ()
    ) -> list[Generated]:
        """Answers up to their end token, with the probabilities of the `top` tokens and of `also` at each step."""
        recorder = ProbabilityRecorder(top, torch.tensor(also, dtype=torch.long, device=self.device))
        sampling = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
        config = transformers.GenerationConfig(
            max_new_tokens=longest, eos_token_id=list(self.end_tokens) or None, pad_token_id=self.pad, **sampling
        )
        with self.lock, torch.inference_mode():
            cached = self.cached_prefix(batch) if batch.prefix else {}
            output = self.net.generate(
                **batch.inputs, **cached, generation_config=config, logits_processor=[recorder] if top else []
            )
        rows = output[:, batch.inputs["input_ids"].shape[1] :].tolist()
        lengths = batch.inputs["attention_mask"].sum(1).tolist()
        steps = recorder.by_question(len(rows))
        return [Generated(self.up_to_end(row), *rest) for row, *rest in zip(rows, lengths, steps, strict=True)]

    def up_to_end(self, tokens: list[int]) -> list[int]:
        """The tokens up to and including the end token."""
        return tokens[: next((i + 1 for i, token in enumerate(tokens) if token in self.end_tokens), len(tokens))]

    def cached_prefix(self, batch: Batch) -> dict[str, Any]:
        """The prefix's keys and values for each question, and the positions of all tokens.

        Given a cache, `generate` would count positions from its end, as if no image came after it.
        """
        inputs = dict(batch.inputs)
        tokens = inputs.pop("input_ids")
        prefix = tokens[:1, : batch.prefix]
        ids = prefix[0].tolist()
        if self.prefix_cache[0] != ids:
            self.prefix_cache = ([], None)  # frees its memory first
            output = self.net(input_ids=prefix, use_cache=True, logits_to_keep=1)
            self.prefix_cache = (ids, output.past_key_values)
        copies = transformers.DynamicCache(config=self.net.config.get_text_config())
        for index, layer in enumerate(self.prefix_cache[1].layers):
            copies.update(*(states.expand(len(tokens), -1, -1, -1) for states in (layer.keys, layer.values)), index)
        positions = self.net._prepare_position_ids_for_generation(tokens, inputs)
        return {"past_key_values": copies, "position_ids": positions}


class ProbabilityRecorder(transformers.LogitsProcessor):  # type: ignore[misc]
    """Keeps the probabilities of the top tokens of each step: those of all tokens would fill the memory."""

    def __init__(self, top: int, also: torch.Tensor) -> None:
        self.top, self.also = top, also
        self.tokens: list[torch.Tensor] = []
        self.probabilities: list[torch.Tensor] = []

    def __call__(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        probabilities = scores.float().softmax(-1)
        tokens = probabilities.topk(min(self.top, probabilities.shape[1])).indices
        tokens = torch.cat([tokens, self.also.expand(len(tokens), -1)], 1)
        self.tokens.append(tokens)
        self.probabilities.append(probabilities.gather(1, tokens))
        return scores

    def by_question(self, count: int) -> list[list[dict[int, float]]]:
        """For each question and step the probabilities by token."""
        if not self.tokens:
            return [[] for _ in range(count)]
        tokens, probabilities = (torch.stack(steps, 1).tolist() for steps in (self.tokens, self.probabilities))
        return [
            [dict(zip(*step, strict=True)) for step in zip(*question, strict=True)]
            for question in zip(tokens, probabilities, strict=True)
        ]


def pad_gated_layer(module: Any) -> None:
    """Pad the width of a gated layer with zeros, which change nothing, to a multiple of 8: GPUs are slow at others."""
    layers: list[Any] = [getattr(module, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    if not all(isinstance(layer, torch.nn.Linear) for layer in layers):
        return
    gate, up, down = layers
    if more := -gate.out_features % 8:
        for layer in (gate, up):
            layer.weight, layer.out_features = zero_padded(layer.weight, (0, 0, 0, more)), layer.out_features + more
            layer.bias = zero_padded(layer.bias, (0, more))
        down.weight, down.in_features = zero_padded(down.weight, (0, more)), down.in_features + more


def zero_padded(weight: torch.Tensor | None, widths: tuple[int, ...]) -> Any:
    """A weight with zeros after its end."""
    if weight is None:
        return None
    return torch.nn.Parameter(torch.nn.functional.pad(weight.data, widths), requires_grad=False)


def window_attention(
    module: Any,  # noqa: ARG001
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001
    scaling: float | None = None,
    *,
    cu_seq_lens_q: torch.Tensor,
    **options: Any,  # noqa: ARG001
) -> tuple[torch.Tensor, None]:
    """Attention within windows, in one call for all windows of one length."""
    output = torch.empty_like(query.transpose(1, 2))
    for length, indices in windows_by_length(cu_seq_lens_q):
        parts = [states[0][:, indices].unflatten(1, (-1, length)).transpose(0, 1) for states in (query, key, value)]
        attended = torch.nn.functional.scaled_dot_product_attention(*parts, scale=scaling)
        output[0, indices] = attended.transpose(1, 2).flatten(0, 1)
    return output, None


@lru_cache(maxsize=8)  # the same in all layers, and reading from the GPU would wait for it
def windows_by_length(bounds: torch.Tensor) -> list[tuple[int, torch.Tensor | slice]]:
    """The lengths of windows, each with the indices of all tokens in windows of that length."""
    starts: dict[int, list[int]] = {}
    for start, end in pairwise(bounds.tolist()):
        starts.setdefault(end - start, []).append(start)
    if len(starts) == 1:
        return [(length, slice(None)) for length in starts]
    offsets = {length: torch.arange(length, device=bounds.device) for length in starts}
    return [
        (length, (torch.tensor(firsts, device=bounds.device)[:, None] + offsets[length]).flatten())
        for length, firsts in starts.items()
    ]
