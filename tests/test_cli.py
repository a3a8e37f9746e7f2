"""The command line as people use it: real processes, what they print, and how they end."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from onprompt import verify
from onprompt.settings import Settings
from tests.conftest import photo_path


def onprompt(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-W", "error", "-m", "onprompt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=300)


def test_the_last_line_is_the_score_and_nothing_else() -> None:
    result = onprompt("verify", str(photo_path("coffee.png")), "two red cups on a table and a laptop")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.split("\n")
    assert lines[-2:] == ["(2)", ""]
    text = result.stdout
    for heading in ("Prompt asks for", "Image shows", "Asked → found", "Summary"):
        assert heading in text
    assert "('a laptop', 'MISSING')" in text
    assert "count: expected 2, found 1" in text
    assert "\x1b" not in text, "no colours where nobody watches"


def test_json_has_the_seeds_keys(tmp_path: Path) -> None:
    picture = tmp_path / "out.png"
    arguments = ("verify", str(photo_path("coffee.png")), "a red cup on a table", "--json", "--picture", str(picture))
    result = onprompt(*arguments)
    verdict = json.loads(result.stdout)
    assert verdict["format"] == "onprompt.verify/7"
    assert verdict["score"] == 4
    cup = verdict["prompt_objects"][0]
    assert (cup["object"], cup["canonical"], cup["count"]) == ("a red cup", "cup", 1)
    assert cup["attributes"] == {"color": ["red"]}
    assert cup["relations"] == [{"relation": "on", "target": 1}]
    seen = next(each for each in verdict["image_objects"] if each["canonical"] == "cup")
    assert "red" in seen["attributes"]["color"]
    assert all(0 <= value <= 600 for value in seen["bbox"])
    assert verdict["pairs"][0][0] == "a red cup"
    with Image.open(picture) as drawn:
        assert drawn.width == 900


def test_see_as_json_has_the_documented_keys() -> None:
    entry = json.loads(onprompt("see", str(photo_path("bus.jpg")), "--for", "a blue bus", "--json").stdout)
    assert entry["format"] == "onprompt.see/1"
    bus = next(each for each in entry["objects"] if each["canonical"] == "bus")
    assert set(bus) == {
        *("object", "canonical", "count", "bbox", "center", "area", "confidence", "low_confidence", "attributes"),
        *("attribute_confidence", "detector"),
    }
    assert "blue" in bus["attributes"]["color"]
    assert bus["attributes"]["size"] == ["large"]
    width, height = entry["image_size"]
    x, y, across, down = bus["bbox"]
    assert bus["area"] == pytest.approx(across * down / width / height, abs=0.002)
    assert bus["center"] == pytest.approx([(x + across / 2) / width, (y + down / 2) / height], abs=0.002)
    assert any("emisiones" in line["text"] for line in entry["text"])


def test_bad_prompts_end_with_2_and_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x " * 200_000)  # longer than a command line may be
    photo = str(photo_path("coffee.png"))
    for arguments, message in (
        (("verify", photo, ""), "empty"),
        (("verify", photo, "?!... --"), "holds no word"),
        (("parse", "--input", str(tmp_path / "long.txt")), "characters; the limit is 10,000"),
    ):
        result = onprompt(*arguments)
        assert (result.returncode, result.stderr[:10]) == (2, "onprompt: ")
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stdout == "" or json.loads(result.stdout)["error"] in result.stderr


@pytest.mark.parametrize(
    ("prompt", "score", "flags"),
    [
        ("🐶 🎈", 2, ["no objects", "not_verifiable"]),
        ("some text", 1, ["ambiguous quantifier", "not_verifiable"]),
        ("a cup 😀 on a table", 4, []),
        ("un chat noir", 2, ["not English", "not_verifiable"]),  # best effort
        ("a rde cpu", 1, ["misspelling repaired", "not_verifiable"]),
    ],
)
def test_odd_prompts_get_a_sane_verdict(settings: Settings, prompt: str, score: int, flags: list[str]) -> None:
    verdict = verify(photo_path("coffee.png"), prompt, settings=settings)
    assert (verdict.score, list(verdict.flags)) == (score, flags)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no/folder.png", "no such folder"),
        ("picture.xyz", "the name must end in"),
        ("same.png", "is the judged image itself"),
    ],
)
def test_a_picture_that_cannot_be_written_is_a_clear_error(target: str, message: str, tmp_path: Path) -> None:
    image = tmp_path / "same.png"
    image.write_bytes(photo_path("coffee.png").read_bytes())
    result = onprompt("verify", str(image), "a cup", "--picture", str(tmp_path / target))
    assert result.returncode == 2
    assert message in result.stderr
    assert image.read_bytes() == photo_path("coffee.png").read_bytes()


def test_a_terminal_without_unicode_and_a_full_disk_are_no_traceback() -> None:
    told = onprompt("verify", str(photo_path("coffee.png")), "a cup", PYTHONIOENCODING="ascii")
    assert told.stdout.endswith("(4)\n")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "onprompt", "parse", "two dogs"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_settings_prints_a_file_that_can_be_loaded_and_no_key() -> None:
    import tomllib

    key = "sk-planted-0123456789"
    result = onprompt("settings", ONPROMPT_PERMISSIVE="1", ONPROMPT_MIRROR="/tmp/é😀", ONPROMPT_API_KEY=key)
    values = tomllib.loads(result.stdout)
    assert (values["permissive"], values["color_near"], values["mirror"]) == (True, 25, "/tmp/é😀")
    assert "[ONPROMPT_PERMISSIVE]" in result.stdout
    assert key not in result.stdout + result.stderr
    Path("onprompt.toml").write_text(onprompt("settings").stdout)
    assert onprompt("settings").returncode == 0


def test_models_finds_a_damaged_file_and_pull_mends_it(tmp_path: Path) -> None:
    mirror, folder = tmp_path / "mirror", tmp_path / "home" / "weights"
    mirror.mkdir()
    folder.mkdir(parents=True)
    (mirror / "coffee.png").write_bytes(photo_path("coffee.png").read_bytes())
    (folder / "coffee.png").write_bytes(b"half")
    where = {"ONPROMPT_HOME": str(tmp_path / "home"), "ONPROMPT_MIRROR": str(mirror)}
    result = onprompt("models", **where)
    assert result.returncode == 3
    assert re.search(r"coffee\.png +[\d.]+ MB +damaged ", result.stdout)
    assert onprompt("models", "path", "coffee.png", **where).returncode == 3
    assert onprompt("models", "pull", "coffee.png", **where).returncode == 0
    assert onprompt("models", **where).returncode == 0
    assert onprompt("models", "path", "coffee.png", **where).stdout.strip() == str(folder / "coffee.png")


BLOCKED = """
import os
import sys
from onprompt.cli import main

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        sys.stderr.write(f"the network was asked for: {event} {arguments}\\n")
        os._exit(99)  # no handler can swallow this
    if event in ("subprocess.Popen", "os.posix_spawn", "os.fork"):
        sys.stderr.write(f"another process was started: {event} {arguments}\\n")
        os._exit(98)

