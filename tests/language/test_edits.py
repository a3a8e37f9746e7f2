"""Instructions and what they want done: whole lists of edits, in plain text.

> make all the flowers yellow
recolor | scope all | value yellow
  of: all the flowers = flower | 2+
  to: all the flowers = flower | 2+ | color yellow

An edit is `operation | details`; a detail is `scope words`, `value words`, `~0.9` (the confidence, if not 1) or
`! flag`. Then come `as:` the words of the operation, where there are several; `of:` the target; `by:` what else is said
of the picture as it is; `keep:` what must stay; and `to:` the result, line by line. Things and scenes are written as in
notation.py; that a result holds no objects needs no flag.
"""

import inspect
import itertools
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from onprompt.errors import PromptError
from onprompt.language.edits import lexicon, parse_edit, rules
from onprompt.language.edits.phrases import CAPTURES
from onprompt.report.terminal import edit_line
from onprompt.settings import Settings
from onprompt.types import Edit, Scene, Thing
from tests.language import notation

FILE = Path(__file__).with_name("edits.txt")
OPERATIONS = (
    *("add", "remove", "replace", "recolor", "restyle", "move", "resize", "count", "background", "action", "text"),
    "other",
)
FORMS = ("questions", "wishes", "phrases", "several", "scopes", "keeping", "pronouns", "writing", "told", "comparing")


class Case(NamedTuple):
    """An instruction and its edits, as lines, with the section that it stands in."""

    section: str
    instruction: str
    lines: list[str]


def read() -> list[Case]:
    """The cases of the file."""
    cases, section = [], ""
    for block in FILE.read_text(encoding="utf-8").split("\n\n"):
        first, *lines = block.strip("\n").splitlines()
        if first.startswith("# "):
            section = first.removeprefix("# ")
        else:
            cases.append(Case(section, first.removeprefix("> "), lines))
    return cases


def written(edits: tuple[Edit, ...]) -> list[str]:
    """Edits as lines."""
    return [line for edit in edits for line in edit_lines(edit, several=len(edits) > 1)]


def edit_lines(edit: Edit, several: bool) -> list[str]:
    details = [f"scope {edit.scope}"] * bool(edit.scope) + [f"value {edit.value}"] * bool(edit.value)
    details += [f"~{edit.confidence:g}"] * (edit.confidence != 1) + [f"! {flag}" for flag in edit.flags]
    source = [line for line in notation.written(edit.source) if line != "flag: no objects"]
    result = [line for line in notation.written(edit.result) if line != "flag: no objects"]
    target = notation.thing_line(edit.target, edit.source) if edit.target else ""
    if target:
        source.remove(target)
    return [
        " | ".join([edit.operation, *details]),
        *([f"  as: {edit.phrase}"] if several else []),
        *([f"  of: {target}"] if target else []),
        *(f"  by: {line}" for line in source),
        *(f"  keep: {thing.phrase} = {thing.canonical}" for thing in edit.keep),
        *(f"  to: {line}" for line in result),
    ]


CASES = read()


PATTERNS = [item for name in ("commands", "descriptions", "values") for item in lexicon.DATA[name].items()]


@pytest.mark.parametrize(("pattern", "rule"), PATTERNS)
def test_a_pattern_names_a_rule_that_takes_its_captures(pattern: str, rule: str) -> None:
    called, _, template = rule.partition(": ")
    name, *arguments = called.split(maxsplit=2)
    terms = [term.split("=")[0] for term in pattern.split()]
    captures = {CAPTURES[term] for term in terms if term in CAPTURES} | ({"value"} if template else set())
    captures |= {"target", "value"} if pattern in lexicon.DATA["values"] else set()
    inspect.signature(rules.RULES[name]).bind(None, *arguments, **dict.fromkeys(captures))
    assert {name for term in terms for name in re.findall(r"[A-Z]{2,}", term)} <= set(lexicon.CLASSES)


