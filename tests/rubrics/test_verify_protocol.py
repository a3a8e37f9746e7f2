"""What `--protocol` prints, and what is made of a model's lists."""

import json

from onprompt.rubrics import edit, rate, verify
from onprompt.types import Decoded, FactorScore, Picture, Sample, Verdict


def unseen() -> Decoded:
    raise AssertionError


SAMPLE = Sample("case-17", "A noble man and two owls", Picture("image.png", "0" * 64, unseen))
ANSWER = """Step 1: ["A noble man", "Two owls"]
Step 2: ["A noble woman", "Two owls", "A shirt"]
Step 3&4: [("A noble man", "A noble woman")]
Step 5:
(3)"""


def test_a_models_lists_are_kept() -> None:
    reading = verify.read(ANSWER, SAMPLE)
    assert reading.stated == {
        "prompt": ("A noble man", "Two owls"),
        "image": ("A noble woman", "Two owls", "A shirt"),
    }
    by_schema = json.dumps({"prompt_objects": ["a cat"], "image_objects": ["a dog"], "differences": [], "score": 1})
    assert verify.read(by_schema, SAMPLE).stated == {"prompt": ("a cat",), "image": ("a dog",)}


def test_a_bare_score_is_not_summed_up_as_a_match() -> None:
    assert verify.read("(0)", SAMPLE).summary == "The model gave a score of 0 and no reason."
    assert verify.read('Step 1: ["a cat"]\n(1)', SAMPLE).summary == "The model gave (1) but named no difference."
    assert verify.read('Step 1: ["a cat"]\n(4)', SAMPLE).summary == "The image matches the prompt."


def test_the_protocols_own_output() -> None:
    one = {"score": FactorScore(2, "The cup is missing.")}
    rated = Verdict("rate", "vlm", SAMPLE, 0.25, one, "The cup is missing.")
    assert rate.protocol(rated) == "Reasoning: The cup is missing.\nScore: 2"
    factors = {name: FactorScore(5, "word " * 20) for name in edit.FACTORS}
    edited = edit.protocol(Verdict("edit", "vlm", SAMPLE, 0.7, factors, ""))
    reading = edit.read(edited, SAMPLE)
    assert reading.scores == dict.fromkeys(edit.FACTORS, 5), "it is what the seed asks a model for"
