"""What a judge is doing, in words."""

STAGES = {
    "wait": "waiting for its turn",
    "open": "opening the pictures and loading what the judge needs",
    "parse": "reading the prompt",
    "compare": "comparing both versions",
    "detect": "looking for objects",
    "estimate": "estimating what no detector knows",
    "match": "matching what was asked for and what was found",
    "ask": "asking the model",
    "grade": "grading",
    "draw": "drawing the evidence",
}


def stage_words(stage: str) -> str:
    """A stage in words; one of another package by its own name."""
    return STAGES.get(stage, stage)
