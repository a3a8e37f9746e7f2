"""GenEval's results file: its fields, its `correct`, and nothing invented where there is no verdict."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import onprompt
from onprompt.adapters import geneval
from onprompt.api import judges
from onprompt.errors import UserError
from onprompt.settings import Settings
from tests.conftest import photo_path
from tests.pages.stored import Stored, stored_run

pytestmark = pytest.mark.models

FIELDS = {"filename": str, "tag": str, "prompt": str, "correct": bool, "reason": str, "metadata": str, "details": str}
PROMPTS = {"single_object": "a photo of a cup", "two_object": "a photo of a cup and a laptop", "mood": "nostalgia"}


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    """A folder as GenEval's generators leave it: three prompts, and a picture that is none."""
    for number, (tag, prompt) in enumerate(PROMPTS.items()):
        samples = tmp_path / "outputs" / f"{number:05}" / "samples"
        samples.mkdir(parents=True)
        about = {"tag": tag, "include": [{"class": "cup", "count": 1}], "prompt": prompt}
        (samples.parent / "metadata.jsonl").write_text(json.dumps(about))
        shutil.copy(photo_path("coffee.png"), samples / "0000.png")
        (samples.parent / "grid.png").write_bytes(b"of all samples, and none of them")
    (tmp_path / "outputs" / "00000" / "samples" / "0001.png").write_bytes(b"not a picture")
    return tmp_path / "outputs"


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    judges.close()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_model(outputs: Path, *answers: tuple[str, str], rubric: str = "verify") -> geneval.Written:
    """What is written where a model says some text to prompts that hold some words."""
    file = outputs.parent / "said.jsonl"
    file.write_text("\n".join(json.dumps({"contains": words, "text": text}) for words, text in answers))
    settings = Settings(answers=outputs.parent / "answers.sqlite")
    images = [image for image in geneval.images(outputs) if image.path.name == "0000.png"]
    found = onprompt.judge_many(rubric, [each.item for each in images], model=f"replay/{file}", settings=settings)
    return geneval.write(outputs.parent / "results.jsonl", zip(images, found, strict=True))


def test_the_snippet_writes_what_geneval_reads(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"(?:^    .*\n|^\n)+", geneval.__doc__ or "", flags=re.M)
    assert code
    assert len(dedent(code[0]).strip().splitlines()) <= 10
    exec(dedent(code[0]), {})
    assert capsys.readouterr().out == "2 2\n"
    cup, both = lines(Path("results.jsonl"))
    assert {name: type(value) for name, value in cup.items()} == FIELDS
    assert (cup["tag"], cup["correct"], cup["reason"]) == ("single_object", True, "")
    assert (both["tag"], both["correct"], both["reason"]) == ("two_object", False, "a laptop: MISSING")
    assert json.loads(both["metadata"])["prompt"] == both["prompt"] == PROMPTS["two_object"]
    assert Path(cup["filename"]).is_file()
    broken, mood = lines(Path("results.left_out.jsonl"))
    assert "is not an image" in broken["why"]
    assert broken["filename"].endswith("0001.png")
    assert "not_verifiable" in mood["why"]
    assert not {"correct", "reason"} & {*broken, *mood}


def test_only_a_four_is_correct_and_an_unreadable_answer_is_neither(outputs: Path) -> None:
    steps = "Step 1: []\nStep 2: []\nStep 3&4: []\nStep 5: it is\n({})"
    texts = steps.format(4), steps.format(3), "What a lovely picture!"
    asked = [f'"{prompt}"' for prompt in PROMPTS.values()]
    assert by_model(outputs, *zip(asked, texts, strict=True)) == (2, 1)
    four, three = lines(outputs.parent / "results.jsonl")
    assert (four["correct"], three["correct"]) == (True, False)
    assert three["reason"], "a wrong one is never without a reason"
    assert "unreadable answer" in lines(outputs.parent / "results.left_out.jsonl")[0]["why"]


def test_a_rubric_without_an_overall_score_is_refused() -> None:
    verdict = onprompt.verify(photo_path("coffee.png"), "a cup")
    with pytest.raises(UserError, match="needs an overall score, which 'edit' does not have"):
        geneval.judgement(replace(verdict, rubric="edit"))


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"tag": "counting"}'])
def test_metadata_that_is_none_is_named(outputs: Path, text: str) -> None:
    (outputs / "00001" / "metadata.jsonl").write_text(text)
    with pytest.raises(UserError, match=r"00001/metadata\.jsonl is not GenEval's metadata"):
        geneval.images(outputs)


def test_metadata_of_another_prompt_is_not_copied(outputs: Path) -> None:
    """A stranger's run may name any folder."""
    run = stored_run(outputs.parent / "run.sqlite", [Stored("a", PROMPTS["single_object"]), Stored("b", "a cup")])
    with closing(sqlite3.connect(run)) as database:
        database.execute("UPDATE samples SET image = ?", (str(outputs / "00000" / "samples" / "0000.png"),))
        database.commit()
    geneval.write(outputs.parent / "out.jsonl", geneval.stored(onprompt.load_run(run)))
    own, other = (json.loads(line["metadata"]) for line in lines(outputs.parent / "out.jsonl"))
    assert "include" in own
    assert other == {"tag": "", "prompt": "a cup"}


def test_a_folder_without_pictures_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no image like 00000/samples/0000\.png"):
        geneval.images(tmp_path)


def test_a_run_and_back_again(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder is judged, written as GenEval's file, read from it, judged again, and compared with what it said."""
    said = outputs.parent / "said.jsonl"
    said.write_text(
        "\n".join(
            json.dumps({"contains": w, "text": t}) for w, t in ((PROMPTS["two_object"], "No.\n(2)"), ("", "Yes.\n(4)"))
        )
    )
    run, results = outputs.parent / "run.sqlite", outputs.parent / "run.geneval.jsonl"
    common = ("--model", f"replay/{said}")
    assert command("run", outputs, "--out", run, *common).returncode == 1, "one picture is none"
    exported = command("export", run, "--to", "geneval")
    assert "3 results written" in exported.stdout, exported.stderr
    assert "1 left out" in exported.stdout
    assert {name: type(value) for name, value in lines(results)[0].items()} == FIELDS
    assert [line["correct"] for line in lines(results)] == [True, False, True]
    again = outputs.parent / "again.sqlite"
    assert command("run", results, "--out", again, *common).returncode == 0
    agreed = command("agree", again, "--human", "correct", "--human-scale", "0-1", "--json")
    assert agreed.returncode == 0, agreed.stderr
    assert json.loads(agreed.stdout)["overall"]["judge"]["auc"]["value"] == 1.0


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "onprompt", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, timeout=120)
