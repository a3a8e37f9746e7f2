"""A vision-language model in this process, by transformers: a name of the hub's, or a folder.

Answers come in batches of `batch`. Each thread that asks makes its own question ready, while the network answers those
before it: `concurrency` should be at least twice `batch`.
"""

from __future__ import annotations

import hashlib
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

from onprompt.errors import OnpromptError, Rejected, ServerTrouble, SettingsError, UntrustedFile
from onprompt.models.batching import Batcher
from onprompt.models.network import ALTERNATIVES, Batch, Inputs, Network, Told
from onprompt.models.reading import chance_of, placed
from onprompt.settings import Settings
from onprompt.types import Answer, Part, Question, Shown, Spot, Usage
from onprompt.vision.detectors.hf import best_device, silence
from onprompt.weights.hub import first_line, loading_errors, model_folder, weight_files

ENDS = 65536  # bytes at both ends of a file of weights, by which it is told from others


class Loaded(NamedTuple):
    """A model in memory, and what tells it from others."""

    network: Network
    processor: Any
    weights: str


class Ready(NamedTuple):
    """A question, and what the processor made of it."""

    question: Question
    inputs: Inputs


class Staged(NamedTuple):
    """Questions of one kind, put together."""

    questions: list[Question]
    batch: Batch


def load(model: str, settings: Settings) -> Transformers:
    """The backend for a model's name; its weights are loaded once in a process."""
    chosen = settings.device or best_device()
    try:
        torch.empty(1, device=chosen)
    except Exception as error:  # of many kinds
        raise SettingsError(f"device = {chosen!r} can't be used: {first_line(error)}") from error
    return Transformers(model, loaded(model, chosen), settings.batch)


