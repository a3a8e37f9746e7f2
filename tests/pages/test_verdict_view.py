"""What a page shows of a verdict: the checks in words, the boxes that belong to them, and any text as text."""

import re
from dataclasses import replace

import pytest

from onprompt.pages.rendering import asset, environment, policy, render
from onprompt.pages.verdict_view import PageImage, verdict_view
from onprompt.report import view
from onprompt.types import (
    Box,
    Check,
    Claim,
    Count,
    Decoded,
    EditEvidence,
    FactorScore,
    Finding,
    Found,
    ObjectChange,
    Outcome,
    Picture,
    PromptEvidence,
    Sample,
    Scene,
    Sighting,
    Thing,
    Verdict,
)
from onprompt.wording.labels import OUTCOMES, SIGNS

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}{% raw %}\"'><img src=x onerror=alert(1)>\x1b[31m\u202eevil"
SHOWN = PageImage("cup.jpg", 400, 300)
CARD = '{% from "verdict.html" import verdict %}{{ verdict(view, "s1") }}'


def undecoded() -> Decoded:
    raise AssertionError("a view needs no pixels")


def made(prompt: str = "two cups on a table", words: str = "cup") -> Verdict:
    """A verdict on a cup and a table, found one over the other, and a laptop that is missing."""
    cup = Sighting(words, words, Box(0.2, 0.2, 0.5, 0.6), 0.9, "detector")
    table = Sighting("table", "table", Box(0.0, 0.4, 1.0, 1.0), 0.8, "detector")
    things = (Thing("two cups", words, Count(2, 2)), Thing("a table", "table"), Thing("a laptop", "laptop"))
    seen = Finding(Found.DETECTED, number=1, confidences=(0.9,))
    checks = (
        Check(Claim("object", "two cups", words), seen, Outcome.MATCHED, 0.9, "detector", 0, cup.box, (cup,)),
        Check(
            Claim("count", name=words, count=Count(2, 2)),
            Finding(Found.COUNTED, number=1),
            *(Outcome.MISMATCH, 0.1, "detector", 0),
        ),
        Check(
            Claim("relation", "on", words, target="a table"),
            Finding(Found.RELATED, probability=0.8),
            *(Outcome.MATCHED, 0.8, "boxes", 0, cup.box),
        ),
        Check(Claim("object", "a table", "table"), seen, Outcome.MATCHED, 0.8, "detector", 1, None, (table,)),
        Check(Claim("object", "a laptop", "laptop"), Finding(Found.MISSING), Outcome.MISSING, 0.1, "detector", 2),
    )
    evidence = PromptEvidence(Scene(prompt, things), (cup, table))
    sample = Sample("s", prompt, Picture("cup.jpg", "0" * 64, undecoded))
    factors = {"score": FactorScore(2, prompt)}
    return Verdict("test", "evidence", sample, 0.5, factors, prompt, ("needs_review",), checks, evidence=evidence)


def test_each_box_knows_the_checks_of_its_object_and_of_relations_to_it() -> None:
    view = verdict_view(made(), {"image": SHOWN}, {"score": range(5)})
    table, cup = view.pictures[0].boxes
    assert (table.label, cup.label) == ("table", "cup"), "the small one lies on top"
    assert (cup.checks, table.checks) == ((0, 1, 2), (2, 3))
    assert (cup.kind, table.kind) == ("mismatch", "matched"), "the worst of an object's checks"
    assert view.located == {0, 1, 2, 3}
    assert view.checks[-1].found == "none"


def test_what_no_claim_names_has_a_box_without_a_label() -> None:
    spoon = Sighting("spoon", "spoon", Box(0.6, 0.6, 0.7, 0.9), 0.9, "detector")
    evidence = PromptEvidence(Scene("cups"), (spoon,), extras=(spoon,))
    first, *named = verdict_view(replace(made(), evidence=evidence), {"image": SHOWN}).pictures[0].boxes
    assert (first.title, first.label, first.checks) == ("spoon, not in the prompt", "", ())
    assert [box.label for box in named] == ["table", "cup"]


def test_text_has_its_box_also_where_no_object_bears_it() -> None:
    verdict = made()
    sign = Sighting("text", "text", Box(0.1, 0.1, 0.4, 0.2), 0.9, "ocr", text="OPEM")
    finding = Finding(Found.MEASURED, value='"OPEM"')
    check = Check(Claim("text", "OPEN", "cup"), finding, Outcome.PARTIAL, 0.6, "ocr", 0)
    evidence = PromptEvidence(Scene("a sign"), (sign,))
    view = verdict_view(replace(verdict, checks=(check,), evidence=evidence), {"image": SHOWN})
    (box,) = view.pictures[0].boxes
    assert (box.label, box.kind, box.checks) == ('"OPEM"', "partial", (0,))


def test_both_versions_of_an_edit() -> None:
    cup = Sighting("cup", "cup", Box(0.2, 0.2, 0.5, 0.6), 0.9, "detector")
    changes = (ObjectChange("removed", before=cup), ObjectChange("unchanged", cup, cup))
    picture = Picture("cup.jpg", "0" * 64, undecoded)
    sample = Sample("s", "remove the cup", picture, {"before": picture})
    verdict = replace(made(), sample=sample, checks=(), evidence=EditEvidence((), objects=changes, regions=(cup.box,)))
    before, after, changed = verdict_view(verdict, {"image": SHOWN, "before": SHOWN, "changed": SHOWN}).pictures
    assert [box.kind for box in before.boxes] == ["kept", "unasked"], "what changed lies on top"
    assert [box.kind for box in after.boxes] == ["kept"]
    assert [box.kind for box in changed.boxes] == ["region"]


@pytest.mark.parametrize("text", [HOSTILE, "x" * 10_000, HOSTILE * 100])
def test_any_text_is_shown_as_text(text: str) -> None:
    verdict = replace(made(text, text), flags=(text,), judge=text)
    html = environment().from_string(CARD).render(view=verdict_view(verdict, {"image": SHOWN}))
    assert "<script" not in html
    assert "onerror=alert(1)>" not in html
    assert not re.search("[\x1b\u202e]", html)
    assert "49" not in re.sub(r'(x|y|width|height|points)="[\d.]+"', "", html), "no template within a template"


def test_every_outcome_has_a_sign_and_a_colour_that_pages_and_pictures_share() -> None:
    assert set(SIGNS) == set(OUTCOMES) == set(Outcome) < set(view.COLORS)
    style = asset("style.css")
    names = {"good": view.GOOD, "weak": view.WEAK, "bad": view.BAD, "neutral": view.NEUTRAL}
    assert all(f"--box-{name}: {colour};" in style for name, colour in names.items())


def test_the_frame_of_a_page_allows_nothing_from_elsewhere() -> None:
    html = render("page.html", title=HOSTILE, csp=policy(connect_src="'self'"), links=[("Report", "index.html")])
    assert "default-src &#39;none&#39;" in html
    assert "://" not in html
