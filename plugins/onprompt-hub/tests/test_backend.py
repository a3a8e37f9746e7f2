"""Vision-language models in this process: small ones, made here, with weights by chance."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny_vlm
from onprompt import plugins
from onprompt.errors import ImageError, NotFetched, Rejected, ServerTrouble, UntrustedFile
from onprompt.models.client import ModelClient
from onprompt.models.reading import choice_probabilities
from onprompt.settings import Settings
from onprompt.types import Message, Picture, Question, SentImage
from onprompt.vision.image import load_picture, open_picture
from onprompt_hub import backend

MODELS = list(tiny_vlm.MODELS)
SIZES = ((90, 130), (64, 64), (120, 60), (200, 210), (56, 224))
Folder = Callable[[str], Path]
Loaded = Callable[[str], backend.Transformers]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = tiny_vlm.save(name, tmp_path_factory.mktemp(name))
        return made[name]

    return make


@pytest.fixture
def loaded(folder: Folder) -> Loaded:
    return lambda name: backend.load(str(folder(name)), Settings())


def picture(height: int, width: int) -> Picture:
    pixels = np.random.default_rng(height * width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return load_picture(pixels, Settings())


def shown(height: int, width: int) -> SentImage:
    return SentImage(picture(height, width), 224, "png", 95)


def asked(**more: Any) -> list[Question]:
    """Questions of several lengths, with pictures of several sizes."""
    return [
        Question((Message("user", ("Give it a number: ", shown(*size), "a dog " * number)),), max_tokens=9, **more)
        for number, size in enumerate(SIZES)
    ]


def next_token(model: backend.Transformers, question: Question, tokens: list[int]) -> torch.Tensor:
    """The probabilities of the next token by a whole pass over the question and what was said, with nothing of ours."""
    inputs = dict(model.prepare(question))
    more = torch.tensor([tokens], dtype=torch.long)
    grown = {"input_ids": more, "attention_mask": torch.ones_like(more), "mm_token_type_ids": torch.zeros_like(more)}
    longer = {key: torch.cat([value, grown[key]], 1) if key in grown else value for key, value in inputs.items()}
    with torch.inference_mode():
        found: torch.Tensor = model.net(**longer).logits[0, -1].softmax(-1)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_an_answer_is_the_networks(name: str, loaded: Loaded) -> None:
    model, question = loaded(name), asked()[0]
    answer = model.ask(question)
    tokens: list[int] = []
    while len(tokens) < 9:
        tokens.append(int(next_token(model, question, tokens).argmax()))
    assert answer.text == model.tokenizer.decode(tokens)
    assert (answer.stop, answer.model, answer.structured) == ("length", model.model, False)
    length = model.prepare(question)["input_ids"].shape[1]
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (length, 9)
    assert answer.usage.seconds > 0
    assert not answer.token_probs


@pytest.mark.parametrize("name", MODELS)
def test_threads_get_the_same_answers(name: str, loaded: Loaded) -> None:
    model, questions = loaded(name), asked(logprobs=True)
    alone = [model.ask(question) for question in questions]
    with ThreadPoolExecutor(len(questions)) as pool:
        together = list(pool.map(model.ask, questions))
    assert [(each.text, each.token_probs) for each in together] == [(each.text, each.token_probs) for each in alone]
    assert len({each.text for each in alone}) > 1


@pytest.mark.parametrize("name", MODELS)
def test_a_choice_has_the_probabilities_of_a_whole_pass(name: str, loaded: Loaded) -> None:
    model = loaded(name)
    for question in asked(choices=("yes", "no"), temperature=1.0)[:3]:
        answer = model.ask(question)
        probabilities = next_token(model, question, [])
        (spot,) = answer.token_probs
        for word in ("yes", "no", "Yes", " no"):
            (token,) = model.tokenizer.encode(word)
            assert spot.probabilities[word] == pytest.approx(float(probabilities[token]), abs=2e-6)
        words = choice_probabilities(answer.token_probs, ("yes", "no"), minimum=0.0)
        assert words is not None
        assert answer.text == max(words, key=lambda word: words[word])
        assert (spot.start, spot.end) == (0, len(answer.text))
        assert (answer.usage.tokens_out, answer.stop) == (1, "end")


@pytest.mark.parametrize("name", MODELS)
def test_digits_have_probabilities(name: str, loaded: Loaded) -> None:
    model, found = loaded(name), 0
    for question in asked(logprobs=True):
        answer = model.ask(question)
        assert len(answer.token_probs) == sum(letter.isdigit() for letter in answer.text)
        for spot in answer.token_probs:
            assert answer.text[spot.start : spot.end].isdigit()
            likeliest = max(spot.probabilities, key=lambda text: spot.probabilities[text])
            assert likeliest == answer.text[spot.start : spot.end]
            assert 10 < len(spot.probabilities) <= backend.TOP_TOKENS
        if answer.token_probs and answer.token_probs[0].start == 0:
            best = float(next_token(model, question, []).max())
            assert answer.token_probs[0].probabilities[answer.text[0]] == pytest.approx(best, abs=2e-6)
        found += len(answer.token_probs)
    assert found


def test_characters_of_several_tokens_keep_their_places(loaded: Loaded) -> None:
    model = loaded("qwen2_5_vl")
    tokens = model.tokenizer.encode("“4” – 37 €")
    pieces = model.pieces(tokens, [{token: 0.5} for token in tokens])
    assert "".join(text for text, _ in pieces) == "“4” – 37 €"
    assert [chances for _, chances in pieces if chances] == [{"4": 0.5}, {"3": 0.5}, {"7": 0.5}]


def test_words_that_are_wanted_have_probabilities_in_place_of_digits(loaded: Loaded) -> None:
    model = loaded("qwen2_5_vl")
    tokens = model.tokenizer.encode('{"1": "yes", "2": "no"}')
    answer = model.text(replace(asked()[0], words=("yes", "no")), tokens, [{token: 0.5} for token in tokens])
    assert [answer.text[spot.start : spot.end].strip('"') for spot in answer.token_probs] == ["yes", "no"]
    assert [choice_probabilities([spot], ("yes", "no")) for spot in answer.token_probs] == [
        {"yes": 1.0, "no": 0.0},
        {"yes": 0.0, "no": 1.0},
    ]


def test_an_end_is_told_from_a_cut(loaded: Loaded, folder: Folder, tmp_path: Path) -> None:
    model, question = loaded("qwen2_5_vl"), asked()[0]
    cut = model.ask(replace(question, max_tokens=3))
    assert (cut.stop, cut.usage.tokens_out) == ("length", 3)
    last = model.tokenizer.encode(cut.text)[1]
    ends = changed(folder("qwen2_5_vl"), tmp_path / "ends", "generation_config.json", eos_token_id=last)
    whole = backend.load(ends, Settings()).ask(question)
    assert whole.stop == "end"
    assert whole.usage.tokens_out <= 2


def test_temperature_varies_answers(loaded: Loaded) -> None:
    model, question = loaded("idefics3"), replace(asked()[0], temperature=1.0)
    assert len({model.ask(replace(question, repeat=number)).text for number in range(6)}) > 1


@pytest.mark.parametrize("name", MODELS)
def test_several_pictures_and_none(name: str, loaded: Loaded) -> None:
    model, one, two = loaded(name), shown(90, 130), shown(64, 64)
    talk = (Message("user", ("First", one)), Message("assistant", ("3",)), Message("user", ("then", two, one)))
    answers = [model.ask(Question(messages, max_tokens=4)) for messages in (talk, (Message("user", ("Hello",)),))]
    assert all(answer.text for answer in answers)
    assert answers[0].usage.tokens_in > answers[1].usage.tokens_in


def test_a_broken_picture_is_the_pictures_error(loaded: Loaded) -> None:
    broken = SentImage(open_picture(b"GIF89a", Settings()), 224, "png", 95)
    with pytest.raises(ImageError):
        loaded("idefics3").ask(Question((Message("user", ("Look", broken)),)))


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [
        (torch.OutOfMemoryError(), Rejected, "too large for the memory"),
        (RuntimeError("no kernel\nat line 7"), ServerTrouble, "failed: no kernel$"),
    ],
)
def test_what_the_network_raises_is_told_in_one_line(
    trouble: Exception, error: type[Exception], words: str, loaded: Loaded
) -> None:
    model = loaded("qwen2_5_vl")

    def fail(*_: object) -> None:
        raise trouble

    hook = model.net.register_forward_pre_hook(fail)
    try:
        with pytest.raises(error, match=words):
            model.ask(asked()[0])
    finally:
        hook.remove()


def test_identity(loaded: Loaded, folder: Folder) -> None:
    found = [loaded(name).identity for name in MODELS]
    assert [each["model"] for each in found] == [folder(name).name for name in MODELS]
    assert len({each["weights"] for each in found}) == 2
    assert {each["precision"] for each in found} == {"bfloat16" if torch.cuda.is_available() else "float32"}


def test_it_is_a_backend_that_runs_here(folder: Folder, tmp_path: Path) -> None:
    settings = Settings(model=f"transformers/{folder('idefics3')}", answers=tmp_path / "answers.sqlite")
    made = plugins.load("models.backends", "transformers").load(str(folder("idefics3")), settings)
    client = ModelClient(made, settings)
    assert (client.bound_by, client.slots, client.name) == ("model", 2, f"transformers/{folder('idefics3').name}")
    question = asked()[0]
    assert client.ask(question).text == client.ask(question).text
    client.close()


def changed(folder: Path, target: Path, file: str, **changes: Any) -> str:
    """A copy of a model with other words in one of its files."""
    shutil.copytree(folder, target)
    found = json.loads((target / file).read_text())
    (target / file).write_text(json.dumps({**found, **changes}))
    return str(target)


def test_what_is_no_such_model_is_refused(folder: Folder, tmp_path: Path) -> None:
    (bare := tmp_path / "bare").mkdir()
    silent = tmp_path / "silent"
    shutil.copytree(folder("qwen2_5_vl"), silent)
    (silent / "chat_template.jinja").unlink()
    other = changed(folder("qwen2_5_vl"), tmp_path / "other", "config.json", model_type="bert")
    deeper = json.loads((folder("idefics3") / "config.json").read_text())["text_config"] | {"num_hidden_layers": 4}
    lacking = changed(folder("idefics3"), tmp_path / "lacking", "config.json", text_config=deeper)
    for model, error, words in (
        ("/no/such/folder", NotFetched, "can't download the model '/no/such/folder'"),
        (str(bare), UntrustedFile, "there is no model.safetensors"),
        (str(silent), Rejected, "has no chat template"),
        (other, Rejected, "does not answer questions with images: its type is bert"),
        (lacking, UntrustedFile, "do not match its config.json"),
    ):
        with pytest.raises(error, match=words):
            backend.load(model, Settings())
