"""The file of weights: written at once, read as settings, and refused if it is damaged."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from onprompt import fitted
from onprompt.errors import SettingsError, UserError
from onprompt.settings import Settings, load, load_with_origins

WEIGHTS: dict[str, Any] = {
    "jury_evidence_weight": 0.3,
    "jury_weights": {"openai/a": 1.5, 'a "b" \\ é': 0.01},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fitted.write(tmp_path / "weights.toml", WEIGHTS, {"rubric": "x", "spearman": [0.5, 0.4, 0.6]})
    return tmp_path / "weights.toml"


def test_what_is_written_is_read(path: Path) -> None:
    found = fitted.read(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == {**WEIGHTS, "weights_source": f"weights.toml sha256:{sha256}"}


def test_settings_take_the_weights_of_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, origins = load_with_origins(weights=path)
    assert settings.jury_weights == tuple(WEIGHTS["jury_weights"].items())
    assert settings.jury_evidence_weight == 0.3
    assert (origins["jury_evidence_weight"], origins["weights"]) == (str(path), "an argument")
    assert Settings.model_validate_json(settings.model_dump_json(exclude={"api_key"})) == settings
    monkeypatch.setenv("ONPROMPT_WEIGHTS", str(path))
    assert load().jury_evidence_weight == 0.3


def test_what_is_set_in_the_same_place_or_later_wins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("onprompt.toml").write_text(f"weights = '{path}'\njury_evidence_weight = 0.5\n")
    monkeypatch.setenv("ONPROMPT_CONFIG", "onprompt.toml")
    assert (load().jury_evidence_weight, dict(load().jury_weights)) == (0.5, WEIGHTS["jury_weights"])
    assert load(jury_evidence_weight=0.4).jury_evidence_weight == 0.4
    assert load(weights=path).jury_evidence_weight == 0.3, "an option beats the file of settings"
    monkeypatch.setenv("ONPROMPT_JURY_EVIDENCE_WEIGHT", "0.6")
    monkeypatch.setenv("ONPROMPT_WEIGHTS", str(path))
    assert load().jury_evidence_weight == 0.6


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not a file of weights"),
        ('format = "onprompt.weights/2"\njury_evidence_weight = 2', "not a file of weights"),
        ('format = "onprompt.weights/1"', "has no weights"),
        ('format = "onprompt.weights/1"\n[jury_weights', "can't read the weights"),
        ('format = "onprompt.weights/1"\nvalue_count = 8.0', "sets 'value_count', which is no weight"),
        ('format = "onprompt.weights/1"\n[jury_weights]\n"openai/a" = 0', "weight of openai/a must be above 0"),
        ('format = "onprompt.weights/1"\n[jury_weights]\n"openai/a" = nan', "weight of openai/a must be above 0"),
        ('format = "onprompt.weights/1"\n[jury_weights]\n"openai/a" = "high"', "jury_weights"),
        ('format = "onprompt.weights/1"\njury_weights = 3', "jury_weights"),
        ('format = "onprompt.weights/1"\njury_evidence_weight = nan', "jury_evidence_weight"),
        ('format = "onprompt.weights/1"\njury_evidence_weight = -1', "jury_evidence_weight"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "weights.toml").write_text(text)
    with pytest.raises(SettingsError, match=why):
        load(weights=tmp_path / "weights.toml")


def test_a_file_that_can_not_be_written_leaves_the_old_one(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(TypeError):
        fitted.write(path, {"jury_evidence_weight": object()}, {})
    assert path.read_bytes() == before
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"can.t write .*folder"):
        fitted.write(tmp_path / "folder", WEIGHTS, {})
    with pytest.raises(UserError, match="can't write"):
        fitted.write(tmp_path / "nowhere" / "weights.toml", WEIGHTS, {})
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".")) == [], "nothing is left behind"