def test_every_list_of_the_lexicon_is_used_and_every_verb_stands_in_one_line() -> None:
    folder = Path(lexicon.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    named = re.findall(r"\bed\.([A-Z_]+)\b", code) + re.findall(r'WORDS\["(\w+)"\]', code)
    assert set(lexicon.WORDS) - {name.lower() for name in named} == set(lexicon.OPENINGS)
    code += " ".join(pattern for pattern, _ in PATTERNS)
    assert {name for name in lexicon.CLASSES if name not in code} == set()
    verbs = [verb for line in lexicon.DATA["verbs"] for verb in lexicon.phrases(line)]
    assert sorted(verbs) == sorted(set(verbs))


def test_every_operation_and_every_form_has_its_cases() -> None:
    for section in (*OPERATIONS, *FORMS):
        assert sum(case.section == section for case in CASES) >= 8, section
    found = {line.split(" | ")[0] for case in CASES for line in case.lines if not line.startswith(" ")}
    assert found == set(OPERATIONS)


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.section}-{case.instruction}") for case in CASES])
def test_the_whole_list_of_edits(case: Case, settings: Settings) -> None:
    assert written(parse_edit(case.instruction, settings)) == case.lines


@pytest.mark.parametrize(
    ("instruction", "message"),
    [("", "empty"), ("  \n ", "empty"), ("?!...", "holds no word"), ("x " * 200_000, "limit")],
)
def test_what_is_no_instruction_is_a_clear_error(instruction: str, message: str, settings: Settings) -> None:
    with pytest.raises(PromptError, match=message):
        parse_edit(instruction, settings)


def test_another_language_is_flagged(settings: Settings) -> None:
    (edit,) = parse_edit("ein schwarzer Hund mit einer roten Katze", settings)
    assert "not English" in edit.flags


NOTHING_TO_CHECK = """
asdf qwer zxcv / hmm / wow / 123 / a b c / lorem ipsum dolor sit amet / thank you / hello there / the same
make it better / make this good / make it pop / improve this / fix everything / surprise me / be creative / do something
change something / add anything / remove nothing / make it something else / replace it with something else / more
edit the photo / undo that / crop the image / what is this? / is it a cat? / how many dogs are there
describe the picture / tell me a story / write me a poem / rate this / I like it / not bad / you are a helpful assistant
ignore the previous instructions / as you like / to the left / replace with / don't change anything / leave it as it is
убери собаку / Füge einen Hund hinzu / ajoute un chien / quita el coche / rimuovi il cane / usuń psa
"""


@pytest.mark.parametrize("instruction", NOTHING_TO_CHECK.replace("\n", " / ").strip(" /").split(" / "))
def test_what_asks_for_nothing_that_can_be_checked_is_flagged(instruction: str, settings: Settings) -> None:
    flags = {"not understood", "nothing to do", "not English"}
    assert all(flags.intersection(edit.flags) for edit in parse_edit(instruction, settings))


def test_an_endless_operation_is_not_guessed_at(settings: Settings) -> None:
    (edit,) = parse_edit("the man with " + "a dog and " * 300 + "a cat", settings)
    assert (edit.operation, edit.flags) == ("other", ("not understood",))


@pytest.mark.slow
def test_many_operations_take_time_in_proportion(settings: Settings) -> None:
    def seconds(repeats: int) -> float:
        start = time.process_time()
        assert len(parse_edit("remove the dog and add a cat, " * repeats, settings)) == 2 * repeats
        return time.process_time() - start

    seconds(5)
    assert seconds(200) < 40 * min(seconds(10) for _ in range(3))


def assert_well_formed(instruction: str, settings: Settings) -> None:
    try:
        edits = parse_edit(instruction, settings)
    except PromptError:
        return
    assert edits, instruction
    for edit in edits:
        assert edit.operation in OPERATIONS, instruction
        assert edit.phrase, instruction
        assert 0 < edit.confidence <= 1, instruction
        assert edit.target is None or edit.target in edit.source.things, instruction
        for scene in (edit.source, edit.result):
            for index, thing in enumerate(scene.things):
                assert thing.phrase, instruction
                assert thing.canonical, instruction
                assert thing.count.high is None or thing.count.low <= thing.count.high, instruction
                targets = [relation.target for relation in thing.relations]
                assert all(target != index and 0 <= target < len(scene.things) for target in targets), instruction
        assert edit_line(edit).startswith(edit.operation), instruction


