"""A vision-language model in this process, by openvino-genai: OpenVINO files in a folder, or in the hub's cache.

The runtime gives the log-probability of a chosen token only; those of its alternatives come from a beam search of one
step, whose beams are the likeliest tokens. It keeps what it computed for the beginnings of questions, so that the
language network reads an image once for all questions about it.
"""

import hashlib
import itertools
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import openvino_genai as genai
from openvino import Tensor
from PIL import Image

from onprompt.errors import NotFetched, OnpromptError, Rejected, ServerTrouble, SettingsError, UntrustedFile
from onprompt.models.reading import choice_probabilities, is_wanted, number_spots
from onprompt.settings import Settings
from onprompt.types import Answer, Question, SentImage, TokenProbs, Usage
from onprompt.vision.runtime import available_cores
from onprompt.weights import hub

DEVICES = ("CPU", "GPU")  # openvino-genai can't batch questions on an NPU
KEPT = 4  # chats, and images at the size at which they are read: of the samples in progress
CACHE_BLOCKS = 512  # for questions in progress and the beginnings of earlier ones: 16,384 tokens on a CPU
TOP_TOKENS = 20  # alternatives of a token, as many as OpenAI gives
CERTAIN = 0.999  # probability from which a token has no alternatives that matter
LAST_NUMBERS = 6  # in an answer, of which alternatives are looked up: the score is among the last
STEP_TOKENS = 1024  # read in one step, which can't be interrupted
FINGERPRINT_BYTES = 65536  # hashed at both ends of a file of weights
FILES = ("config.json", "openvino_language_model.xml", "openvino_tokenizer.xml", "openvino_detokenizer.xml")
MARK = re.compile(r"<(?=\||ov_genai_)")  # begins what the runtime or a chat template would obey
Step = dict[str, float]  # the probabilities of some tokens, by their texts


class LoadedModel:
    """A model in memory. It is shared by the backends that use the same files, and goes with the last of them."""

    def __init__(self, folder: Path, device: str, precision: str) -> None:
        self.lock, self.weights, self.numbers = threading.Lock(), fingerprint(folder), itertools.count()
        check_memory(folder)
        scheduler = genai.SchedulerConfig()
        scheduler.num_kv_blocks, scheduler.max_num_batched_tokens = CACHE_BLOCKS, STEP_TOKENS
        scheduler.enable_prefix_caching = True
        options: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32"} if precision == "f32" else {}
        if device == "CPU":
            options |= {"INFERENCE_NUM_THREADS": available_cores(), "ENABLE_CPU_PINNING": False}
        with runtime_errors(f"can't load {folder}", UntrustedFile):
            self.pipeline = genai.ContinuousBatchingPipeline(str(folder), scheduler, device, options)
        self.tokenizer = self.pipeline.get_tokenizer()
        # While a chat is kept, others about its images need not encode them. But for a question with a single image,
        # openvino-genai 2026.4 adds the positions to what is kept of the image itself, each time anew.
        self.kept: deque[Any] = deque(maxlen=KEPT)
        self.pixels = lru_cache(maxsize=KEPT)(pixels)
        self.adds_positions = b'"qwen3_vl' in (folder / "config.json").read_bytes()
        if not self.tokenizer.chat_template:
            raise Rejected(f"{folder} has no chat template: use an instruction-tuned model")

    def config(self, tokens: int, **options: Any) -> Any:
        """How to answer: without the model's own defaults, which may sample or penalize repetition."""
        config, own = genai.GenerationConfig(), self.pipeline.get_config()
        for name, value in {"max_new_tokens": tokens, "apply_chat_template": False, **options}.items():
            setattr(config, name, value)
        config.set_eos_token_id(own.eos_token_id)
        config.stop_token_ids = own.stop_token_ids | config.stop_token_ids
        return config

    def likeliest(self, **options: Any) -> Any:
        """How to get the likeliest tokens of one place: each beam of a search that ends after one step is one."""
        return self.config(1, num_beams=TOP_TOKENS, num_return_sequences=TOP_TOKENS, **options)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self.tokenizer.decode(list(tokens)))


LOADED: WeakValueDictionary[tuple[Path, str, str], LoadedModel] = WeakValueDictionary()
LOADING = threading.Lock()


