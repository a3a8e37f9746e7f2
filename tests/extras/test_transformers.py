"""Vision-language models in this process: small ones, made here, with weights by chance."""

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from onprompt.errors import ImageError, NotFetched, Rejected, ServerTrouble, SettingsError, UntrustedFile
from onprompt.models import network
from onprompt.models.backends import transformers as backend
from onprompt.models.reading import choice_probabilities
from onprompt.settings import Settings
from onprompt.types import Message, Picture, Question, Shown
from onprompt.vision.image import load_picture, open_picture
from tests.extras import tiny_vlm

MODELS = list(tiny_vlm.MODELS)
SIZES = ((90, 130), (64, 64), (120, 60), (200, 210), (90, 130), (64, 64), (56, 224), (130, 90))
RULES = "Look well at the picture, and give it a number from 0 to 9: " * 3
Backend = Callable[..., backend.Transformers]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name not in made:
            made[name] = tiny_vlm.save(name, tmp_path_factory.mktemp(name))
        return made[name]

    return make


@pytest.fixture
def loaded(folder: Callable[[str], Path]) -> Backend:
    def make(name: str, **more: Any) -> backend.Transformers:
        return backend.load(str(folder(name)), Settings(device="cpu", **more))

    return make


def picture(height: int, width: int) -> Picture:
    pixels = np.random.default_rng(height * width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return load_picture(pixels, Settings())


def asked(rules: str = RULES, **more: Any) -> list[Question]:
    """Questions that begin alike, of several lengths, with pictures of several sizes."""
    found = []
    for number, size in enumerate(SIZES):
        parts = (rules, Shown(picture(*size), 224, "png", 95), "a dog " * number)
        found.append(Question((Message("user", parts),), longest=9, **more))
    return found


def together(model: backend.Transformers, questions: Sequence[Question]) -> list[Any]:
    """What each of many threads gets: an answer or an error."""
    with ThreadPoolExecutor(len(questions)) as pool:
        asking = [pool.submit(model.ask, question) for question in questions]
        return [each.exception(60) or each.result() for each in asking]


def sized(model: backend.Transformers, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many questions each batch has, and the tokens that they share: filled as the model answers."""
    found: list[tuple[int, int]] = []
    generate = model.network.generate

    def noted(batch: network.Batch, *rest: Any, **more: Any) -> list[network.Generated]:
        found.append((len(batch.inputs["input_ids"]), batch.prefix))
        return generate(batch, *rest, **more)

    monkeypatch.setattr(model.network, "generate", noted)
    return found


def plain(model: backend.Transformers, question: Question) -> torch.Tensor:
    """The logits of a whole pass, all of them, with nothing of ours."""
    net = model.network.net
    inputs = model.prepare(question).inputs
    was = net.config.vision_config._attn_implementation
    net.set_attn_implementation({"vision_config": "sdpa"})
    try:
        with torch.inference_mode():
            found: torch.Tensor = net(**inputs).logits
    finally:
        net.set_attn_implementation({"vision_config": was})
    return found[0]


def alike(one: Any, other: Any) -> bool:
    """Whether two answers say the same, with chances that differ by rounding only."""
    pairs = zip(one.spots, other.spots, strict=True)
    return (one.text, one.stop) == (other.text, other.stop) and all(
        first[:2] == second[:2] and first.chances == pytest.approx(second.chances, abs=2e-5) for first, second in pairs
    )


@pytest.mark.parametrize("name", MODELS)
def test_an_answer_is_the_networks(name: str, loaded: Backend) -> None:
    model, question = loaded(name), asked()[0]
    answer = model.ask(question)
    inputs = dict(model.prepare(question).inputs)
    tokens: list[int] = []
    for _ in range(9):
        tokens.append(int(plain(model, question)[-1].argmax()) if not tokens else following(model, inputs, tokens))
    assert answer.text == model.processor.tokenizer.decode(tokens)
    assert (answer.stop, answer.model, answer.structured) == ("length", model.model, False)
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (inputs["input_ids"].shape[1], 9)
    assert answer.usage.seconds > 0


def following(model: backend.Transformers, inputs: dict[str, Any], tokens: list[int]) -> int:
    """The token that a whole pass over the question and what was said thinks likeliest."""
    more = torch.tensor([tokens])
    grown = {"input_ids": more, "attention_mask": torch.ones_like(more), "mm_token_type_ids": torch.zeros_like(more)}
    longer = {key: torch.cat([value, grown[key]], 1) if key in grown else value for key, value in inputs.items()}
    with torch.inference_mode():
        return int(model.network.net(**longer).logits[0, -1].argmax())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("wish", [{}, {"chances": True}, {"choices": ("yes", "no")}])
@pytest.mark.parametrize("rules", [RULES, "Look: "])
def test_a_batch_says_what_each_alone_does(
    name: str, wish: dict[str, Any], rules: str, loaded: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, questions = loaded(name, batch=8), asked(rules, **wish)
    monkeypatch.setattr(model.network, "caches_prefix", False)
    alone = [model.ask(question) for question in questions]
    monkeypatch.undo()
    sizes = sized(model, monkeypatch)
    assert all(alike(*pair) for pair in zip(together(model, questions), alone, strict=True))
    assert len({str((answer.text, answer.spots)) for answer in alone}) > 1
    assert max(size for size, _ in sizes) > 1
    assert any(shared for _, shared in sizes) == (rules is RULES)


def test_a_beginning_is_kept_for_the_next_batch(loaded: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded("qwen2_5_vl", batch=8)
    together(model, asked())
    sizes = sized(model, monkeypatch)
    kept = model.network.prefix_cache
    model.ask(asked()[3])
    assert sizes[0][1] >= network.MIN_PREFIX
    assert model.network.prefix_cache is kept
    assert model.ask(asked("Something else")[0]).text
    assert sizes[1] == (1, 0)
    sizes.clear()
    together(model, asked(RULES + "x" * 2 * network.MIN_PREFIX))
    assert model.network.prefix_cache is not kept


@pytest.mark.parametrize("name", MODELS)
def test_a_choice_has_the_chances_of_a_whole_pass(name: str, loaded: Backend) -> None:
    model = loaded(name)
    for question in asked(choices=("yes", "no"))[:3]:
        answer = model.ask(question)
        chances = plain(model, question)[-1].softmax(-1)
        (spot,) = answer.spots
        for word in ("yes", "no", "Yes", " no"):
            (token,) = model.processor.tokenizer.encode(word)
            assert spot.chances[word] == pytest.approx(float(chances[token]), abs=2e-6)
        words = choice_probabilities(answer.spots, ("yes", "no"), minimum=0.0)
        assert words is not None
        assert answer.text == max(words, key=lambda word: words[word])
        assert (spot.start, spot.end) == (0, len(answer.text))
        assert (answer.usage.tokens_out, answer.stop) == (1, "end")


@pytest.mark.parametrize("name", MODELS)
def test_digits_have_chances(name: str, loaded: Backend) -> None:
    model, found = loaded(name), 0
    for question in asked(chances=True):
        answer = model.ask(question)
        assert [answer.text[spot.start : spot.end].isdigit() for spot in answer.spots] == [True] * len(answer.spots)
        assert len(answer.spots) == sum(letter.isdigit() for letter in answer.text)
        for spot in answer.spots:
            assert max(spot.chances, key=lambda text: spot.chances[text]) == answer.text[spot.start : spot.end]
            assert 10 < len(spot.chances) <= network.TOP_TOKENS
        if answer.spots and answer.spots[0].start == 0:
            chances = plain(model, question)[-1].softmax(-1)
            assert answer.spots[0].chances[answer.text[0]] == pytest.approx(float(chances.max()), abs=2e-6)
        found += len(answer.spots)
    assert found
    assert not model.ask(asked()[0]).spots


def test_characters_of_several_tokens_keep_their_places(loaded: Backend) -> None:
    model = loaded("qwen2_5_vl")
    tokens = model.processor.tokenizer.encode("“4” – 37 €")
    pieces = model.pieces(tokens, [{token: 0.5} for token in tokens])
    assert "".join(text for text, _ in pieces) == "“4” – 37 €"
    assert [chances for _, chances in pieces if chances] == [{"4": 0.5}, {"3": 0.5}, {"7": 0.5}]


def test_words_that_are_wanted_have_probabilities_in_place_of_digits(loaded: Backend) -> None:
    model = loaded("qwen2_5_vl")
    tokens = model.processor.tokenizer.encode('{"1": "yes", "2": "no"}')
    steps = [{token: 0.5} for token in tokens]
    answer = model.text_answer(tokens, steps, ("yes", "no"))
    assert [answer.text[spot.start : spot.end].strip('"') for spot in answer.spots] == ["yes", "no"]
    assert [choice_probabilities([spot], ("yes", "no")) for spot in answer.spots] == [
        {"yes": 1.0, "no": 0.0},
        {"yes": 0.0, "no": 1.0},
    ]


def test_an_end_is_told_from_a_cut(loaded: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    model, question = loaded("qwen2_5_vl"), asked()[0]
    cut = model.ask(replace(question, longest=3))
    assert (cut.stop, cut.usage.tokens_out) == ("length", 3)
    last = model.processor.tokenizer.encode(cut.text)[1]
    monkeypatch.setattr(model.network, "end_tokens", (last,))
    whole = model.ask(question)
    assert whole.stop == "end"
    assert whole.usage.tokens_out <= 2


def test_temperature_varies_answers(loaded: Backend) -> None:
    model, question = loaded("idefics3"), replace(asked()[0], temperature=1.0)
    assert len({model.ask(replace(question, repeat=number)).text for number in range(6)}) > 1


def test_several_pictures_and_none(loaded: Backend) -> None:
    one, two = Shown(picture(90, 130), 224, "png", 95), Shown(picture(64, 64), 224, "png", 95)
    for name in MODELS:
        model = loaded(name)
        talk = (Message("user", ("First", one)), Message("assistant", ("3",)), Message("user", ("then", two, one)))
        both, none = (Question(messages, longest=4) for messages in (talk, (Message("user", ("Hello",)),)))
        assert [answer.text for answer in together(model, [both, none])] == [model.ask(both).text, model.ask(none).text]


@pytest.mark.parametrize("name", MODELS)
def test_a_broken_picture_hurts_nobody_else(name: str, loaded: Backend) -> None:
    model, questions = loaded(name, batch=8), asked()
    broken = Shown(open_picture(b"GIF89a", Settings()), 224, "png", 95)
    bad = replace(questions[0], messages=(Message("user", (RULES, broken)),))
    *answers, error = together(model, [*questions, bad])
    assert isinstance(error, ImageError)
    assert all(answer.text for answer in answers)


def test_too_little_memory_halves_batches(loaded: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    model, questions = loaded("qwen2_5_vl", batch=8), asked()
    right = [model.ask(question).text for question in questions]
    generate = model.network.generate

    def short(batch: network.Batch, *rest: Any, **more: Any) -> list[network.Generated]:
        if len(batch.inputs["input_ids"]) > 2:
            raise torch.OutOfMemoryError
        return generate(batch, *rest, **more)

    monkeypatch.setattr(model.network, "generate", short)
    assert [answer.text for answer in together(model, questions)] == right
    assert model.batcher.largest <= 4


@pytest.mark.parametrize(
    ("trouble", "error"), [(torch.OutOfMemoryError(), Rejected), (RuntimeError("x"), ServerTrouble)]
)
def test_what_the_network_raises_is_told(
    trouble: Exception, error: type[Exception], loaded: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = loaded("qwen2_5_vl")

    def failing(*_: Any, **__: Any) -> list[network.Generated]:
        raise trouble

    monkeypatch.setattr(model.network, "generate", failing)
    with pytest.raises(error):
        model.ask(asked()[0])


def test_identity(loaded: Backend, folder: Callable[[str], Path]) -> None:
    found = [loaded(name).identity for name in MODELS]
    assert [each["model"] for each in found] == [folder(name).name for name in MODELS]
    assert len({each["weights"] for each in found}) == 2
    assert {each["precision"] for each in found} == {"float32"}


def changed(folder: Path, target: Path, file: str, **changes: Any) -> str:
    """A copy of a model with other words in one of its files."""
    shutil.copytree(folder, target)
    found = json.loads((target / file).read_text())
    (target / file).write_text(json.dumps({**found, **changes}))
    return str(target)


def test_what_is_no_such_model_is_refused(folder: Callable[[str], Path], tmp_path: Path) -> None:
    settings = Settings(device="cpu")
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
            backend.load(model, settings)


def test_a_device_that_is_not_there_is_a_wrong_setting(folder: Callable[[str], Path]) -> None:
    with pytest.raises(SettingsError, match="device = 'abacus' can't be used"):
        backend.load(str(folder("idefics3")), Settings(device="abacus"))
