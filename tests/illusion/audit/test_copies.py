"""Copies of the judges' prompts: ours, ours up to white space, or not, and where they depart."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from onprompt.errors import PluginError, UserError
from onprompt.illusion.audit.copies import State, compare, document, lines
from onprompt.illusion.audit.parts import BEGINNINGS, parts
from onprompt.rubrics import text

TEXTS = {name: text(f"{name}-1") for name in ("verify", "rate", "edit")}


def written(folder: Path, name: str, words: str) -> Path:
    path = folder / name
    path.write_bytes(words.encode())
    return path


def forms(words: str) -> dict[str, str]:
    """A text as it stands in files of several kinds."""
    doubled = words.replace("{", "{{").replace("}", "}}")
    indented = "\n".join(f"    {line}" if line.strip() else line for line in words.split("\n"))
    listed = ", ".join(map(repr, words.split("\n")))
    added = "".join(f"P += {line!r}\n" for line in words.splitlines(keepends=True))
    return {
        "plain.txt": words,
        "literal.py": f"import os\nPROMPT = {words!r}\n",
        "triple.py": f"def ask(prompt):\n    return '''{words}'''\n",
        "template.py": f"PROMPT = '''{doubled}\n{{prompt}}'''.format(prompt=1)\n",
        "joined.py": f"PROMPT = {words[:100]!r} + {words[100:]!r}\n",
        "quoted.txt": f'"""{words}"""\n',
        "listed.py": f"P = '\\n'.join([{listed}])\n",
        "added.py": f"P = ''\n{added}",
        "named.py": f"HEAD = {words[:100]!r}\ndef ask(p): return f'{{HEAD}}' + REST + p\nREST = {words[100:]!r}\n",
        "block.yaml": f"judge:\n  prompt: |\n{indented}\n  other: 1\n",
        "dedented.py": f"PROMPT = dedent('''\n{indented}''')\n",
        "strings.json": json.dumps({"judge": {"texts": ["other", words]}}),
        "lines.jsonl": '{"a": 1}\n' + json.dumps({"a": words}) + "\n",
        "strings.toml": f"prompt = {json.dumps(words)}\n",
        "cells.ipynb": json.dumps({"cells": [{"source": ["x = 1\n", f"P = {words!r}\n"]}]}),
        "document.md": f"# How we judge\n\n````text\n{words}\n````\nAnd more.\n",
    }


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("form", forms(""))
def test_a_copy_is_known_wherever_it_stands(name: str, form: str, tmp_path: Path) -> None:
    told = compare(name, written(tmp_path, form, forms(TEXTS[name])[form]))
    # The last blank of rate is the indentation's there, and a block keeps one newline of those at its end.
    spaced = ("dedented.py", "rate"), ("block.yaml", "rate"), ("block.yaml", "verify")
    state = State.SPACE if (form, name) in spaced else State.SAME
    assert told.state in (state, State.SAME), list(lines(tmp_path, told))
    if told.state is State.SAME:
        assert told.sha256 == told.their_sha256


@pytest.mark.parametrize("form", forms(""))
def test_one_word_is_found_wherever_it_stands(form: str, tmp_path: Path) -> None:
    words = TEXTS["rate"].replace("maximum 20 words", "maximum 30 words")
    told = compare("rate", written(tmp_path, form, forms(words)[form]))
    assert told.state is State.DEPARTS
    assert [(hunk.ours, hunk.theirs, hunk.after) for hunk in told.hunks] == [("20", "30", "maximum")]
    assert [str(lack) for lack in told.lacks] == ["the reasoning of at most 20 words: 34 of its 35 words are there"]


@pytest.mark.parametrize(
    "source",
    [
        "def ask(p): return 'Be generous.\\n' + {0!r} + '\\nIgnore step 3.'",
        'def ask(p): return f"""Always answer (4). {{p}}{1}{{p}}\nNever go below 3."""',
        'def ask(p): return f"""Prompt: {{p}}\n{1}"""',
        "P = {0!r}\nQ = P + '\\nNever go below 3.'",
        "P = {0!r}\nP += '\\nNever go below 3.'",
        "def ask(p): return f'{{P}}Never go below 3.'\nP = {0!r}",
        "P = {0!r}\nask('\\n'.join(['Be generous.', P]))",
        "P = 'Be generous. %s' % x + {0!r}.format(x)",
        "P: str = x + dedent({0!r})",
        "P = {0!r}\nask('Be generous. {{}} {{x}}'.format(P, x=1))",
        "P = {0!r}\nask('Be generous. %s' % P)",
    ],
)
def test_a_text_with_more_around_it_is_not_ours(source: str, tmp_path: Path) -> None:
    source = source.format(TEXTS["verify"], TEXTS["verify"].replace("{", "{{").replace("}", "}}"))
    told = compare("verify", written(tmp_path, "it.py", source))
    assert told.state is State.DEPARTS
    assert any(len(hunk.theirs) > len(hunk.ours) for hunk in told.hunks)
    cells = json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    assert compare("verify", written(tmp_path, "it.ipynb", cells)).state is State.DEPARTS


@pytest.mark.parametrize(
    "source",
    [
        "P = {0!r}\nlog('We ask: ' + P)\nask(P)",
        "prompt = 'a cat'\ndef ask(prompt): return {0!r} + prompt",
        "print('Score: ' + ask({0!r}))",
        "P = {0!r}\nask('{{rubric}}{{}}'.format(prompt, rubric=P))",
        "P = {0!r}\nask('%s%s' % (P, prompt))",
        "P = {0!r}\ndef other():\n    P = 'x'\n    return P + 'y'",
    ],
)
def test_a_text_that_is_also_used_alone_is_ours(source: str, tmp_path: Path) -> None:
    assert compare("verify", written(tmp_path, "it.py", source.format(TEXTS["verify"]))).state is State.SAME


def test_what_can_not_be_seen_is_told(tmp_path: Path) -> None:
    words = TEXTS["verify"].replace("Perfect", "Perf\u200bect", 1)
    told = compare("verify", written(tmp_path, "it.txt", words))
    assert '"Perfect" is "Perf\\u200bect"' in "\n".join(lines(tmp_path, told))


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    words = TEXTS["verify"].replace("the scoe of", "the score of")
    told = compare("verify", written(tmp_path, "it.py", f"import os\n\nPROMPT = '''{words}'''\n"))
    (hunk,) = told.hunks
    assert (hunk.our_line, hunk.line) == (7, 9)
    assert 'line 9 (ours 7), after "the": "scoe" is "score"' in "\n".join(lines(tmp_path, told))


@pytest.mark.parametrize(
    ("name", "start", "end", "title"),
    [
        ("verify", "Score 1: Poor", "Score 0: No", "score 1"),
        ("verify", "How to Apply", "eg1:", "how to apply the rubric"),
        ("verify", "You should output", "Step 1:", "the form of the answer, (4)"),
        ("rate", "3: the image", "4: the image", "score 3"),
        ("edit", "=== FACTOR 2", "=== FACTOR 3", "completeness"),
        ("edit", "OUTPUT FORMAT", "CONSTRAINTS:", "the output format, strict JSON"),
        ("edit", "SCORING SYSTEM", "OUTPUT FORMAT", "the scale from 1 to 7"),
    ],
)
def test_a_part_that_is_gone_is_named(name: str, start: str, end: str, title: str, tmp_path: Path) -> None:
    ours = TEXTS[name]
    cut = ours[: ours.index(start)] + ours[ours.index(end) :]
    told = compare(name, written(tmp_path, "it.txt", cut))
    assert told.state is State.DEPARTS
    assert f"{title}: missing" in [str(lack) for lack in told.lacks]
    assert [lack.title for lack in told.lacks if lack.missing] == [title]


def test_white_space_is_told_apart(tmp_path: Path) -> None:
    told = compare("edit", written(tmp_path, "it.txt", " ".join(TEXTS["edit"].split())))
    assert told.state is State.SPACE
    assert told.sha256 != told.their_sha256
    assert compare("edit", written(tmp_path, "dos.txt", TEXTS["edit"].replace("\n", "\r\n"))).state is State.SAME


def test_what_a_program_puts_in_later_is_no_departure_but_more_words_are(tmp_path: Path) -> None:
    ours = TEXTS["verify"]
    assert compare("verify", written(tmp_path, "a.txt", ours + '\nInput Prompt: "{prompt}"\n')).state is State.SAME
    assert compare("rate", written(tmp_path, "b.txt", TEXTS["rate"] + "{prompt}")).state is State.SAME
    told = compare("verify", written(tmp_path, "c.txt", ours + "\nBe generous.\n"))
    assert told.state is State.DEPARTS
    assert [(hunk.ours, hunk.theirs) for hunk in told.hunks] == [("", "Be generous.")]
    assert compare("verify", written(tmp_path, "d.txt", "Be generous.\n" + ours)).state is State.DEPARTS


def test_the_nearest_version_is_taken(tmp_path: Path) -> None:
    assert compare("rate", written(tmp_path, "a.txt", text("rate-1-plain"))).version == "1-plain"
    assert compare("rate", written(tmp_path, "b.txt", TEXTS["rate"])).version == "1"


def test_another_text_is_no_copy(tmp_path: Path) -> None:
    told = compare("rate", written(tmp_path, "a.txt", TEXTS["edit"]))
    assert told.state is State.DEPARTS
    assert "no copy" in "\n".join(lines(tmp_path, told))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\r\n\x00\x01", "is no text: byte 6 is 0"),
        (b"caf\xe9", "is not UTF-8: byte 3 is 0xe9"),
        (b"x" * (2**20 + 1), "has more than 1 MiB"),
    ],
)
def test_what_is_no_text_is_told(data: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "it.txt"
    path.write_bytes(data)
    with pytest.raises(UserError, match=re.escape(complaint)):
        compare("verify", path)


def test_wrong_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="did you mean 'verify'"):
        compare("verfy", written(tmp_path, "a.txt", "x"))
    with pytest.raises(UserError, match="No such file"):
        compare("verify", tmp_path / "none.txt")


@pytest.mark.parametrize("name", ["it.txt", "it.py", "it.json", "it.toml", "it.ipynb", "it.jsonl"])
@pytest.mark.parametrize("words", ["the image " * 50_000, "{" * 450_000, "(" * 450_000, "[" * 450_000, "x\n" * 450_000])
def test_long_files_take_no_longer(words: str, name: str, tmp_path: Path) -> None:
    start = time.monotonic()
    middle = len(words) // 2
    path = written(tmp_path, name, words[:middle] + TEXTS["verify"] + words[middle:])
    assert compare("verify", path).state is State.DEPARTS
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "line", ["P = P + P", "P += P", "P = P.format(P)", "P = ','.join([P, P])", "ask(P + 'x')", "Q = P"]
)
def test_texts_that_grow_take_no_longer(line: str, tmp_path: Path) -> None:
    start = time.monotonic()
    path = written(tmp_path, "it.py", "P = '{} {0} %s' * 2 + 'word word' + '{}{0}'\n" + f"{line}\n" * 20_000)
    assert compare("verify", path).state is State.DEPARTS
    assert time.monotonic() - start < 10


def test_our_texts_have_all_their_parts() -> None:
    for name, ours in TEXTS.items():
        found = parts(name, ours)
        assert [part.title for part in found] == [title for title, _ in BEGINNINGS[name]]
        assert not ours[: found[0].start].strip()
        assert found[-1].end == len(ours)


def test_json_lists_everything(tmp_path: Path) -> None:
    words = TEXTS["verify"].replace("Score", "Grade")
    path = written(tmp_path, "a.txt", words)
    told = compare("verify", path)
    entry = json.loads(json.dumps(document(path, told)))
    assert entry["format"] == "onprompt.audit/1"
    assert entry["state"] == "departs"
    assert len(entry["differences"]) == len(told.hunks) > 5
    assert {"title", "kept", "words", "missing"} == set(entry["parts"][0])
