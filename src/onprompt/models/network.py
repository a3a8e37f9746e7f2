"""A vision-language network in memory: batches of token numbers and pictures in, tokens with their chances out."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import transformers

Inputs = Mapping[str, torch.Tensor]
ALTERNATIVES = 20  # the most probable tokens that are kept of each step
SHARED = 64  # tokens from which on a beginning that questions have in common is worth keeping
# Where it was tested that a kept beginning gives the same answers.
SHARING = ("qwen2_5_vl", "idefics3")
# Those whose pictures are looked at window by window: transformers would call a kernel for each.
WINDOWED = ("qwen2_5_vl",)
BY_WINDOW = "onprompt_flash_by_window"  # with `flash` in its name it is told where windows begin


class Batch(NamedTuple):
    """Several questions as the network takes them, and how many tokens they begin with in common."""

    inputs: dict[str, torch.Tensor]
    shared: int


class Told(NamedTuple):
    """One answer: its tokens, its question's length, and for each step the chances of the likeliest tokens."""

    tokens: list[int]
    asked: int
    steps: list[dict[int, float]]


class Network:
    """A model of transformers that takes texts and pictures."""

    def __init__(self, net: Any, pad: int, ends: Sequence[int]) -> None:
        self.net, self.pad, self.ends = net, pad, tuple(ends)
        self.device, self.dtype = net.device, net.dtype
        self.image: int | None = getattr(net.config, "image_token_id", None)
        self.sharing = net.config.model_type in SHARING
        self.beginning: list[int] = []  # of the last batches
        self.kept: tuple[list[int], Any] = ([], None)  # the beginning that was computed last, and what came of it
        self.alone = threading.Lock()  # some networks keep places of one batch for the next step
        net.generation_config = transformers.GenerationConfig()  # a model's own may punish repetition, or sample
        for part in net.modules():
            even(part)
        if net.config.model_type in WINDOWED:
            transformers.AttentionInterface.register(BY_WINDOW, by_window)
            net.set_attn_implementation({"vision_config": BY_WINDOW})

    def batch(self, rows: Sequence[Inputs]) -> Batch:
        """Questions put together on the device."""
        shared = self.shared([row["input_ids"][0].tolist() for row in rows])
        inputs = {key: self.column(key, rows, shared) for key in rows[0]}
        if self.device.type == "cuda":
            inputs = {key: value.pin_memory() for key, value in inputs.items()}
        return Batch({key: value.to(self.device, non_blocking=True) for key, value in inputs.items()}, shared)

    def column(self, key: str, rows: Sequence[Inputs], shared: int) -> torch.Tensor:
        """One input of all questions; what goes by tokens is padded where they cease to be the same."""
        if rows[0][key].shape != rows[0]["input_ids"].shape:
            return torch.cat([row[key] for row in rows])
        width = max(row[key].shape[1] for row in rows)
        filled = torch.full((len(rows), width), self.pad if key == "input_ids" else 0, dtype=rows[0][key].dtype)
        for line, row in zip(filled, rows, strict=True):
            line[:shared] = row[key][0, :shared]
            line[width - row[key].shape[1] + shared :] = row[key][0, shared:]
        return filled

    def shared(self, rows: Sequence[list[int]]) -> int:
        """How many tokens before the first picture are the same in all, where that is worth while."""
        if not self.sharing or self.image is None:
            return 0
        first, last = min(rows), max(rows)  # what these two share, all do
        same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b or a == self.image), 0)
        known = len(self.beginning)
        begins = known and known <= same and first[:known] == self.beginning
        if begins and (len(rows) == 1 or same < known + SHARED):
            return known  # a few more may be the same by chance
        if len(rows) == 1 or same < SHARED:
            return 0
        self.beginning = first[:same]
        return same

    def tell(
        self, batch: Batch, longest: int, temperature: float = 0.0, top: int = 0, also: Sequence[int] = ()
    ) -> list[Told]:
        """The network's answers, each up to its end, with the chances of `top` tokens and of some more at each step."""
        record = Record(top, torch.tensor(also, dtype=torch.long, device=self.device))
        choice = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}
        config = transformers.GenerationConfig(
            max_new_tokens=longest, eos_token_id=list(self.ends) or None, pad_token_id=self.pad, **choice
        )
        with self.alone, torch.inference_mode():
            more = self.begun(batch) if batch.shared else {}
            found = self.net.generate(
                **batch.inputs, **more, generation_config=config, logits_processor=[record] if top else []
            )
        tokens = found[:, batch.inputs["input_ids"].shape[1] :].tolist()
        lengths = batch.inputs["attention_mask"].sum(1).tolist()
        steps = record.all(len(tokens))
        return [Told(self.ended(row), *rest) for row, *rest in zip(tokens, lengths, steps, strict=True)]

    def ended(self, tokens: list[int]) -> list[int]:
        """An answer up to its end, which is part of it."""
        return tokens[: next((at + 1 for at, token in enumerate(tokens) if token in self.ends), len(tokens))]

    def begun(self, batch: Batch) -> dict[str, Any]:
        """What the network made of the common beginning, for each question; and the places of all tokens.

        With a beginning given, `generate` would count places from its end, as if no picture came after it.
        """
        inputs = dict(batch.inputs)
        tokens = inputs.pop("input_ids")
        one = tokens[:1, : batch.shared]
        if self.kept[0] != one[0].tolist():
            self.kept = ([], None)
            self.kept = (one[0].tolist(), self.net(input_ids=one, use_cache=True, logits_to_keep=1).past_key_values)
        copies = transformers.DynamicCache(config=self.net.config.get_text_config())
        for number, layer in enumerate(self.kept[1].layers):
            copies.update(*(each.expand(len(tokens), -1, -1, -1) for each in (layer.keys, layer.values)), number)
        places = self.net._prepare_position_ids_for_generation(tokens, inputs)
        return {"past_key_values": copies, "position_ids": places}