class Transformers:
    """A model in this process behind the backend protocol, and the steps of its batches."""

    too_large = (torch.OutOfMemoryError, MemoryError)

    def __init__(self, model: str, loaded: Loaded, batch: int) -> None:
        self.network, self.processor, self.weights = loaded
        self.model = folder.name if (folder := Path(model).expanduser()).is_dir() else model
        self.batcher: Batcher[Question, Ready, Staged, Told] = Batcher(self, batch)

    @property
    def identity(self) -> Mapping[str, str]:
        precision = str(self.network.dtype).removeprefix("torch.")
        return {"backend": "transformers", "model": self.model, "weights": self.weights, "precision": precision}

    @property
    def slots(self) -> int:
        """How many questions should be under way: the next batch is made ready while one is answered."""
        return 2 * self.batcher.largest

    def close(self) -> None:
        """End its threads."""
        self.batcher.close()

    def ask(self, question: Question) -> Answer:
        """The answer, which others' questions may have been answered along with."""
        start = time.monotonic()
        try:
            answer = self.read(self.batcher.ask(question), question)
        except OnpromptError:
            raise
        except self.too_large:
            raise Rejected(f"the question is too large for the memory that {self.model} has left") from None
        except Exception as error:  # a foreign network with a foreign processor: anything may go wrong
            raise ServerTrouble("broken", f"{self.model} failed: {first_line(error)}") from error
        return replace(answer, usage=replace(answer.usage, seconds=round(time.monotonic() - start, 3)))

    def prepare(self, asked: Question) -> Ready:
        """The question in the words of the model's template, its pictures as patches."""
        talk = [{"role": each.role, "content": [content(part) for part in each.joined]} for each in asked.messages]
        found = self.processor.apply_chat_template(
            talk, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        tensors = {key: value for key, value in found.items() if isinstance(value, torch.Tensor)}
        exact = {key: value for key, value in tensors.items() if not value.is_floating_point()}
        return Ready(asked, {key: exact.get(key, value.to(self.network.dtype)) for key, value in tensors.items()})

    def sort(self, ready: Ready) -> tuple[Hashable, int]:
        """Questions go together if they want the same of the network, and if their pictures can be stacked."""
        asked, length = ready.question, ready.inputs["input_ids"].shape[1]
        shapes = ((key, value.shape[1:]) for key, value in sorted(ready.inputs.items()) if value.shape != (1, length))
        wish = (asked.choices,) if asked.choices else (asked.longest, asked.temperature, asked.chances)
        return (wish, *shapes), length

    def stage(self, batch: Sequence[Ready]) -> Staged:
        """The questions on the device."""
        return Staged([each.question for each in batch], self.network.batch([each.inputs for each in batch]))

    def answer(self, staged: Staged) -> list[Told]:
        """All answers. For a choice one pass, for its first token's chances."""
        asked = staged.questions[0]
        if asked.choices:
            return self.network.tell(staged.batch, 1, top=ALTERNATIVES, also=self.forms(asked.choices))
        top = ALTERNATIVES if asked.chances else 0
        return self.network.tell(staged.batch, asked.longest, asked.temperature, top)

    def read(self, told: Told, asked: Question) -> Answer:
        """What was told, in words."""
        said = self.chosen(asked.choices, told.steps[0]) if asked.choices else self.said(told.tokens, told.steps)
        return replace(said, model=self.model, usage=Usage(told.asked, len(told.tokens)))

    def said(self, tokens: Sequence[int], steps: Sequence[Mapping[int, float]]) -> Answer:
        """An answer in words, with the chances of the digits in it."""
        stop = "end" if tokens[-1:] and tokens[-1] in self.network.ends else "length"
        text = self.text(tokens)
        return Answer(text, stop, spots=placed(text, self.pieces(tokens, steps), ()) if steps else ())

    def pieces(self, tokens: Sequence[int], steps: Sequence[Mapping[int, float]]) -> list[tuple[str, dict[str, float]]]:
        """The text of each token with its chances; tokens that are parts of one character go with its last."""
        found: list[tuple[str, dict[str, float]]] = []
        before: list[int] = []
        held: list[int] = []
        for token, step in zip(tokens, steps, strict=False):
            held.append(token)
            text = self.after(before, held)
            if "\ufffd" in text and len(held) < 4:
                continue
            named = self.named(before, step) if any(letter.isdigit() for letter in text) else {}
            found.append((text, named))
            before, held = held, []
        return found

    def chosen(self, choices: Sequence[str], step: Mapping[int, float]) -> Answer:
        """The choice that is likeliest as the answer's first token, and that token's chances."""
        spot = Spot(0, 0, {text: round(chance, 6) for text, chance in self.named([], step).items()})
        words = chance_of([spot], choices, least=0.0)
        text = max(words, key=lambda word: words[word]) if words else max(spot.chances, key=lambda t: spot.chances[t])
        return Answer(text, spots=(spot._replace(end=len(text)),))

    def named(self, before: Sequence[int], step: Mapping[int, float]) -> dict[str, float]:
        """Chances by what the tokens read; several may read the same."""
        found: dict[str, float] = {}
        for token, chance in step.items():
            text = self.after(before, [token])
            found[text] = found.get(text, 0.0) + chance
        return found

    def after(self, before: Sequence[int], tokens: Sequence[int]) -> str:
        """What tokens read after others: some tokenizers drop the space that a text begins with."""
        return self.text([*before, *tokens])[len(self.text(before)) :] if before else self.text(tokens)

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens read."""
        found: str = self.processor.tokenizer.decode(
            tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return found

    def forms(self, choices: Sequence[str]) -> list[int]:
        """The tokens that are a choice, as it may be written."""
        written = (
            space + form for word in choices for form in (word, word.capitalize(), word.upper()) for space in ("", " ")
        )
        found = (self.processor.tokenizer.encode(form, add_special_tokens=False) for form in written)
        return sorted({tokens[0] for tokens in found if len(tokens) == 1})


def content(part: Part) -> dict[str, Any]:
    """A text or a picture as templates want it."""
    return {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "image": shown(part)}


def shown(part: Shown) -> Image.Image:
    """A picture as large as it would be sent; no file is made of it."""
    image = Image.fromarray(part.picture.pixels)
    image.thumbnail((part.side, part.side), Image.Resampling.LANCZOS)
    return image


@cache
def loaded(model: str, device: str) -> Loaded:
    """Loaded once in a process: in bfloat16, but in full precision on a processor."""
    silence()
    folder = model_folder(model)
    files = weight_files(folder)
    with loading_errors(model):
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if type(config) not in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING or type(config) not in PROCESSOR_MAPPING:
            raise Rejected(f"{model} is no model that answers texts with pictures: it is of type {config.model_type}")
        processor = processor_of(model, folder, config)
        net = weighted(folder, config, torch.float32 if device == "cpu" else torch.bfloat16).eval().to(device)
        ends = net.generation_config.eos_token_id
        ends = [processor.tokenizer.eos_token_id] if ends is None else ends if isinstance(ends, list) else [ends]
        pad = processor.tokenizer.pad_token_id
        network = Network(net, ends[0] if pad is None else pad, ends)
    return Loaded(network, processor, fingerprint(folder, files))


def processor_of(model: str, folder: Path, config: Any) -> Any:
    """The model's processor, with pictures by Pillow: the same pixels everywhere."""
    kind = PROCESSOR_MAPPING[type(config)]
    found = pictures_only(kind).from_pretrained(folder, backend="pil", trust_remote_code=False)
    if not found.chat_template:
        found.chat_template = getattr(found.tokenizer, "chat_template", None)
    if not found.chat_template:
        raise Rejected(f"{model} has no chat template: it can't be asked. Take a model that was tuned to instructions")
    return found


def pictures_only(kind: Any) -> Any:
    """A class of processors less the part for films, which would need torchvision."""
    kept = [name for name in kind.get_attributes() if name != "video_processor"]
    return type(kind.__name__, (kind,), {"get_attributes": classmethod(lambda _: list(kept))})


def weighted(folder: Path, config: Any, dtype: torch.dtype) -> Any:
    """The network with its weights, all of them: transformers would make up those that the files lack."""
    net, report = transformers.AutoModelForImageTextToText.from_pretrained(
        folder, config=config, use_safetensors=True, dtype=dtype, output_loading_info=True, trust_remote_code=False
    )
    lacking = {name for name, _ in net.named_parameters()} & set(report["missing_keys"])
    if lacking or report["mismatched_keys"]:
        raise UntrustedFile(
            f"the weights in {folder} are not those of its config.json: no {min(lacking, default='fit')}"
        )
    return net


def fingerprint(folder: Path, files: Sequence[str]) -> str:
    """The hub's name for these very weights, or for a folder's a hash of sizes and both ends of its files."""
    if folder.parent.name == "snapshots":
        return folder.name
    found = hashlib.sha256()
    for name in files:
        with Path(name).open("rb") as file:
            size = file.seek(0, 2)
            found.update(f"{Path(name).name} {size} ".encode())
            for start in (0, max(0, size - ENDS)):
                file.seek(start)
                found.update(file.read(ENDS))
    return found.hexdigest()[:16]
