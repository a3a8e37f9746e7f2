"""A pytest plug-in: `assert_shows` and `assert_edit`. It imports nothing until a test uses it.

    def test_hero_image(assert_shows):
        assert_shows("hero.png", "two red cups on a table", at_least=3)

    def test_removal(assert_edit):
        assert_edit("before.png", "after.png", "remove the cup")

As functions, for helpers of your own: `from onprompt.pytest_plugin import assert_edit, assert_shows`.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

TYPE_CHECKING = False  # not imported from typing, for the time that takes
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from onprompt.types import Rubric, Verdict

FOLDER = "onprompt-failures"
NOTHING = "nothing in the prompt could be checked, so this test can't tell"
ACCEPTED = {"alignment": 5}  # from which people accept an edit (docs/edits.md)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--onprompt-artifacts DIR`, also as `onprompt_artifacts` in the configuration file."""
    words = "Where assert_shows and assert_edit write the annotated picture of a failed assertion."
    parser.getgroup("onprompt").addoption("--onprompt-artifacts", default=None, metavar="DIR", help=words)
    parser.addini("onprompt_artifacts", words, default=FOLDER)


@pytest.fixture(name="assert_shows")
def assert_shows_fixture(request: pytest.FixtureRequest) -> Any:
    """`assert_shows`, with pictures named after the test."""
    return with_pictures(assert_shows, request)


@pytest.fixture(name="assert_edit")
def assert_edit_fixture(request: pytest.FixtureRequest) -> Any:
    """`assert_edit`, with pictures named after the test."""
    return with_pictures(assert_edit, request)


def with_pictures(assertion: Callable[..., Verdict], request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """An assertion whose pictures are named after the test; JUnit XML gets their paths as properties."""
    chosen = request.config.getoption("--onprompt-artifacts") or request.config.getini("onprompt_artifacts")
    stem = re.sub(r"[^\w.-]+", "_", request.node.nodeid)[-150:]

    def check(*inputs: Any, **options: Any) -> Verdict:
        __tracebackhide__ = True
        options = {"artifacts": request.config.rootpath / chosen, "name": stem} | options
        return assertion(*inputs, on_picture=keep, **options)

    def keep(path: str) -> None:  # as record_property does, which warns of JUnit's newer format
        request.node.user_properties.append(("onprompt_picture", path))

    return check


def assert_edit(
    before: Any,
    after: Any,
    instruction: str,
    *,
    at_least: float | Mapping[str, float] | None = None,
    value: float | None = None,
    **options: Any,
) -> Verdict:
    """Assert that an edited image carries out an instruction, and return the verdict.

    As `assert_shows`, but by default the limit is alignment 5, from which people accept an edit; `options` also take a
    `mask`.
    """
    __tracebackhide__ = True
    from onprompt.api import edit

    wanted = ACCEPTED if at_least is None and value is None else at_least
    given = {"rubric": edit.__name__, "before": before, "at_least": wanted, "value": value}  # functions bear its name
    return assert_shows(after, instruction, **given, **options)


def assert_shows(
    image: Any,
    prompt: str,
    *,
    at_least: float | Mapping[str, float] | None = None,
    value: float | None = None,
    rubric: str = "",
    artifacts: str | Path | None = FOLDER,
    name: str = "",
    on_picture: Callable[[str], None] | None = None,
    **options: Any,
) -> Verdict:
    """Assert that an image shows what a prompt asks for, and return the verdict.

    `at_least` is a score on the rubric's scale, of all factors or by factor (by default the highest), `value` a limit
    between 0 and 1; `options` are those of `onprompt.verify`: judge, model, models, settings, major, frame. A rubric of
    edits takes the edited image, the instruction, and `before`. Where nothing could be checked, it fails.
    """
    __tracebackhide__ = True
    from onprompt.api import judge_one, judge_settings
    from onprompt.rubrics import DEFAULT
    from onprompt.samples import load_rubric

    protocol = load_rubric(rubric or DEFAULT)
    chosen = {key: options.pop(key) for key in ("judge", "model", "models", "settings") if key in options}
    item = {protocol.picture: image, protocol.prompt: prompt, **options}
    best = {} if value is not None else {name: scale[-1] for name, scale in protocol.factors.items()}
    wanted = best if at_least is None else at_least
    if isinstance(wanted, int | float):
        wanted = dict.fromkeys(protocol.factors, wanted)
    check_scale(wanted, protocol)
    verdict = judge_one(protocol, item, judge_settings(**chosen))
    if faults := shortfalls(verdict, wanted, value):
        picture = save_picture(verdict, Path(artifacts), name) if artifacts is not None else ""
        if picture and on_picture:
            on_picture(picture)
        raise AssertionError(message(verdict, faults, picture))
    return verdict


def check_scale(wanted: Mapping[str, float], rubric: Rubric) -> None:
    """Refuse a limit on a score that the rubric can't give."""
    from onprompt.errors import UserError
    from onprompt.plugins import did_you_mean

    for name, least in wanted.items():
        if name not in rubric.factors:
            raise UserError(f"the rubric {rubric.name} has no factor {name!r}{did_you_mean(name, rubric.factors)}")
        if not (scale := rubric.factors[name])[0] <= least <= scale[-1]:
            raise UserError(f"at_least={least:g}: {name} is {scale[0]} to {scale[-1]}")


def shortfalls(verdict: Verdict, wanted: Mapping[str, float], value: float | None) -> list[str]:
    """What the verdict lacks; empty if it is good enough."""
    from onprompt.types import Flag

    if Flag.NOT_VERIFIABLE in verdict.flags:
        return [NOTHING]
    scores = {name: factor.score for name, factor in verdict.factors.items()}
    faults = [
        f"{name} {scores.get(name)}, at least {least:g} expected"
        for name, least in wanted.items()
        if scores.get(name, -math.inf) < least
    ]
    if value is not None and verdict.value < value:
        faults.append(f"value {verdict.value:.2f}, at least {value:g} expected")
    return faults


def save_picture(verdict: Verdict, folder: Path, name: str) -> str:
    """Draw the verdict into a folder; a number keeps several pictures of one test apart."""
    from onprompt.report.picture import save

    folder.mkdir(parents=True, exist_ok=True)
    stem = name or re.sub(r"[^\w.-]+", "_", verdict.sample.id or "image")[-150:]
    path = folder / f"{stem}.png"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}.png"
        number += 1
    save(verdict, path)
    return str(path)


def message(verdict: Verdict, faults: list[str], picture: str) -> str:
    """What the assertion says: what was expected, each difference, and where the picture is."""
    from onprompt.wording import differences
    from onprompt.wording.terminal import printable

    failed = "does not carry out" if verdict.sample.pictures else "does not show"  # there is one from before
    lines = [f"{verdict.sample.id or 'the image'} {failed} {verdict.sample.prompt!r}: {'; '.join(faults)}"]
    lines += [f"  {asked}: {found}" for asked, found in differences(verdict)]
    lines += [f"  {verdict.summary}"] if len(lines) == 1 else []
    lines += [f"  picture: {picture}"] if picture else []
    return printable("\n".join(lines))
