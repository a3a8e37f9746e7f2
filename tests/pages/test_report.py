"""The report of runs: what its pages say, that they need nothing else, and that texts of others stay texts."""

import hashlib
import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from onprompt.cli import app
from onprompt.errors import UserError
from onprompt.pages.exporting import latex, markdown
from onprompt.pages.report import Report, read_report, write
from onprompt.report import ratings
from onprompt.report.recipe import commands
from onprompt.report.tables import markdown_text
from onprompt.runs.reading import Run
from tests.pages.stored import Stored, drawn, four_models, stored_run
from tests.pages.test_verdict_view import HOSTILE


class Page(HTMLParser):
    """The elements of a page, its text, and what it loads or links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += f" {data.strip()}" if data.strip() else ""

    def addresses(self) -> list[str]:
        return [own[name] or "" for _, own in self.elements for name in ("src", "href") if name in own]


def report_of(folder: Path, samples: list[Stored], out: str = "report") -> Path:
    run = stored_run(folder / "run.sqlite", samples)
    write(read_report([run]), folder / out)
    return folder / out


def rows(page: Page) -> str:
    return re.sub(r"\s+", " ", page.text)


def test_the_first_page_says_what_the_run_says(tmp_path: Path) -> None:
    out = report_of(tmp_path, [*four_models(), Stored("broken", value=None, model="north", words="no score in it")])
    text = rows(Page(out / "index.html"))
    assert re.search(r"mean value 0\.6\d \[0\.6\d, 0\.6\d\]", text)
    assert re.search(r"data north fits its prompts best \(0\.9\d \[.*?\]\); 6 of 6 differences are significant\.", text)
    assert "verdicts 32 of 33" in text
    assert "claims checked 75 %" in text
    assert "to look at 4" in text
    for place, model in enumerate(("north 0.9", "east 0.7", "south 0.5", "west 0.3"), 1):
        assert f" {place} {model}" in text
    assert "north is better than west (+0.600" in text
    assert "indoors 0.63" in text
    assert re.search(r"0\.25 to 0\.30: \d; 0\.30 to 0\.35: \d;", text), "the histogram in words"
    assert "objects 96 holds: 64 wrong or missing: 32 67 % 64 – – 33 % 32 –" in text
    assert "stated counts 32" in text
    assert "UnreadableAnswer 1 no score in it" in text
    assert "onprompt run --out again.sqlite --rubric verify --set detector=strong data.csv" in text
    assert str(tmp_path) not in (out / "index.html").read_text(), "folders are the user's own"


def test_every_link_leads_to_a_file_of_the_report_and_nothing_comes_from_elsewhere(tmp_path: Path) -> None:
    out = report_of(tmp_path, four_models(45))  # so many that several processes make the pages
    pages = list(out.rglob("*.html"))
    assert len(pages) == 2 + 4 * 45, "report, samples, and a page for each of them"
    for path in pages:
        page = Page(path)
        for address in page.addresses():
            assert "://" not in address
            target, _, anchor = address.partition("#")
            if not address.startswith(("data:", "#", "about:")):
                linked = (path.parent / target).resolve()
                assert linked.is_file(), address
                assert "=" in anchor or not anchor or f'id="{anchor}"' in linked.read_text("utf-8")
        policy = next(own["content"] or "" for _, own in page.elements if own.get("http-equiv"))
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not [own for tag, own in page.elements if "style" in own or any(name.startswith("on") for name in own)]


def test_the_page_of_a_sample_has_its_claims_and_the_other_images_of_its_prompt(tmp_path: Path) -> None:
    page = Page(report_of(tmp_path, four_models()) / "samples" / "000002.html")
    assert "east/0 · model east" in rows(page)
    assert "2 of 32" in rows(page)
    assert "probability 0.10" in rows(page)
    assert {own["rel"]: own["href"] for _, own in page.elements if own.get("rel") in ("prev", "next")} == {
        "prev": "000001.html",
        "next": "000003.html",
    }
    assert "../samples/000004.html" in page.addresses(), "the same prompt by another model"
    boxes = [own for tag, own in page.elements if tag == "g" and (own["class"] or "").startswith("box")]
    assert {own["data-checks"] for own in boxes} == {"0 1 2", "2 3"}


@pytest.mark.parametrize("out", ["report", "report.html"])
def test_any_text_is_shown_as_text(tmp_path: Path, out: str) -> None:
    many = "x" * 10_000
    samples = [
        Stored(HOSTILE, HOSTILE, 0.1, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),
        Stored(many, many, 0.2, many, many, (many,), many),
        Stored("error", HOSTILE, None, "b", "b", words=HOSTILE),
    ]
    written = report_of(tmp_path, samples, out)
    for path in written.rglob("*") if written.is_dir() else [written]:
        if path.suffix not in (".html", ".js"):
            continue
        text = path.read_text("utf-8")
        assert not re.search("[\x1b\u202e]", text), path
        if path.suffix == ".html":
            page = Page(path)
            assert "x" not in [own.get("src") for tag, own in page.elements if tag == "img"], "of the hostile text"
            assert not [own for _, own in page.elements if "onerror" in own]
            inline = 3 if out == "report.html" else 0
            assert len([own for tag, own in page.elements if tag == "script" and "src" not in own]) == inline
        elif path.name == "samples.js":
            assert "<" not in text, "it ends no script"
            data = json.loads(text.removeprefix('"use strict";var onpromptSamples=').rstrip(";\n"))
            assert [row[1] for row in data["samples"]][1:] == [many[:300], "error"]


def test_what_can_not_be_shown_is_said_so(tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", [Stored(str(number), f"prompt {number}") for number in range(4)])
    pictures = tmp_path / "pictures"
    (pictures / "0.png").unlink()
    (pictures / "1.png").write_bytes(b"")
    (pictures / "2.png").write_bytes((pictures / "3.png").read_bytes())
    with sqlite3.connect(run) as database:
        database.execute("UPDATE verdicts SET summary = 'another' WHERE sample = 4")
    database.close()
    write(read_report([run]), tmp_path / "report")
    pages = [(tmp_path / "report" / "samples" / f"00000{number}.html").read_text() for number in range(1, 5)]
    reasons = ("no longer there", "can&#39;t be shown (empty)", "has changed since", "is not as it was stored")
    for page, reason in zip(pages, reasons, strict=True):
        assert reason in page
    assert "no picture" in (tmp_path / "report" / "index.html").read_text()


def test_two_runs_side_by_side_the_biggest_disagreements_first(tmp_path: Path) -> None:
    samples = [Stored(str(number), f"prompt {number}", 0.5) for number in range(8)]
    other = [Stored(str(number), f"prompt {number}", 0.5 + 0.05 * number) for number in range(8)]
    runs = [stored_run(tmp_path / name / f"{name}.sqlite", rows) for name, rows in (("a", samples), ("b", other))]
    out = tmp_path / "report"
    written = write(read_report(runs), out)
    text = rows(Page(out / "index.html"))
    assert "b is better than a (+0.175" in text
    assert [entry.id for entry in written.shown if entry.disputed and entry.disputed > 0.32] == ["7"]
    cards = [own["data-index"] for tag, own in Page(out / "index.html").elements if "data-index" in own and tag == "li"]
    assert cards[:3] == ["8", "7", "6"]
    assert Page(out / "samples" / "000008.html").text.count("of 4") == 2


def test_judges_of_the_same_images_are_not_ranked_and_what_differs_is_named(tmp_path: Path) -> None:
    samples = [Stored(str(number), f"prompt {number}", number / 8) for number in range(8)]
    detectors = {"a": "strong", "b": "coco"}
    runs = [stored_run(tmp_path / f"{n}.sqlite", samples, detector=detector) for n, detector in detectors.items()]
    write(read_report(runs), tmp_path / "report")
    text = rows(Page(tmp_path / "report" / "index.html"))
    assert "What differs between the runs setting a b detector strong coco" in text
    assert "These judges saw the same images, so they are not ranked." in text


def rated(folder: Path) -> ratings.Ratings:
    lines = [
        f"{model}/{prompt},{5 - place},{4 - place}"
        for place, model in enumerate(("north", "east", "south", "west"))
        for prompt in range(8)
    ]
    (folder / "human.csv").write_text("\n".join(["id,r1,r2", *lines]))
    return ratings.read(folder / "human.csv")


def rated_report(folder: Path) -> Report:
    folder.mkdir(exist_ok=True)
    run = stored_run(folder / "run.sqlite", four_models())
    return read_report([run], ratings=rated(folder), terms={"human_scale": (1.0, 5.0)})


def test_agreement_with_people_beside_one_rater_against_the_others(tmp_path: Path) -> None:
    report = rated_report(tmp_path)
    write(report, tmp_path / "report")
    text = rows(Page(tmp_path / "report" / "index.html"))
    assert "32 samples of 8 prompts, 2 raters" in text
    assert re.search(r"Spearman ρ 0\.9\d \[[\d., ]+\] −1 1 1\.00 \[1\.00, 1\.00\]", text)
    assert "Most disputed" in text
    assert "value against rating by people, 32 samples" in text
    assert report.entries[0].rating == pytest.approx((4.5 - 1) / 4)


def test_markdown_has_the_figures_and_no_text_of_others_becomes_more_than_text(tmp_path: Path) -> None:
    text = markdown(rated_report(tmp_path))
    assert re.search(r"\| run \| 0\.6\d \[0\.6\d, 0\.6\d\] \|", text)
    assert "- north is better than west" in text
    assert "| Spearman ρ | 0.9" in text
    tables = latex(rated_report(tmp_path / "again"))
    assert tables.count(r"\begin{tabular}") == tables.count(r"\bottomrule") > 5
    assert "1 & north & 0.9" in tables
    hostile = markdown_text(f"{HOSTILE} [a](https://evil.example) www.evil.example @someone `x` | y\n# z")
    assert not re.search(r"[<>`|@\n#](?!\d+;)", hostile.replace("&#", ""))
    assert "](" not in hostile
    assert "://" not in hostile


def test_only_some_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", [*four_models(), Stored("last", "another prompt", 0.01)])
    written = write(read_report([run]), tmp_path / "report.html", 5)
    assert "last" in [entry.id for entry in written.shown]
    assert any(entry.flags for entry in written.shown)
    text = rows(Page(tmp_path / "report.html"))
    assert "5 of 33 samples are shown" in text
    assert "verdicts 33 of 33" in text


def test_no_picture_is_copied_that_was_not_judged(tmp_path: Path) -> None:
    """A stranger's run may name any file: of a sample without a verdict, of one with another picture's."""
    run = stored_run(
        tmp_path / "run.sqlite", [Stored("a"), Stored("b", value=None), Stored("c"), Stored("d", value=None)]
    )
    private = drawn(tmp_path / "private" / "0.png", "purple")
    named = json.dumps({"image": str(private), "prompt": "two cups on a table"})
    with closing(sqlite3.connect(run)) as database:
        database.execute("UPDATE samples SET given = ?, image = ? WHERE id IN ('a', 'b')", (named, str(private)))
        # What another way of judging has judged is known, too.
        copied = "SELECT 4, 2, score, value, flags, summary, factors, coverage, 0, 0, NULL, '', ?, '3', created"
        digest = hashlib.sha256((tmp_path / "pictures" / "3.png").read_bytes()).hexdigest()
        database.execute(f"INSERT INTO verdicts {copied}, NULL, NULL, NULL FROM verdicts LIMIT 1", (digest,))
        database.commit()
    write(read_report([run]), tmp_path / "report")
    written = (path for path in (tmp_path / "report" / "pictures").iterdir() if "small" not in path.name)
    colours = [Image.open(path).getpixel((100, 100)) for path in written]
    assert len(colours) == 2, "of c and d"
    assert not [colour for colour in colours if isinstance(colour, tuple) and colour[0] > 90 < colour[2]]
    assert "it was not judged" in (tmp_path / "report" / "samples" / "000002.html").read_text()


def test_nothing_but_a_report_is_replaced(tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", four_models(1))
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.txt").write_text("years of work")
    with pytest.raises(UserError, match="not a report of onprompt"):
        write(read_report([run]), folder)
    with pytest.raises(UserError, match="is a file"):
        write(read_report([run]), run)
    assert (folder / "chapter.txt").read_text() == "years of work"
    for _ in range(2):
        write(read_report([run]), tmp_path / "report")
    assert {path.name for path in tmp_path.iterdir() if "sqlite" not in path.name} == {"pictures", "report", "thesis"}


def test_the_command(tmp_path: Path) -> None:
    run = stored_run(tmp_path / "run.sqlite", four_models())
    rated(tmp_path)

    def report(*options: str) -> Result:
        return CliRunner().invoke(app, ["report", str(run), *options])

    first = report("--human", "human.csv", "--human-scale", "1-5")
    assert first.stdout.strip().endswith("open report/index.html")
    assert report("--to", "markdown").stdout.startswith("# data\n")
    assert "written to b.md" in report("--to", "markdown", "--out", "b.md").stdout
    assert "--to takes html, markdown" in str(report("--to", "pdf").exception)
    assert "can't write" in str(report("--to", "markdown", "--out", "none/a.md").exception)


def test_the_commands_that_make_it_again_are_quoted() -> None:
    nasty = ("$(touch pwned)", "a'b; rm -rf x", "--judge", "`id`\n", "\x1b[31m")
    for word in nasty:
        last = SimpleNamespace(data=word, columns={})
        column: Any = SimpleNamespace(identity={"judge": word, "model": word}, rubric=word, last=last)
        first, _ = commands(column)
        echoed = subprocess.run(["bash", "-c", f"printf '%s\\0' {first}"], capture_output=True, text=True, check=True)
        words = echoed.stdout.split("\0")[:-1]
        assert [words[at + 1] for at, name in enumerate(words[:-1]) if name in ("--rubric", "--model")] == [word, word]
        assert words[-1] == word


def test_the_commands_that_are_printed_make_the_same_numbers(tmp_path: Path) -> None:
    """In a folder with the data only, with columns, ratings, a rubric and settings that are not the usual ones."""
    data = tmp_path / "first" / "my data.csv"
    drawn(data.parent / "cup.png")
    lines = [f"s{n},cup.png,{n} cats,{n % 3 + 1},{n % 5}" for n in range(8)]
    data.write_text("\n".join(["key,file,words,stars,prompt", *lines]) + "\n")
    said = [{"contains": f"{n} cats", "text": f"Reasoning: so\nScore: {n % 5 + 1}"} for n in range(8)]
    (data.parent / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))

    def call(folder: Path, *words: str) -> str:
        command = [sys.executable, "-m", "onprompt", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    columns = ("--column", "id=key", "--column", "image=file", "--column", "prompt=words")
    judge = ("--rubric", "rate", "--model", "replay/said.jsonl", "--set", "repeats=2", "--set", "rate_examples=false")
    call(data.parent, "run", data.name, "--out", "run.sqlite", *columns, *judge)
    rated = ("--human", "stars", "--human-scale", "1-3")
    text = call(data.parent, "report", "run.sqlite", "--to", "markdown", *rated)
    first, second = text.partition("```\n")[2].partition("\n```")[0].splitlines()
    again = tmp_path / "again"
    shutil.copytree(data.parent, again, ignore=shutil.ignore_patterns("*.sqlite*"))
    call(again, *shlex.split(first)[1:])
    one, other = Run(data.parent / "run.sqlite"), Run(again / "again.sqlite")
    assert [row.document for row in one.rows()] == [
        row.document | {"image": str(data.parent / "cup.png")} for row in other.rows()
    ]
    assert one.fingerprint == other.fingerprint
    call(again, *shlex.split(second)[1:])
    page = rows(Page(again / "report" / "index.html"))
    assert re.search(r"Spearman ρ -?\d\.\d\d \[", page)
    spearman = next(line for line in text.splitlines() if "Spearman" in line).split("|")[2].strip()
    assert f"Spearman ρ {spearman}".replace("[ ", "[") in page