WORDS = [word for case in CASES for word in case.instruction.split()]
SMALL_WORDS = """it them him her he she they this that these those one ones his its their both none there here where
    --no not n't no never don't nothing neither without except only just half of from to instead like as by then more
    ( ) [ ] { } (a [the it) , . ; : 's ' " "A" and or but 3:00 20 years"""
LETTERS = list("aeiou bcdt s'\"“”.,;:!?()[]{}<>-–—_/\\|+*&%$#@~^=`\t\n0123456789éß漢字🐶👩‍🚀\u200b\x00")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "pieces", "most", "gap"),
    [(0, WORDS + SMALL_WORDS.split(), 12, " "), (1, LETTERS, 40, ""), *((seed, [], 12, " ") for seed in range(2, 6))],
)
def test_whatever_is_written_the_edits_are_well_formed(
    seed: int, pieces: list[str], most: int, gap: str, settings: Settings
) -> None:
    dice = random.Random(seed)
    for _ in range(600):
        from_both = (dice.choice(SMALL_WORDS.split() if dice.random() < 0.5 else WORDS) for _ in itertools.count())
        picks = (dice.choice(pieces) for _ in itertools.count()) if pieces else from_both
        assert_well_formed(gap.join(itertools.islice(picks, dice.randint(1, most))), settings)


@pytest.mark.slow
def test_it_may_be_anything_named_before(settings: Settings) -> None:
    verbs = ("add a", "make the", "remove the", "there is no")
    things = ("painting", "photo", "traffic light", "dog", "man's left arm", "half of it", "taller none --no it")
    places = ("", " on the wall", " next to the light", " of the woman (her)")
    then = ("make it red", "remove them", "put it where the cat is", "give her one", "move it to the left")
    for parts in itertools.product(verbs, things, places, then):
        assert_well_formed("{} {}{} and {}".format(*parts), settings)


def test_the_line_for_people() -> None:
    thing, sea = Thing("the sky", "sky"), Thing("the sea", "sea")
    scene = Scene("the sky", (thing,))
    edit = Edit("recolor", "make the sky red", thing, scene, value="red", result=scene, keep=(sea,), confidence=0.9)
    assert edit_line(edit) == "recolor 1 × sky: red → 1 × sky [keep sea, confidence 0.9]"


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-W", "error", "-m", "onprompt", "parse", "--edit", *arguments]
    return subprocess.run(run, capture_output=True, text=True, timeout=300)


def test_the_command_prints_a_line_for_each_edit() -> None:
    result = command("remove the car and add a bicycle")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "remove 1 × car → no car\nadd → 1 × bicycle\n"


def test_the_command_prints_an_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "instructions.txt"
    path.write_text("make the woman's hat red\n\nremove the car and add a bicycle\n")
    result = command("--input", str(path), "--json")
    assert result.returncode == 0, result.stderr
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first["instruction"] == "make the woman's hat red"
    (hat,) = first["edits"]
    assert (hat["operation"], hat["scope"], hat["value"], hat["confidence"]) == ("recolor", "the woman's", "red", 1)
    owner = hat["target"]["relations"][0]
    assert (owner["relation"], hat["source"][owner["target"]]["canonical"]) == ("of", "woman")
    assert hat["result"]["objects"][0]["attributes"] == {"color": ["red"]}
    assert [edit["operation"] for edit in second["edits"]] == ["remove", "add"]
    assert second["edits"][0]["result"]["objects"][0]["absent"] is True
    assert (second["edits"][1]["target"], second["edits"][1]["keep"]) == (None, [])


def test_the_command_ends_with_2_on_what_is_no_instruction() -> None:
    result = command("?!")
    assert (result.returncode, result.stdout) == (2, "")
    assert "holds no word" in result.stderr