sys.addaudithook(refuse)
main()
"""


def test_with_all_files_in_the_cache_nothing_asks_for_the_network() -> None:
    arguments = ("verify", str(photo_path("bus.jpg")), 'four people and a bus that says "cero emisiones"')
    result = subprocess.run([sys.executable, "-c", BLOCKED, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("\n(4)\n")


def test_the_block_would_have_been_noticed(tmp_path: Path) -> None:
    """A plain `import openvino` reports to its maker: that is what the block must see, and we must prevent."""
    command = [sys.executable, "-c", BLOCKED.replace("main()", "import openvino")]
    assert subprocess.run(command, capture_output=True, env={"HOME": str(tmp_path)}).returncode in (98, 99)


def test_nothing_is_written_to_the_users_home(tmp_path: Path, settings: Settings) -> None:
    where = {"HOME": str(tmp_path / "home"), "ONPROMPT_HOME": str(settings.home)}
    (tmp_path / "home").mkdir()
    assert onprompt("verify", str(photo_path("coffee.png")), "a cup", **where).returncode == 0
    assert list((tmp_path / "home").iterdir()) == []


def test_the_demo_runs() -> None:
    script = Path(__file__).parent.parent / "examples" / "demo.py"
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "MISSING" in result.stdout
    assert len(re.findall(r"^\(\d\)$", result.stdout, re.M)) == 2, "both scores"
    assert result.stdout.endswith("open demo/report/index.html\n")
    for name in ("report/index.html", "right.png", "wrong.png"):
        assert Path("demo", name).exists()


def test_a_bad_line_of_many_is_told_and_costs_no_other(tmp_path: Path) -> None:
    (path := tmp_path / "prompts.txt").write_bytes("\ufeffa dog\r\n\r\n...\r\ntwo cats\u2028and a hat".encode())
    assert onprompt("parse", "two dogs").stdout == "2 × dog\n"
    result = onprompt("parse", "--input", str(path))
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert [each["canonical"] for each in (*first["objects"], *third["objects"])] == ["dog", "cat", "hat"]
    assert first["prompt"] == "a dog"
    assert second == {"prompt": "...", "error": "the prompt '...' holds no word"}
    assert result.returncode == 2
    assert result.stderr == "onprompt: line 3: the prompt '...' holds no word\n"


def test_estimates_are_marked_as_estimates() -> None:
    result = onprompt("verify", str(photo_path("coffee.png")), "a cup on a wooden table in a kitchen", "--explain")
    assert "whole prompt: estimated 0." in result.stdout
    without = onprompt("verify", str(photo_path("coffee.png")), "a cup", "--explain", ONPROMPT_MATCHER="none")
    assert (without.returncode, "estimated" in without.stdout) == (0, False)


def said(folder: Path, *texts: str) -> str:
    """The model's name for a file that answers the questions so."""
    file = folder / "said.jsonl"
    file.write_text("\n".join(json.dumps({"text": text}) for text in texts))
    return f"replay/{file}"


