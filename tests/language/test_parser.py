"""What the parser promises of every prompt; the scenes of many are in tests/language/scenes."""

import random
import time
from pathlib import Path

import pytest

from onprompt.errors import PromptError
from onprompt.language import parse
from onprompt.settings import Settings
from tests.language.notation import read, written

pytestmark = pytest.mark.slow

SCENES = sorted(Path(__file__).with_name("scenes").glob("*.txt"))


def test_quantifiers_follow_the_settings(settings: Settings) -> None:
    other = settings.model_copy(update={"few_low": 5, "few_high": 6, "pair": 3})
    few, couple = parse("few birds and a couple of cats", other).things
    assert (few.count.low, few.count.high) == (5, 6)
    assert couple.count.exact == 3


def test_quoted_text_keeps_its_case_and_curly_quotes_are_quotes(settings: Settings) -> None:
    lines = written(parse("a poster reading “Café 24h”", settings))
    assert lines == ["a poster = poster | 1 | text Café 24h", "text: Café 24h"]


def test_flags_and_the_confidence_of_a_misspelt_word(settings: Settings) -> None:
    assert parse("many dogs", settings).flags == ("ambiguous quantifier",)
    assert parse("🐶", settings).flags == ("no objects",)
    assert parse("a dog", settings).flags == ()
    assert parse("un gato negro sobre una mesa de madera", settings).flags[0] == "not English"
    scene = parse("a rde bal and a cup", settings)
    assert "misspelling repaired" in scene.flags
    assert scene.things[0].confidence < scene.things[1].confidence == 1


@pytest.mark.parametrize("prompt", ["", "   ", "...", "\n\t"])
def test_a_prompt_without_a_word_is_refused(prompt: str, settings: Settings) -> None:
    with pytest.raises(PromptError):
        parse(prompt, settings)


def test_a_prompt_takes_a_few_ms(settings: Settings) -> None:
    prompts = [case.prompt for path in SCENES if path.stem != "long" for case in read(path)]

    def milliseconds() -> float:
        start = time.process_time()
        for prompt in prompts:
            parse(prompt, settings)
        return 1000 * (time.process_time() - start) / len(prompts)

    milliseconds()
    assert min(milliseconds() for _ in range(3)) < 8  # 4 on an idle machine


@pytest.mark.parametrize(
    "sentence",
    [
        *("a red ball next to two dogs and a cat on the left. ", "The dog is on it. ", "a dog on a mat in a room, "),
        *("(cat:1.2), ", 'a sign that says "A" and ', "her hat and his dog and the other one "),
    ],
)
def test_time_grows_with_the_length_and_no_faster(sentence: str, settings: Settings) -> None:
    unlimited = settings.model_copy(update={"max_prompt_characters": 200_000})

    def seconds(words: int) -> float:
        start = time.process_time()
        parse.__wrapped__(sentence * (words // len(sentence.split())), unlimited)
        return time.process_time() - start

    seconds(100)
    short, long = min(seconds(1000) for _ in range(3)), seconds(10_000)
    assert long < 20 * short


MARKS = 'not|no|or|and|"A"|at most|2-3|of|the|,|.|without|(|)|:1.2|--ar|🐶'
PRONOUNS = "it they them he him she her his its their both who which there goes has appears turns n't isn't --no none"


@pytest.mark.parametrize("prompt", ["there goes it", "there has it on the table", "but there turn they", "it it it"])
def test_a_pronoun_that_leads_to_itself_means_nobody(prompt: str, settings: Settings) -> None:
    assert not parse(prompt, settings).things or parse(prompt, settings).things[0].canonical == "table"


def test_whatever_is_written_the_scene_is_well_formed(settings: Settings) -> None:
    prompts = [case.prompt for path in SCENES for case in read(path)]
    words = [*" ".join(prompts).split(), *MARKS.split("|") * 20, *PRONOUNS.split() * 10]
    dice = random.Random(0)
    for _ in range(1500):
        prompt = " ".join(dice.choice(words) for _ in range(dice.randint(1, 14)))
        try:
            things = parse(prompt, settings).things
        except PromptError:
            continue
        for index, thing in enumerate(things):
            assert 0 < thing.importance <= 100, prompt
            assert thing.phrase, prompt
            assert thing.canonical, prompt
            assert thing.count.high is None or thing.count.low <= thing.count.high, prompt
            targets = [relation.target for relation in thing.relations]
            assert all(target != index and 0 <= target < len(things) for target in targets), prompt
            assert all(attribute.kind and attribute.value for attribute in thing.attributes), prompt
            assert thing.part_of is None or thing.part_of != index, prompt


@pytest.mark.parametrize(
    "unit", ["two red cups on a wooden table, ", "A dog sits next to a cat. ", "a red ", "no ", "猫"]
)
def test_the_longest_prompt_takes_little_time(unit: str, settings: Settings) -> None:
    """In time of the processor, for others may be at work; each of these takes about half a second of an idle one."""
    parse("a cup", settings)  # which loads the model
    prompt = (unit * settings.max_prompt_characters)[: settings.max_prompt_characters]
    start = time.process_time()
    parse(prompt, settings)
    assert time.process_time() - start < 4


def test_a_text_without_blanks_takes_no_longer_than_others(settings: Settings) -> None:
    longer = settings.model_copy(update={"max_prompt_characters": 200_000})
    parse("a cup", settings)
    start = time.process_time()
    parse("猫" * 100_000, longer)
    assert time.process_time() - start < 2, "not the square of its length"
