"""Short words for outcomes, and what flags mean and which of them ask a person to look at the sample."""

from onprompt.types import Flag, Outcome

OUTCOMES = {  # of outcomes: of a prompt's claims, and of an edit's
    Outcome.MATCHED: ("matched", "done"),
    Outcome.PARTIAL: ("in part", "in part"),
    Outcome.MISMATCH: ("wrong", "wrong"),
    Outcome.MISSING: ("missing", "not done"),
    Outcome.LOW_CONFIDENCE: ("uncertain", "uncertain"),
    Outcome.UNVERIFIABLE: ("not checked", "not checked"),
}
SIGNS = {  # never color alone
    Outcome.MATCHED: "✓",
    Outcome.PARTIAL: "◐",
    Outcome.MISMATCH: "✗",
    Outcome.MISSING: "✗",
    Outcome.LOW_CONFIDENCE: "?",
    Outcome.UNVERIFIABLE: "–",
}
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
# A rubric's own flags are information, too.
MEANINGS = {str(flag): words for flag, words in (LOOK | INFORMATION).items()}