class Local:
    """A loaded model behind the backend protocol."""

    slots = 2  # one question is answered while the next one is prepared
    keeps_images = True
    loaded: LoadedModel | None = None

    def __init__(self, model: str, settings: Settings) -> None:
        folder, device, precision = model_folder(model), settings.device.upper(), settings.precision
        if device.partition(".")[0] not in DEVICES:
            raise SettingsError(f"device = {settings.device!r}: models in this process run on {' or '.join(DEVICES)}")
        with LOADING:
            key = (folder, device, precision)
            self.loaded = LOADED.get(key) or LoadedModel(*key)
            LOADED[key] = self.loaded
        self.model = model if folder.parent.name == "snapshots" else folder.name  # the hub names folders by revisions
        self.identity: Mapping[str, str] = {
            **{"backend": "local", "model": self.model, "weights": self.loaded.weights},
            **{"device": device, "precision": precision, "runtime": genai.get_version()},
        }

    def close(self) -> None:
        """Let a question in progress end at its next token, and the model go if no other backend uses it."""
        self.loaded = None

    def model_in_memory(self) -> LoadedModel:
        """The model, unless this backend was closed."""
        if self.loaded is None:
            raise ServerTrouble("stopped", "stopped before the model answered")
        return self.loaded

    def ask(self, question: Question) -> Answer:
        """The model's answer."""
        messages, images = chat(question, self.model_in_memory().pixels)
        start = time.monotonic()
        with self.model_in_memory().lock, runtime_errors(f"{self.model} can't answer"):
            reply = self.choose if question.choices else self.write
            answer = reply(self.model_in_memory(), question, messages, images)
        seconds = round(time.monotonic() - start, 3)
        return replace(answer, model=self.model, usage=replace(answer.usage, seconds=seconds))

    def choose(
        self, model: LoadedModel, question: Question, messages: list[dict[str, str]], images: list[Tensor]
    ) -> Answer:
        """The likeliest of the choices as the first token, with that token's alternatives."""
        history, alone = genai.ChatHistory(messages), model.adds_positions and len(images) == 1
        if alone:
            model.kept.clear()
        config = model.likeliest(apply_chat_template=True)
        (result,) = model.pipeline.generate([history], images=[images], generation_config=[config])
        model.kept += [] if alone else [history]
        step: Step = {}
        for text, score in zip(result.texts, result.scores, strict=True):
            step[text] = step.get(text, 0.0) + probability(score)
        spot = TokenProbs(0, 0, {text: round(p, 6) for text, p in step.items()})
        likely = choice_probabilities([spot], question.choices, minimum=0.0) or step
        word = max(likely, key=lambda word: likely[word])
        usage = Usage(result.perf_metrics.get_num_input_tokens(), 1)
        return Answer(word, usage=usage, token_probs=(spot._replace(end=len(word)),))

    def write(
        self, model: LoadedModel, question: Question, messages: list[dict[str, str]], images: list[Tensor]
    ) -> Answer:
        """An answer in words, with the probabilities of its last numbers, or of the words that are wanted."""
        options: dict[str, Any] = {"logprobs": 1}
        if question.temperature:
            options |= {"do_sample": True, "temperature": question.temperature, "rng_seed": question.repeat}
        if question.schema:
            options["structured_output_config"] = genai.StructuredOutputConfig(json_schema=question.schema)
        prompt = model.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        handle = self.run(model, prompt, images, model.config(question.max_tokens, **options))
        (output,) = handle.read_all()
        text = model.decode(output.generated_ids)
        texts = [model.decode([token]) for token in output.generated_ids]
        wanted = [at for at, word in enumerate(texts) if is_wanted(word, question.words)]
        steps: dict[int, Step] = {}
        if (question.logprobs or question.words) and "".join(texts) == text:  # no character is split between tokens
            for at in wanted if question.words else wanted[-LAST_NUMBERS:]:
                steps[at] = {texts[at]: probability(output.generated_log_probs[at])}
                if steps[at][texts[at]] < CERTAIN:
                    others = self.run(model, prompt + "".join(texts[:at]), images, model.likeliest()).read_all()
                    found = {model.decode(other.generated_ids): probability(other.score) for other in others}
                    steps[at] = found | steps[at]
        pieces = [(word, steps.get(at, {})) for at, word in enumerate(texts)]
        token_probs = number_spots(text, pieces, (), question.words) if steps else ()
        stop = "length" if output.finish_reason == genai.GenerationFinishReason.LENGTH else "end"
        usage = Usage(handle.get_vlm_perf_metrics().get_num_input_tokens(), len(output.generated_ids))
        return Answer(text, stop, usage=usage, token_probs=token_probs, structured=bool(question.schema))

    def run(self, model: LoadedModel, prompt: str, images: list[Tensor], config: Any) -> Any:
        """The answer to a prompt, token by token: it ends early where it is interrupted or closed."""
        handle = model.pipeline.add_request(next(model.numbers), prompt, images, config)
        try:
            while model.pipeline.has_non_finished_requests():
                self.model_in_memory()
                model.pipeline.step()
        except BaseException:
            with suppress(RuntimeError):
                handle.cancel()
                while model.pipeline.has_non_finished_requests():
                    model.pipeline.step()
            raise
        if handle.get_status() == genai.GenerationStatus.IGNORED:
            raise Rejected(f"the question and its answer are too long for the cache of {self.model}")
        return handle


