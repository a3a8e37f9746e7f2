"""Every number of the protocol is a default, and every value can be traced to where it comes from."""

import traceback
from pathlib import Path

import pytest

from onprompt.errors import SettingsError
from onprompt.settings import Settings, load, load_with_origins
from tests.runs.commands import onprompt

SEED = {
    **{"weight_class": 0.5, "weight_count": 0.3, "weight_attributes": 0.2},
    **{"color_match": 10, "color_near": 25, "small_area": 0.05, "medium_area": 0.20, "low_confidence": 0.5},
    **{"presence_4": 0.9, "attributes_4": 0.9, "presence_3": 0.8, "attributes_3": 0.7},
    **{"presence_2": 0.5, "presence_1": 0.2, "pair": 2},
    **{"few_low": 2, "few_high": 4, "several_low": 3, "several_high": 7},
}


def test_the_protocols_numbers_are_the_defaults() -> None:
    settings = Settings()
    assert {name: getattr(settings, name) for name in SEED} == SEED


def test_the_call_beats_the_environment_which_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text("pair = 3\nfew_high = 9\nseveral_high = 11\n")
    monkeypatch.setenv("ONPROMPT_FEW_HIGH", "8")
    monkeypatch.setenv("ONPROMPT_SEVERAL_HIGH", "10")
    monkeypatch.setenv("ONPROMPT_PERMISSIVE", "1")
    settings, origins = load_with_origins(several_high=12)
    assert (settings.pair, settings.few_high, settings.several_high, settings.permissive) == (3, 8, 12, True)
    assert origins["pair"] == "onprompt.toml"
    assert origins["few_high"] == "ONPROMPT_FEW_HIGH"
    assert origins["several_high"] == "an argument"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("pairs = 3", r"no setting 'pairs' \(in onprompt.toml\); did you mean 'pair'\?"),
        ('pair = "many"', r"pair = 'many' \(from onprompt.toml\)"),
        ("low_confidence = 1.5", "low_confidence = 1.5.*less than or equal to 1"),
        ("weight_class = 0.9", "must add up to 1, not 1.4"),
        ("presence_2 = 0.95", "presence_1 ≤ presence_2 ≤ presence_3 ≤ presence_4 must hold"),
        ("pair = = 3", "can't read onprompt.toml"),
        ('mirror = "a\\u0000b"', "contains a NUL character"),
    ],
)
def test_a_bad_file_says_what_is_wrong(content: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text(content)
    monkeypatch.setenv("ONPROMPT_CONFIG", "onprompt.toml")
    with pytest.raises(SettingsError, match=message):
        load()


OUTSIDE = {
    "base_url": '"http://127.0.0.1:9/v1"',
    "model": '"openai/gpt"',
    "models": '["openai/a", "openai/b@http://127.0.0.1:9"]',
    "home": '"elsewhere"',
    "record": '"/tmp/a"',
    "answers": '"/tmp/a"',
    "mirror": '"http://127.0.0.1:9"',
    "detector": '"hf:owner/model"',
    "matcher": '"hf:file.toml"',
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_file_that_merely_lies_there_sends_nothing_anywhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text(f"pair = 3\n{name} = {OUTSIDE[name]}\n")
    with pytest.raises(SettingsError, match=rf"onprompt.toml in this folder sets {name}\..*--config onprompt.toml"):
        load()
    monkeypatch.setenv("ONPROMPT_CONFIG", "/dev/null")
    assert load().pair == 2
    monkeypatch.setenv("ONPROMPT_CONFIG", "onprompt.toml")
    assert load().pair == 3


def test_the_file_in_use_is_named_and_a_flag_trusts_it() -> None:
    Path("onprompt.toml").write_text("pair = 3\n")
    assert "settings from onprompt.toml" in onprompt("settings").stderr
    Path("onprompt.toml").write_text('pair = 3\nmodel = "openai/gpt"\n')
    assert onprompt("settings").returncode == 2
    trusted = onprompt("--config", "onprompt.toml", "settings")
    assert 'model = "openai/gpt"' in trusted.stdout
    assert "settings from onprompt.toml" in trusted.stderr


def test_a_misspelt_variable_is_an_error_and_an_empty_one_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONPROMPT_DETECTOR", "")
    assert load().detector == "coco"
    monkeypatch.setenv("ONPROMPT_PERMISIVE", "1")
    with pytest.raises(SettingsError, match=r"'permisive' \(in ONPROMPT_PERMISIVE\); did you mean 'permissive'"):
        load()


def test_the_matcher_has_a_name_or_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, matcher in (("none", ""), ("small", "small"), ("hf:owner/model", "hf:owner/model")):
        monkeypatch.setenv("ONPROMPT_MATCHER", given)
        assert load().matcher == matcher


def test_a_key_of_the_wrong_kind_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "onprompt.toml").write_text('api_key = ["sk-planted-0123456789"]')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError) as caught:
        load()
    assert "sk-planted" not in "".join(traceback.format_exception(caught.value))
