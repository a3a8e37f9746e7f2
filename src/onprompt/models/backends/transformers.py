"""A vision-language model in this process, through transformers: from the hub, or from a folder.

Questions are answered in batches of `batch`, and the threads that ask prepare the next ones meanwhile: `concurrency`
should be at least twice `batch`.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from PIL import Image
from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING

from onprompt.errors import OnpromptError, Rejected, ServerTrouble
from onprompt.models.batching import Batcher
from onprompt.models.network import TOP_TOKENS, Batch, Generated, Inputs, Network
from onprompt.models.reading import choice_probabilities, is_wanted, number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Part, Question, Spot, Usage
from onprompt.vision.hub.loading import choose_device, load_weights, silence
from onprompt.weights.hub import fingerprint, first_line, loading_errors, model_folder, weight_files


class Loaded(NamedTuple):
    """A model in memory, and the fingerprint of its weights."""

    network: Network
    processor: Any
    weights: str


class Prepared(NamedTuple):
    """A question, tokenized."""

    question: Question
    inputs: Inputs


class Staged(NamedTuple):
    """Questions of one group, collated."""

    questions: list[Question]
    batch: Batch


def load(model: str, settings: Settings) -> Transformers:
    """The backend for a model; its weights are loaded once per process."""
    return Transformers(model, load_model(model, choose_device(settings)), settings.batch)


class Transformers:
    """The backend, and the steps of its batches."""

    too_large = (torch.OutOfMemoryError, MemoryError)

    def __init__(self, model: str, loaded: Loaded, batch: int) -> None:
        self.network, self.processor, self.weights = loaded
        self.model = folder.name if (folder := Path(model).expanduser()).is_dir() else model
        self.batcher: Batcher[Question, Prepared, Staged, Generated] = Batcher(self, batch)

    @property
    def identity(self) -> Mapping[str, str]:
        precision = str(self.network.dtype).removeprefix("torch.")
        return {"backend": "transformers", "model": self.model, "weights": self.weights, "precision": precision}

    @property
    def slots(self) -> int:
        """How many questions should be in flight: a batch, and the next one being prepared."""
        return 2 * self.batcher.largest

    def close(self) -> None:
        """End the threads."""
        self.batcher.close()

    def ask(self, question: Question) -> Answer:
        """The answer, computed in a batch with other threads' questions."""
        start = time.monotonic()
        try:
            answer = self.read(self.batcher.ask(question), question)
        except OnpromptError:
            raise
        except self.too_large:
            raise Rejected(f"the question is too large for the memory that {self.model} leaves free") from None
        except Exception as error:  # third-party networks and processors raise anything
            raise ServerTrouble("broken", f"{self.model} failed: {first_line(error)}") from error
        return replace(answer, usage=replace(answer.usage, seconds=round(time.monotonic() - start, 3)))

    def prepare(self, question: Question) -> Prepared:
        """The question in the model's chat template, tokenized, with its images as patches."""
        chat = [
            {"role": message.role, "content": [content(part) for part in message.joined]}
            for message in question.messages
        ]
        inputs = self.processor.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        tensors = {key: value for key, value in inputs.items() if isinstance(value, torch.Tensor)}
        dtype = self.network.dtype
        return Prepared(
            question,
            {key: value.to(dtype) if value.is_floating_point() else value for key, value in tensors.items()},
        )

    def group(self, prepared: Prepared) -> tuple[Hashable, int]:
        """Questions share a batch if they have the same options and their images can be stacked."""
        question, length = prepared.question, prepared.inputs["input_ids"].shape[1]
        inputs = sorted(prepared.inputs.items())
        shapes = ((key, value.shape[1:]) for key, value in inputs if value.shape != (1, length))
        sampling = (question.longest, question.temperature, question.chances)
        return ((question.choices,) if question.choices else sampling, *shapes), length

    def stage(self, batch: Sequence[Prepared]) -> Staged:
        """The questions on the device."""
        return Staged([item.question for item in batch], self.network.batch([item.inputs for item in batch]))

    def answer(self, staged: Staged) -> list[Generated]:
        """All answers; for a choice only the first token."""
        question = staged.questions[0]
        if question.choices:
            return self.network.generate(staged.batch, 1, top=TOP_TOKENS, also=self.choice_tokens(question.choices))
        top = TOP_TOKENS if question.chances else 0
        return self.network.generate(staged.batch, question.longest, question.temperature, top)

    def read(self, generated: Generated, question: Question) -> Answer:
        """The answer in words."""
        tokens, length, steps = generated
        if question.choices:
            answer = self.choice(question.choices, steps[0])
        else:
            answer = self.text_answer(tokens, steps, question.words)
        return replace(answer, model=self.model, usage=Usage(length, len(tokens)))

    def text_answer(self, tokens: Sequence[int], steps: Sequence[Mapping[int, float]], words: Sequence[str]) -> Answer:
        """An answer in words, with the probabilities of its digits, or of the words that are wanted."""
        stop = "end" if tokens[-1:] and tokens[-1] in self.network.end_tokens else "length"
        text = self.decode(tokens)
        pieces = self.pieces(tokens, steps, words) if steps else []
        return Answer(text, stop, spots=number_spots(text, pieces, words=words))

    def pieces(
        self, tokens: Sequence[int], steps: Sequence[Mapping[int, float]], words: Sequence[str] = ()
    ) -> list[tuple[str, dict[str, float]]]:
        """The text of each token with its alternatives; tokens that are parts of one character are joined."""
        pieces: list[tuple[str, dict[str, float]]] = []
        before: list[int] = []
        partial: list[int] = []
        for token, step in zip(tokens, steps, strict=False):
            partial.append(token)
            text = self.continuation(before, partial)
            if "\ufffd" in text and len(partial) < 4:
                continue
            pieces.append((text, self.by_text(before, step) if is_wanted(text, words) else {}))
            before, partial = partial, []
        return pieces

    def choice(self, choices: Sequence[str], step: Mapping[int, float]) -> Answer:
        """The most probable choice for the first token, with that token's alternatives."""
        spot = Spot(0, 0, {text: round(p, 6) for text, p in self.by_text([], step).items()})
        probabilities = choice_probabilities([spot], choices, minimum=0.0) or spot.chances
        text = max(probabilities, key=lambda word: probabilities[word])
        return Answer(text, spots=(spot._replace(end=len(text)),))

    def by_text(self, before: Sequence[int], step: Mapping[int, float]) -> dict[str, float]:
        """Probabilities by text; several tokens may have the same."""
        probabilities: dict[str, float] = {}
        for token, probability in step.items():
            text = self.continuation(before, [token])
            probabilities[text] = probabilities.get(text, 0.0) + probability
        return probabilities

    def continuation(self, before: Sequence[int], tokens: Sequence[int]) -> str:
        """The text of tokens after others: some tokenizers drop the space at the start of a text."""
        return self.decode([*before, *tokens])[len(self.decode(before)) :] if before else self.decode(tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        decode = self.processor.tokenizer.decode
        return str(decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def choice_tokens(self, choices: Sequence[str]) -> list[int]:
        """The single tokens that spell a choice in any case, with or without a space before it."""
        words = [form for word in choices for form in (word, word.capitalize(), word.upper())]
        encode = self.processor.tokenizer.encode
        encoded = [encode(space + word, add_special_tokens=False) for word in words for space in ("", " ")]
        return sorted({tokens[0] for tokens in encoded if len(tokens) == 1})


def content(part: Part) -> dict[str, Any]:
    """A text or an image as chat templates take it."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    image = Image.fromarray(part.picture.pixels)
    image.thumbnail((part.side, part.side), Image.Resampling.LANCZOS)  # the size at which it would be sent
    return {"type": "image", "image": image}


@cache
def load_model(model: str, device: str) -> Loaded:
    """A model, loaded once per process: in bfloat16, or in float32 on a CPU."""
    silence()
    folder = model_folder(model)
    files = weight_files(folder)
    with loading_errors(model):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING or type(config) not in PROCESSOR_MAPPING:
            raise Rejected(f"{model} does not answer questions with images: its type is {config.model_type}")
        processor = load_processor(model, folder, config)
        dtype = torch.float32 if device == "cpu" else torch.bfloat16
        net = load_weights(transformers.AutoModelForImageTextToText, folder, config, dtype).eval().to(device)
        ends = net.generation_config.eos_token_id
        ends = [processor.tokenizer.eos_token_id] if ends is None else ends if isinstance(ends, list) else [ends]
        pad = processor.tokenizer.pad_token_id
        network = Network(net, ends[0] if pad is None else pad, ends)
    return Loaded(network, processor, fingerprint(folder, files))


def load_processor(model: str, folder: Path, config: Any) -> Any:
    """The model's processor, with images through Pillow: the same pixels everywhere."""
    processor_class = without_video(PROCESSOR_MAPPING[type(config)])
    processor = processor_class.from_pretrained(folder, backend="pil", trust_remote_code=False)
    if not processor.chat_template:
        processor.chat_template = getattr(processor.tokenizer, "chat_template", None)
    if not processor.chat_template:
        raise Rejected(f"{model} has no chat template: use an instruction-tuned model")
    return processor


def without_video(processor_class: Any) -> Any:
    """A processor class without its video part, which would need torchvision."""
    kept = [name for name in processor_class.get_attributes() if name != "video_processor"]
    return type(processor_class.__name__, (processor_class,), {"get_attributes": classmethod(lambda _: list(kept))})