STEPS = """Step 1: ["a cup", "a laptop"]
Step 2: ["a red cup"]
Step 3&4: [('a laptop', 'MISSING')]
Step 5: it is
**(2)**"""


def test_a_model_verifies(tmp_path: Path) -> None:
    home = {"ONPROMPT_ANSWERS": str(tmp_path / "answers.sqlite")}
    arguments = ("verify", str(photo_path("coffee.png")), "a cup and a laptop", "--model", said(tmp_path, STEPS))
    first, second = onprompt(*arguments, **home), onprompt(*arguments, "--json", **home)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == [
        "Prompt asks for (according to the model)",
        "  a cup",
        "  a laptop",
        "Image shows (according to the model)",
        "  a red cup",
        "Asked → found",
        "  ('a cup', 'matched')",
        "  ('a laptop', 'MISSING')",
        "Summary",
        "  The image differs from the prompt: a laptop: MISSING.",
        "  value 0.50, 0 input and 0 output tokens",
        "(2)",
    ]
    verdict = json.loads(second.stdout)
    assert (verdict["score"], verdict["answers"][0]["cached"]) == (2, True)
    assert verdict["provenance"]["model"] == "replay/said.jsonl"
    assert str(tmp_path) not in second.stdout


def edited_photo(folder: Path) -> tuple[str, str, str]:
    """A photo, the same with a green patch, and a mask of that patch."""
    photo = Image.open(photo_path("coffee.png")).convert("RGB")
    mask = Image.new("L", photo.size)
    for name, image, colour in (("after.png", photo, (30, 200, 60)), ("mask.png", mask, 255)):
        image.paste(colour, (40, 40, 160, 140))
        image.save(folder / name)
    return str(photo_path("coffee.png")), str(folder / "after.png"), str(folder / "mask.png")


def test_an_edit_is_judged_without_a_model(tmp_path: Path) -> None:
    before, after, mask = edited_photo(tmp_path)
    arguments = ("edit", before, after, "remove the cup", "--mask", mask)
    result = onprompt(*arguments, "--picture", str(tmp_path / "drawn.png"))
    assert result.returncode == 0, result.stderr
    assert "('remove the cup', 'cup detected before and after')" in result.stdout
    assert "Not done: remove the cup." in result.stdout
    assert re.search(r"^alignment: 2 \(expected [12]\.\d+\)\. ", result.stdout, re.MULTILINE)
    with Image.open(tmp_path / "drawn.png") as drawn:
        assert drawn.width > 2.5 * drawn.height  # three images side by side
    document = json.loads(onprompt(*arguments, "--protocol").stdout)
    assert document["image_id"] == "after.png"
    assert document["online_factor_results"]["alignment"]["score"] == 2


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    result = onprompt(
        *("verify", str(photo_path("coffee.png")), "a cup", "--model", said(tmp_path, "(4)"), "--dry-run"),
        ONPROMPT_ANSWERS=str(tmp_path / "answers.sqlite"),
        ONPROMPT_PRICE_IN="2",
        ONPROMPT_PRICE_OUT="8",
    )
    assert result.stdout.startswith("1 call to replay/said.jsonl: about 2,"), result.stderr
    assert ", about $0.0" in result.stdout


def test_any_setting_can_be_set_before_or_after_the_command() -> None:
    for arguments in (("--set", "repeats=3", "settings"), ("settings", "--set=repeats=3")):
        assert "\nrepeats = 3\n" in onprompt(*arguments, ONPROMPT_REPEATS="5").stdout
    assert onprompt("parse", "--", "--set").returncode == 0, "a prompt, after --"
