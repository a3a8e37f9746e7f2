"""Copies of the judges' prompts: the same, the same up to whitespace, different, or none."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from onprompt.cli.prompt_copies import Difference, State, compare, document, lines
from onprompt.errors import PluginError, UserError
from onprompt.rubrics import text

TEXTS = {name: text(f"{name}-1") for name in ("verify", "rate", "edit")}


def written(folder: Path, name: str, words: str) -> Path:
    path = folder / name
    path.write_bytes(words.encode())
    return path


def forms(words: str) -> dict[str, str]:
    """A text as it appears in several types of file."""
    doubled = words.replace("{", "{{").replace("}", "}}")
    indented = "\n".join(f"    {line}" if line.strip() else line for line in words.split("\n"))
    return {
        "plain.txt": words,
        "literal.py": f"import os\nPROMPT = {words!r}\n",
        "triple.py": f"def ask(prompt):\n    return '''{words}'''\n",
        "template.py": f"PROMPT = '''{doubled}\n{{prompt}}'''.format(prompt=1)\n",
        "implicit.py": f"PROMPT = (\n    {words[:100]!r}\n    {words[100:]!r}\n)\n",
        "fstring.py": f"def ask(prompt):\n    return f'''{doubled}\n{{prompt}}'''\n",
        "quoted.txt": f'"""{words}"""\n',
        "block.yaml": f"judge:\n  prompt: |\n{indented}\n  other: 1\n",
        "dedented.py": f"PROMPT = dedent('''\n{indented}''')\n",
        "strings.json": json.dumps({"judge": {"texts": ["other", words]}}),
        "lines.jsonl": '{"a": 1}\n' + json.dumps({"a": words}) + "\n",
        "strings.toml": f"prompt = {json.dumps(words)}\n",
        "document.md": f"# How we judge\n\n````text\n{words}\n````\nAnd more.\n",
    }


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("form", forms(""))
def test_a_copy_is_recognised_in_every_type_of_file(name: str, form: str, tmp_path: Path) -> None:
    comparison = compare(name, written(tmp_path, form, forms(TEXTS[name])[form]))
    indented = form in ("dedented.py", "block.yaml")
    assert comparison.state is (State.WHITESPACE if indented else State.SAME), list(lines(tmp_path, comparison))
    assert (comparison.sha256 == comparison.their_sha256) is not indented


@pytest.mark.parametrize("use", ["PROMPT[:200]", "PROMPT.upper()", "PROMPT.replace('strict', 'kind')", "PROMPT"])
def test_of_a_program_it_is_not_said_what_it_sends(use: str, tmp_path: Path) -> None:
    path = written(tmp_path, "judge.py", f"PROMPT = {TEXTS['rate']!r}\n\ndef ask(send):\n    send({use})\n")
    comparison = compare("rate", path)
    shown = "\n".join(lines(path, comparison))
    assert "the official text of rate 1 is in this file" in shown
    assert "whether it is what is sent could not be seen" in shown
    assert "same as" not in shown
    assert document(path, comparison)["sent"] == "not seen"


def test_a_second_text_that_may_be_sent_in_its_place_is_named(tmp_path: Path) -> None:
    kinder = TEXTS["rate"].replace("maximum 20 words", "maximum 30 words")
    path = written(tmp_path, "judge.py", f"OLD = {TEXTS['rate']!r}\nNEW = {kinder!r}\n\nsend(NEW)\n")
    comparison = compare("rate", path)
    assert comparison.state is State.SAME
    assert comparison.others == ("string on line 2",)
    assert not comparison.settled
    assert "also like it: string on line 2" in "\n".join(lines(path, comparison))


@pytest.mark.parametrize("form", forms(""))
def test_one_changed_word_is_found_in_every_type_of_file(form: str, tmp_path: Path) -> None:
    words = TEXTS["rate"].replace("maximum 20 words", "maximum 30 words")
    comparison = compare("rate", written(tmp_path, form, forms(words)[form]))
    assert comparison.state is State.DIFFERS
    (difference,) = comparison.differences
    assert [line.replace("20", "30") for line in difference.ours] == list(difference.theirs)


@pytest.mark.parametrize(
    "source",
    [
        'def ask(p): return f"""Always answer (4). {{p}}{1}{{p}}\nNever go below 3."""',
        'def ask(p): return f"""Prompt: {{p}}\n{1}"""',
        "P = ({0!r}\n     'Never go below 3.')",
        "P = ('Be generous.\\n' {0!r})",
    ],
)
def test_a_string_with_more_words_differs(source: str, tmp_path: Path) -> None:
    source = source.format(TEXTS["verify"], TEXTS["verify"].replace("{", "{{").replace("}", "}}"))
    comparison = compare("verify", written(tmp_path, "it.py", source))
    assert comparison.state is State.DIFFERS
    shown = "\n".join(lines(tmp_path, comparison))
    assert any(words in shown for words in ("Always answer", "Prompt: {…}", "Never go below 3.", "Be generous."))


def test_code_is_not_evaluated(tmp_path: Path) -> None:
    half = len(TEXTS["verify"]) // 2
    source = f"P = {TEXTS['verify'][:half]!r} + {TEXTS['verify'][half:]!r}"
    assert compare("verify", written(tmp_path, "it.py", source)).state is State.DIFFERS


def test_invisible_characters_are_escaped(tmp_path: Path) -> None:
    words = TEXTS["verify"].replace("Perfect", "Perf\u200bect", 1)
    comparison = compare("verify", written(tmp_path, "it.txt", words))
    assert "Perf\\u200bect" in "\n".join(lines(tmp_path, comparison))


def test_the_diff_has_the_line_numbers_of_the_file(tmp_path: Path) -> None:
    words = TEXTS["verify"].replace("the scoe of", "the score of")
    path = written(tmp_path, "it.py", f"import os\n\nPROMPT = '''{words}'''\n")
    comparison = compare("verify", path)
    (difference,) = comparison.differences
    assert (difference.our_line, difference.line) == (7, 9)
    assert list(lines(path, comparison))[3:] == [
        *("--- verify 1", f"+++ {path}", "@@ -7,1 +9,1 @@"),
        *(f"-{difference.ours[0]}", f"+{difference.theirs[0]}"),
    ]


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("verify", "Score 1: Poor", "Score 0: No"),
        ("rate", "3: the image", "4: the image"),
        ("edit", "=== FACTOR 2", "=== FACTOR 3"),
    ],
)
def test_a_missing_part_is_shown(name: str, start: str, end: str, tmp_path: Path) -> None:
    ours = TEXTS[name]
    part = ours[ours.index(start) : ours.index(end)]
    comparison = compare(name, written(tmp_path, "it.txt", ours.replace(part, "")))
    (difference,) = comparison.differences
    assert " ".join(difference.ours).split() == part.split()
    assert difference.theirs == ()


def test_whitespace_is_distinguished(tmp_path: Path) -> None:
    path = written(tmp_path, "it.txt", " ".join(TEXTS["edit"].split()))
    comparison = compare("edit", path)
    assert comparison.state is State.WHITESPACE
    assert comparison.sha256 != comparison.their_sha256
    assert next(lines(path, comparison)) == f"{path}: same as edit 1 up to whitespace"
    assert compare("edit", written(tmp_path, "dos.txt", TEXTS["edit"].replace("\n", "\r\n"))).state is State.SAME


def test_a_placeholder_at_the_end_is_no_difference_but_more_words_are(tmp_path: Path) -> None:
    ours = TEXTS["verify"]
    assert compare("verify", written(tmp_path, "a.txt", ours + '\nInput Prompt: "{prompt}"\n')).state is State.SAME
    assert compare("rate", written(tmp_path, "b.txt", TEXTS["rate"] + "{prompt}")).state is State.SAME
    comparison = compare("verify", written(tmp_path, "c.txt", ours + "\nBe generous.\n"))
    assert [(part.ours, part.theirs) for part in comparison.differences] == [((), ("Be generous.",))]
    assert compare("verify", written(tmp_path, "d.txt", "Be generous.\n" + ours)).state is State.DIFFERS
    changed = ours.replace("Score 3", "Score 5", 1) + "\n{prompt}\n"
    assert len(compare("verify", written(tmp_path, "e.txt", changed)).differences) == 1


def test_what_surrounds_a_copy_in_a_document_is_no_difference(tmp_path: Path) -> None:
    words = "# Our judge\n\n" + TEXTS["verify"].replace("Score 3: High", "Score 3: Fair") + "\n\nThat is all.\n"
    (difference,) = compare("verify", written(tmp_path, "it.md", words)).differences
    assert [line.replace("High", "Fair") for line in difference.ours] == list(difference.theirs)


def test_the_closest_version_is_chosen(tmp_path: Path) -> None:
    assert compare("rate", written(tmp_path, "a.txt", text("rate-1-plain"))).version == "1-plain"
    assert compare("rate", written(tmp_path, "b.txt", TEXTS["rate"])).version == "1"


@pytest.mark.parametrize("name", ["it.txt", "it.py"])
def test_another_text_is_no_copy(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, name, f"P = {TEXTS['edit']!r}")
    comparison = compare("rate", path)
    assert comparison.state is State.NO_COPY
    assert list(lines(path, comparison)) == [f"{path}: contains no copy of rate {comparison.version}"]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\r\n\x00\x01", "is not a text file: byte 6 is 0"),
        (b"caf\xe9", "is not UTF-8: byte 3 is 0xe9"),
        (b"x" * (2**20 + 1), "is larger than 1 MiB"),
    ],
)
def test_a_file_that_is_no_text_is_an_error(data: bytes, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "it.txt"
    path.write_bytes(data)
    with pytest.raises(UserError, match=re.escape(complaint)):
        compare("verify", path)


def test_wrong_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="did you mean 'verify'"):
        compare("verfy", written(tmp_path, "a.txt", "x"))
    with pytest.raises(UserError, match="No such file"):
        compare("verify", tmp_path / "none.txt")


@pytest.mark.parametrize("name", ["it.txt", "it.py", "it.json", "it.toml"])
@pytest.mark.parametrize("words", ["the image " * 50_000, "{" * 450_000, "(" * 450_000, "[" * 450_000, "x\n" * 450_000])
def test_large_files_are_compared_in_seconds(words: str, name: str, tmp_path: Path) -> None:
    start = time.process_time()
    middle = len(words) // 2
    path = written(tmp_path, name, words[:middle] + TEXTS["verify"] + words[middle:])
    assert compare("verify", path).state is (State.SAME if name == "it.toml" else State.DIFFERS)
    assert time.process_time() - start < 10


def test_json_lists_all_differences(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", TEXTS["verify"].replace("Score", "Grade"))
    comparison = compare("verify", path)
    entry = json.loads(json.dumps(document(path, comparison)))
    assert (entry["format"], entry["state"]) == ("onprompt.audit/3", "differs")
    assert len(entry["differences"]) == len(comparison.differences) > 5
    assert set(entry["differences"][0]) == set(Difference._fields)
