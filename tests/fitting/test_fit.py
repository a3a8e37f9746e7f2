"""`onprompt fit`, over real HTTP: a run of a jury, ratings, a file of weights, and verdicts by it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import onprompt
from onprompt import serial
from onprompt.errors import SettingsError, UserError
from onprompt.fitting.weights import read
from onprompt.rubrics.verify import RUBRIC
from onprompt.runs.reading import Run
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.runs.run import JudgeJob
from onprompt.settings import Settings, load
from tests.judges.claim_server import PIXELS
from tests.judges.jury.servers import NAMES, Serve, command, judged, says
from tests.models.backends.server import Received, Reply

SAMPLES = 64


def asked(request: Received) -> int:
    """The number in the prompt."""
    words = json.dumps(request.json["messages"]).rpartition("Input Prompt: ")[2]
    return int("".join(letter for letter in words.split("cats")[0] if letter.isdigit()))


def good(request: Received) -> Reply:
    return says(asked(request) % 5)


def fair(request: Received) -> Reply:
    return says((asked(request) + asked(request) // 5 % 2) % 5)


def bad(request: Received) -> Reply:
    return says(asked(request) * 7 // 5 % 5)


@pytest.fixture
def jury(serve: Serve, tmp_path: Path) -> Settings:
    """A run of 64 samples, of which the last two were not scored by the first model, and ratings of 60."""
    settings, _ = serve(lambda r: Reply("no", 500) if asked(r) > 61 else good(r), fair, bad, retries=0)
    Image.fromarray(np.full((8, 8, 3), 99, np.uint8)).save(tmp_path / "cat.png")
    rows = [f"{number},cat.png,{number} cats,{number % 5 if number > 3 else ''}" for number in range(SAMPLES)]
    (tmp_path / "data.csv").write_text("\n".join(["id,image,prompt,stars", *rows]) + "\n")
    judged(tmp_path, settings)
    write_ratings(tmp_path, {str(number): number % 5 for number in range(4, SAMPLES)} | {"elsewhere": 3})
    return settings


def write_ratings(folder: Path, ratings: Mapping[str, float]) -> None:
    lines = [f"{name},{rating},{rating}" for name, rating in ratings.items()]
    (folder / "ratings.csv").write_text("\n".join(["id,r1,r2", *lines]) + "\n")


def fit(folder: Path, settings: Settings, *options: str, human: bool = True) -> Any:
    given = ("--human", str(folder / "ratings.csv")) if human else ()
    arguments = ("fit", str(folder / "run.sqlite"), *given, "--out", str(folder / "weights.toml"), *options)
    return command(*arguments, answers=settings.answers)


def test_ratings_in_a_column_of_the_data_fit_as_those_in_a_file(jury: Settings, tmp_path: Path) -> None:
    assert fit(tmp_path, jury).exit_code == 0
    by_file = tomllib.loads((tmp_path / "weights.toml").read_text())
    shown = fit(tmp_path, jury, "--human", "stars", human=False)
    assert shown.exit_code == 0, shown.output
    by_column = tomllib.loads((tmp_path / "weights.toml").read_text())
    assert by_column["jury_weights"] == by_file["jury_weights"]
    assert (by_column["fit"].pop("human"), by_file["fit"].pop("human")) == ("stars", "ratings.csv")
    assert by_file["fit"].pop("unused_ratings") == 1, "of a sample that is not in the run"
    assert by_column["fit"] == by_file["fit"] | {"unused_ratings": 0}


def test_weights_by_ratings_and_a_jury_that_uses_them(jury: Settings, tmp_path: Path) -> None:
    shown = fit(tmp_path, jury)
    assert shown.exit_code == 0, shown.output
    assert "The fitted weights agree better with these raters than the default ones." in shown.output
    written = tomllib.loads((tmp_path / "weights.toml").read_text())
    weights = written["jury_weights"]
    assert weights["openai/a"] > 1 > weights["openai/b"] > weights["openai/c"] > 0
    assert (written["fit"]["samples"], written["fit"]["method"]) == (60, "ratings")
    assert written["fit"]["spearman_over_defaults"][1] > 0
    assert "60 rated samples of 60 prompts; not used, since the run has no score for them: 1" in shown.output
    for name, weight in weights.items():
        assert f"{weight:.3f}" in next(line for line in shown.output.splitlines() if line.startswith(name))

    fitted = load(weights=tmp_path / "weights.toml")
    changed = {name: getattr(fitted, name) for name in ("jury_weights", "weights_source")}
    verdict = onprompt.verify(PIXELS, "13 cats", settings=jury.model_copy(update=changed))
    said = [voice.value or 0.0 for voice in verdict.voices]
    assert verdict.value == pytest.approx(np.average(said, weights=[weights[name] for name in NAMES]))
    source = verdict.provenance["settings"]["weights_source"]
    assert source.startswith("weights.toml sha256:")
    assert str(tmp_path) not in json.dumps(serial.dump(verdict)["provenance"], default=str)
    renamed = JudgeJob("verify", jury.model_copy(update={**changed, "weights_source": "other.toml sha256:0"}))
    assert renamed.identity == JudgeJob("verify", jury.model_copy(update=changed)).identity
    assert renamed.identity != JudgeJob("verify", jury).identity


def test_the_option_and_weights_for_other_models(jury: Settings, tmp_path: Path) -> None:
    assert fit(tmp_path, jury).exit_code == 0
    models = [option for model in jury.models for option in ("--model", model)]
    arguments = ("verify", str(tmp_path / "cat.png"), "13 cats", "--set", "jury_evidence_weight=0", "--json")
    option = ("--set", f"weights={tmp_path / 'weights.toml'}")
    plain, by_weights = (
        json.loads(command(*arguments, *models, *more, answers=jury.answers).output) for more in ((), option)
    )
    assert by_weights["value"] != plain["value"]
    assert by_weights["provenance"]["settings"]["weights_source"].startswith("weights.toml sha256:")
    fewer = command(*arguments, *models[:4], *option, answers=jury.answers)
    assert isinstance(fewer.exception, SettingsError)
    assert "has weights for openai/a, openai/b, openai/c, but the jury is openai/a, openai/b" in str(fewer.exception)


def test_json_has_everything(jury: Settings, tmp_path: Path) -> None:
    found = json.loads(fit(tmp_path, jury, "--json").stdout)
    assert found["format"] == "onprompt.fit/1"
    assert found["weights"]["jury_weights"] == tomllib.loads((tmp_path / "weights.toml").read_text())["jury_weights"]
    assert found["default_weights"]["jury_weights"] == dict.fromkeys(NAMES, 1.0)
    figures = {name: each["value"] for name, each in found["spearman"].items()}
    assert figures["over_equal"] == pytest.approx(figures["fitted"] - figures["equal"], abs=1e-3)


def test_weights_without_ratings_say_so(jury: Settings, tmp_path: Path) -> None:
    shown = fit(tmp_path, jury, human=False)
    assert shown.exit_code == 0, shown.output
    assert "Without ratings, weights follow from how the voices agree" in shown.output
    assert "Spearman" not in shown.output
    written = tomllib.loads((tmp_path / "weights.toml").read_text())
    assert written["fit"] == {"run": "run.sqlite", "human": "", "samples": SAMPLES, "method": "one-factor model"}
    assert written["jury_weights"]["openai/b"] > written["jury_weights"]["openai/c"]


def test_nothing_is_written_that_brings_nothing(jury: Settings, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    write_ratings(tmp_path, {str(number): int(generator.integers(5)) for number in range(SAMPLES)})
    shown = fit(tmp_path, jury)
    assert shown.exit_code == 1
    assert "keep the defaults" in shown.output
    assert not (tmp_path / "weights.toml").exists()


def test_ratings_that_can_not_be_fitted_to(jury: Settings, tmp_path: Path) -> None:
    cases: dict[str, dict[str, float]] = {
        "all mean ratings are 2": {str(number): 2 for number in range(SAMPLES)},
        "too few ratings to fit weights: 49 rated samples": {str(number): number % 5 for number in range(49)},
        "no sample of the run is rated": {f"other {number}": number % 5 for number in range(SAMPLES)},
    }
    for why, ratings in cases.items():
        write_ratings(tmp_path, ratings)
        failed = fit(tmp_path, jury)
        assert isinstance(failed.exception, UserError)
        assert why in str(failed.exception)
    (tmp_path / "ratings.csv").write_text("id,rating\n1,nan\n")
    assert "'nan' is not a number" in str(fit(tmp_path, jury).exception)
    assert not (tmp_path / "weights.toml").exists()
    over = command("fit", str(tmp_path / "run.sqlite"), "--out", str(tmp_path / "run.sqlite"), answers=jury.answers)
    assert "would be overwritten" in str(over.exception)


def test_a_run_without_a_jury_has_no_weights(serve: Serve, tmp_path: Path) -> None:
    settings, _ = serve(good)
    name, _, url = settings.models[0].partition("@")
    alone = settings.model_copy(update={"model": name, "models": (), "base_url": url})
    Image.fromarray(PIXELS).save(tmp_path / "cat.png")
    (tmp_path / "data.csv").write_text("id,image,prompt\n1,cat.png,3 cats\n")
    judged(tmp_path, alone)
    for human in (True, False):
        write_ratings(tmp_path, {"1": 3})
        failed = fit(tmp_path, settings, human=human)
        assert "has no verdict of a jury or of the evidence" in str(failed.exception)


@pytest.mark.models
def test_the_evidence_has_its_value_as_its_voice(settings: Settings, tmp_path: Path) -> None:
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(tmp_path / "cat.png")
    (tmp_path / "data.csv").write_text("id,image,prompt\n1,cat.png,two cats and a red ball\n2,cat.png,a dog\n")
    judged(tmp_path, settings.model_copy(update={"judge": "evidence"}))
    run = Run(tmp_path / "run.sqlite")
    ids, voices = read(run)
    values = {row.id: row.value for row in run.rows()}
    assert (voices.names, voices.values.tolist()) == (("evidence",), [[values[name]] for name in ids])


def test_reviews_in_the_run_file_count_as_ratings(jury: Settings, tmp_path: Path) -> None:
    with ReviewFile(tmp_path / "run.sqlite") as file:
        for name, number in list(file.query("SELECT id, number FROM samples WHERE number > 4")):
            for rater in ("Ada", 'Bo "the\\second"'):
                file.save(number, 1, rater, Review({"score": int(name) % 5}), RUBRIC)
    shown = fit(tmp_path, jury, human=False)
    assert shown.exit_code == 0, shown.output
    assert "ratings: the reviews in" in shown.output
    written = tomllib.loads((tmp_path / "weights.toml").read_text())
    assert (written["fit"]["method"], written["fit"]["human"]) == ("ratings", 'reviews by Ada, Bo "the\\second"')
    assert written["jury_weights"]["openai/a"] > 1
    without = fit(tmp_path, jury, "--no-reviews", human=False)
    assert "Without ratings, weights follow from how the voices agree" in without.output