load = Local


def chat(question: Question, pixels: Callable[[SentImage], Tensor]) -> tuple[list[dict[str, str]], list[Tensor]]:
    """The messages, with marks where images stand, and the images."""
    messages: list[dict[str, str]] = []
    images: list[Tensor] = []
    for message in question.messages:
        words = ""
        for part in message.parts:
            if isinstance(part, str):
                words += MARK.sub("< ", part)
                continue
            words += f"<ov_genai_image_{len(images)}>"
            images.append(pixels(part))
        messages.append({"role": message.role, "content": words})
    return messages, images


def pixels(shown: SentImage) -> Tensor:
    """An image at the size at which it would be sent."""
    full = shown.picture.pixels
    if max(full.shape) <= shown.side:
        return Tensor(np.ascontiguousarray(full)[None])
    image = Image.fromarray(full)
    image.thumbnail((shown.side, shown.side), Image.Resampling.LANCZOS)
    return Tensor(np.asarray(image)[None])


def probability(log: float) -> float:
    """A probability by its logarithm, which rounding may have made positive."""
    return math.exp(min(0.0, log))


def model_folder(model: str) -> Path:
    """The folder of a model: the user's own, or in the hub's cache."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        found = hub.cached(model)
        if found is None:
            fetch = f": onprompt models pull local/{model}" if hub.is_name(model) else ""
            raise NotFetched(f"there is no folder {model}, nor such a model in the cache of the hub{fetch}")
        folder = found
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise UntrustedFile(
            f"{folder} is not a vision-language model for OpenVINO: it has no {missing[0]}. Models that are ready have "
            "names with -ov at the end on the hub; others are exported by optimum-cli export openvino"
        )
    return folder.resolve()


def fingerprint(folder: Path) -> str:
    """The hub's revision, or for another folder a hash of its configuration, and of both ends of its weights."""
    if folder.parent.name == "snapshots":
        return folder.name
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.bin"), *folder.glob("*.json")]):
        with path.open("rb") as file:
            size = file.seek(0, 2)
            digest.update(f"{path.name} {size} ".encode())
            for start in (0, max(0, size - FINGERPRINT_BYTES)):
                file.seek(start)
                digest.update(file.read(FINGERPRINT_BYTES))
    return digest.hexdigest()[:16]


def check_memory(folder: Path) -> None:
    """Refuse a model that can't fit into memory, where Linux says how much is free."""
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) / 1e6 for line in lines if line.startswith("MemAvailable"))
        needed = sum(path.stat().st_size for path in folder.glob("*.bin")) / 1e9
        if needed > free:
            raise Rejected(f"{folder} needs more than {needed:.1f} GB of memory, and {free:.1f} GB are free")


@contextmanager
def runtime_errors(what: str, kind: type[OnpromptError] = Rejected) -> Iterator[None]:
    """Turn what the runtime raises into our errors: its last line says why, the others where in its code."""
    try:
        yield
    except (MemoryError, RuntimeError, ValueError, TypeError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise kind(f"{what}: {lines[-1] if lines else type(error).__name__}") from error
