"""What verdicts warn of."""

from enum import StrEnum


class Flag(StrEnum):
    """A warning on a verdict; beside these there are those of a rubric's own (`reasoning_too_long`)."""

    NOT_VERIFIABLE = "not_verifiable"  # nothing could be checked: the score is a placeholder, and stays out of means
    LOW_CONFIDENCE = "low_confidence"
    NEEDS_REVIEW = "needs_review"
    ASKED_AGAIN = "asked_again"  # an answer could not be read
    SOME_ANSWERS_UNREADABLE = "some_answers_unreadable"
    MODEL_UNREADABLE = "model_unreadable"
    MODEL_FAILED = "model_failed"  # a model of the jury could not be asked, so the verdict holds until it can be
    NO_SECOND_ANSWER = "no_second_answer"
    YES_NOT_KNOWN = "yes_not_known"
    JUDGES_DISAGREE = "judges_disagree"
    USAGE_ESTIMATED = "usage_estimated"
