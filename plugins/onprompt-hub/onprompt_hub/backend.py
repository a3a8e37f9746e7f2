"""A vision-language model in this process, by transformers: from the hub, or from a folder.

It answers one question at a time. For many questions on a GPU, run a server such as vLLM and use the openai backend.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import torch
import transformers
from PIL import Image

from onprompt.errors import OnpromptError, Rejected, ServerTrouble
from onprompt.models.reading import choice_probabilities, is_wanted, number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Part, Question, TokenProbs, Usage
from onprompt_hub import loading

TOP_TOKENS = 20  # the most probable tokens, kept for each step
Step = dict[int, float]  # the probabilities of some tokens


class LoadedModel(NamedTuple):
    """A model in memory, a fingerprint of its weights, and a lock: some networks keep state while they generate."""

    net: Any
    processor: Any
    end_tokens: list[int]
    weights: str
    lock: Lock


class Transformers:
    """A loaded model behind the backend protocol."""

    slots = 2  # one question is answered while the next one is prepared

    def __init__(self, model: str, loaded: LoadedModel) -> None:
        self.net, self.processor, self.end_tokens, self.weights, self.lock = loaded
        self.tokenizer = self.processor.tokenizer
        self.model = folder.name if (folder := Path(model).expanduser()).is_dir() else model

    @property
    def identity(self) -> Mapping[str, str]:
        precision = str(self.net.dtype).removeprefix("torch.")
        return {"backend": "transformers", "model": self.model, "weights": self.weights, "precision": precision}

    def close(self) -> None:
        """Nothing to close: the model stays in memory for the next client."""

    def ask(self, question: Question) -> Answer:
        """The model's answer."""
        start = time.monotonic()
        try:
            inputs = self.prepare(question)
            tokens, steps = self.generate(inputs, question)
            answer = self.choice(question, steps[0]) if question.choices else self.text(question, tokens, steps)
        except OnpromptError:
            raise
        except (torch.OutOfMemoryError, MemoryError):
            raise Rejected(f"the question is too large for the memory that {self.model} leaves free") from None
        except Exception as error:  # third-party networks and processors raise anything
            raise ServerTrouble("broken", f"{self.model} failed: {loading.first_line(error)}") from error
        usage = Usage(inputs["input_ids"].shape[1], len(tokens), round(time.monotonic() - start, 3))
        return replace(answer, model=self.model, usage=usage)

    def prepare(self, question: Question) -> dict[str, torch.Tensor]:
        """The question in the model's chat template, tokenized, with its images as patches."""
        chat = [
            {"role": message.role, "content": [content(part) for part in message.joined]}
            for message in question.messages
        ]
        inputs = self.processor.apply_chat_template(
            chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        tensors = {key: value.to(self.net.device) for key, value in inputs.items() if isinstance(value, torch.Tensor)}
        return {key: value.to(self.net.dtype) if value.is_floating_point() else value for key, value in tensors.items()}

    def generate(self, inputs: Mapping[str, torch.Tensor], question: Question) -> tuple[list[int], list[Step]]:
        """The tokens of the answer, of a choice only the first; and if wanted the likeliest tokens of each step."""
        temperature = 0.0 if question.choices else question.temperature
        config = transformers.GenerationConfig(
            max_new_tokens=1 if question.choices else question.max_tokens,
            eos_token_id=self.end_tokens,
            pad_token_id=self.end_tokens[0],
            output_logits=question.logprobs or bool(question.choices),
            return_dict_in_generate=True,
            **({"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {}),
        )
        with self.lock, torch.inference_mode():
            output = self.net.generate(**inputs, generation_config=config)
        also = self.choice_tokens(question.choices)
        steps = [likeliest_tokens(logits[0].float().softmax(-1), also) for logits in output.logits or ()]
        return output.sequences[0, inputs["input_ids"].shape[1] :].tolist(), steps

    def text(self, question: Question, tokens: Sequence[int], steps: Sequence[Step]) -> Answer:
        """An answer in words, with the probabilities of its digits, or of the words that are wanted."""
        stop = "end" if tokens[-1:] and tokens[-1] in self.end_tokens else "length"
        text, words = self.decode(tokens), question.words
        return Answer(text, stop, token_probs=number_spots(text, self.pieces(tokens, steps, words), words=words))

    def pieces(
        self, tokens: Sequence[int], steps: Sequence[Step], words: Sequence[str] = ()
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

    def choice(self, question: Question, step: Step) -> Answer:
        """The most probable choice for the first token, with that token's alternatives."""
        spot = TokenProbs(0, 0, {text: round(p, 6) for text, p in self.by_text([], step).items()})
        probabilities = choice_probabilities([spot], question.choices, minimum=0.0) or spot.probabilities
        text = max(probabilities, key=lambda word: probabilities[word])
        return Answer(text, token_probs=(spot._replace(end=len(text)),))

    def choice_tokens(self, choices: Sequence[str]) -> list[int]:
        """The single tokens that spell a choice in any case, with or without a space before it."""
        words = [form for word in choices for form in (word, word.capitalize(), word.upper())]
        spellings = [space + word for word in words for space in ("", " ")]
        encoded = [self.tokenizer.encode(spelling, add_special_tokens=False) for spelling in spellings]
        return sorted({tokens[0] for tokens in encoded if len(tokens) == 1})

    def by_text(self, before: Sequence[int], step: Step) -> dict[str, float]:
        """Probabilities by text; several tokens may have the same."""
        probabilities: dict[str, float] = {}
        for token, probability in step.items():
            text = self.continuation(before, [token])
            probabilities[text] = probabilities.get(text, 0.0) + probability
        return probabilities

    def continuation(self, before: Sequence[int], tokens: Sequence[int]) -> str:
        """The text of tokens after others: some tokenizers drop the space at the start of a text."""
        return self.decode([*before, *tokens])[len(self.decode(before)) :]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def likeliest_tokens(probabilities: torch.Tensor, also: Sequence[int]) -> Step:
    """The probabilities of the likeliest tokens, and of some others."""
    best = probabilities.topk(min(TOP_TOKENS, len(probabilities))).indices.tolist()
    return {token: float(probabilities[token]) for token in (*best, *also)}


def content(part: Part) -> dict[str, Any]:
    """A text or an image as chat templates take it."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    image = Image.fromarray(part.picture.pixels)
    image.thumbnail((part.side, part.side), Image.Resampling.LANCZOS)  # the size at which it would be sent
    return {"type": "image", "image": image}


def load(model: str, _: Settings) -> Transformers:
    """The backend for a model; its weights are loaded once per process."""
    return Transformers(model, load_model(model))


@cache
def load_model(model: str) -> LoadedModel:
    """The model in bfloat16, or in float32 on a CPU."""
    loading.silence()
    folder = loading.model_folder(model)
    files = loading.weight_files(folder)
    with loading.loading_errors(model):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        known = transformers.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING, transformers.PROCESSOR_MAPPING
        if not all(type(config) in mapping for mapping in known):
            raise Rejected(f"{model} does not answer questions with images: its type is {config.model_type}")
        # Images through Pillow: the same pixels everywhere.
        processor_class = without_video(transformers.PROCESSOR_MAPPING[type(config)])
        processor = processor_class.from_pretrained(folder, backend="pil", trust_remote_code=False)
        processor.chat_template = processor.chat_template or getattr(processor.tokenizer, "chat_template", None)
        if not processor.chat_template:
            raise Rejected(f"{model} has no chat template: use an instruction-tuned model")
        dtype = torch.float32 if loading.best_device() == "cpu" else torch.bfloat16
        net = loading.load_weights(transformers.AutoModelForImageTextToText, folder, config, dtype)
        ends = net.generation_config.eos_token_id
        ends = processor.tokenizer.eos_token_id if ends is None else ends
        net.generation_config = transformers.GenerationConfig()  # a model's own may sample or penalize repetition
        ends = ends if isinstance(ends, list) else [ends]
    return LoadedModel(net, processor, ends, loading.fingerprint(folder, files), Lock())


def without_video(processor_class: Any) -> Any:
    """A processor class without its video part, which would need torchvision."""
    kept = [name for name in processor_class.get_attributes() if name != "video_processor"]
    return type(processor_class.__name__, (processor_class,), {"get_attributes": classmethod(lambda _: list(kept))})
