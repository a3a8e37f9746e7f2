"""Short words for outcomes and errors, and what flags mean and which of them ask a person to look at the sample."""

from onprompt.types import Flag, Outcome

OUTCOMES = {  # of outcomes: of a prompt's claims, and of an edit's
    Outcome.MATCHED: ("matched", "done"),
    Outcome.PARTIAL: ("in part", "in part"),
    Outcome.MISMATCH: ("wrong", "wrong"),
    Outcome.MISSING: ("missing", "not done"),
    Outcome.LOW_CONFIDENCE: ("uncertain", "uncertain"),
    Outcome.UNVERIFIABLE: ("not checked", "not checked"),
}
SIGNS = dict(zip(OUTCOMES, "✓◐✗✗?–", strict=True))  # never color alone
LOOK = {
    Flag.NEEDS_REVIEW: "uncertain: a person should look at it",
    Flag.NOT_VERIFIABLE: "nothing could be checked: the score is a placeholder and enters no mean",
    Flag.LOW_CONFIDENCE: "detected with low confidence",
    Flag.JUDGES_DISAGREE: "the judges disagree",
    Flag.MODEL_FAILED: "a model could not be asked",
    Flag.MODEL_UNREADABLE: "a model's answer could not be read",
}
INFORMATION = {
    Flag.SOME_ANSWERS_UNREADABLE: "some of the repeated answers could not be read",
    Flag.ASKED_AGAIN: "an answer could not be read, so the model was asked again",
    Flag.USAGE_ESTIMATED: "tokens are estimated",
}
SEEN = {  # by the evidence judge
    "stylized": "drawn, painted or rendered, not a photo",
    "several_candidates": "more than one object fits, and one was chosen",
    "occluded": "an object is hidden in part",
    "blank_image": "the image shows nothing",
    "whole_picture_differs": "style, light or place are not what the prompt asks for",
    "one_frame_of_an_animation": "only one frame was judged",
    "matcher_uncalibrated": "the matcher's estimates are not calibrated",
    "prompt_truncated": "the prompt is too long for the matcher",
    "misspelling repaired": "a word of the prompt was misspelled",
    "ambiguous quantifier": "the prompt has a vague number, such as some",
    "not English": "the prompt is not in English",
    "no objects": "the prompt names no object",
    "definition": "the prompt describes a thing without naming it",
    "abstract": "the prompt names a concept, which has no look",
    "not understood": "the instruction was not understood",
    "unchanged": "both versions are the same",
    "nothing_to_change": "what the instruction is about was not found",
    "redrawn": "the image was redrawn as a whole",
    "another_image": "the result is another image, not an edit",
    "broken": "the edited image is one color or noise",
    "other_frame": "the edited image is turned or cropped",
}
# A rubric's own flags are information, too.
MEANINGS = {str(flag): words for flag, words in (LOOK | INFORMATION).items()} | SEEN

KINDS = {  # what all claims of a kind are called together, the usual kinds first; others by their own name
    "object": "objects",
    "count": "stated counts",
    "implied count": "counts of “a”",
    "color": "colors",
    "relation": "relations",
    "text": "text",
    "action": "actions",
    "property": "image properties",
    "whole": "prompt as a whole",
    "other": "other attributes",
    "state": "states",
    "style": "styles",
    "kind": "subtypes",
    "size": "sizes",
    "material": "materials",
    "shape": "shapes",
    "expression": "expressions",
    "position": "positions",
}
ERRORS = {  # kinds of errors, where the kind itself is no word
    "bad_row": "unreadable row",
    "bad_json": "invalid JSON",
    "ImageError: an address": "URL in place of a file",
    "ImageError: no name": "no file name",
    "ImageError: no picture": "not an image",
    "ServerTrouble": "server",
    "Rejected": "rejected request",
    "BudgetSpent": "budget spent",
    "WorkerLost": "lost worker",
}


def error_words(kind: str) -> str:
    """The kind of an error as users read it: `missing image`, `image too large`, `server: timeout`."""
    name, _, detail = kind.partition(": ")
    if kind in ERRORS or not detail:
        return ERRORS.get(kind, kind.replace("_", " "))
    if name == "ImageError":
        return f"image {detail}" if " " in detail else f"{detail} image"
    return f"{ERRORS.get(name, name)}: {detail}"