class Record(transformers.LogitsProcessor):  # type: ignore[misc]
    """Keeps the chances of the likeliest tokens of each step: those of all would fill the memory."""

    def __init__(self, top: int, also: torch.Tensor) -> None:
        self.top, self.also = top, also
        self.names: list[torch.Tensor] = []
        self.chances: list[torch.Tensor] = []

    def __call__(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        chances = scores.float().softmax(-1)
        names = chances.topk(min(self.top, chances.shape[1])).indices
        names = torch.cat([names, self.also.expand(len(names), -1)], 1)
        self.names.append(names)
        self.chances.append(chances.gather(1, names))
        return scores

    def all(self, count: int) -> list[list[dict[int, float]]]:
        """For each question the chances by token, step for step."""
        if not self.names:
            return [[] for _ in range(count)]
        names, chances = (torch.stack(each, 1).tolist() for each in (self.names, self.chances))
        return [
            [dict(zip(*step, strict=True)) for step in zip(*question, strict=True)]
            for question in zip(names, chances, strict=True)
        ]


def even(part: Any) -> None:
    """Widen the middle of a gated layer by zeros, which change nothing, to a multiple of 8: GPUs are slow at others."""
    linear: list[Any] = [getattr(part, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    if not all(isinstance(each, torch.nn.Linear) for each in linear):
        return
    gate, up, down = linear
    more = -gate.out_features % 8
    if more:
        for each in (gate, up):
            each.weight, each.out_features = widened(each.weight, (0, 0, 0, more)), each.out_features + more
            each.bias = widened(each.bias, (0, more))
        down.weight, down.in_features = widened(down.weight, (0, more)), down.in_features + more


def widened(weight: torch.Tensor | None, by: tuple[int, ...]) -> Any:
    """A weight with zeros beyond its end."""
    if weight is None:
        return None
    return torch.nn.Parameter(torch.nn.functional.pad(weight.data, by), requires_grad=False)


def by_window(
    module: Any,  # noqa: ARG001
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001
    scaling: float | None = None,
    *,
    cu_seq_lens_q: torch.Tensor,
    **more: Any,  # noqa: ARG001
) -> tuple[torch.Tensor, None]:
    """Attention within windows: one call for all windows of one length."""
    found = torch.empty_like(query.transpose(1, 2))
    for length, places in windows(cu_seq_lens_q):
        parts = [each[0][:, places].unflatten(1, (-1, length)).transpose(0, 1) for each in (query, key, value)]
        seen = torch.nn.functional.scaled_dot_product_attention(*parts, scale=scaling)
        found[0, places] = seen.transpose(1, 2).flatten(0, 1)
    return found, None


@lru_cache(maxsize=8)  # the same in all layers, and to ask the GPU means to wait for it
def windows(bounds: torch.Tensor) -> list[tuple[int, torch.Tensor | slice]]:
    """The lengths that windows have, with the places of all tokens in windows of that length."""
    starts: dict[int, list[int]] = {}
    edges = bounds.tolist()
    for start, end in pairwise(edges):
        starts.setdefault(end - start, []).append(start)
    if len(starts) == 1:
        return [(length, slice(None)) for length in starts]
    steps = {length: torch.arange(length, device=bounds.device) for length in starts}
    return [
        (length, (torch.tensor(those, device=bounds.device)[:, None] + steps[length]).flatten())
        for length, those in starts.items()
    ]
