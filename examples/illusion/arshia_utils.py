"""What seed 004 says that `arshia_utils.py` does when it scores, told again in our words."""


def recall_match(pred: str, gt: str) -> int:
    """Whether a label is in an answer, in lower case, also with spaces for its underscores or for its hyphens."""
    answer, label = pred.strip().lower(), gt.strip().lower()
    if not answer or not label:
        return 0
    return int(label in answer or label.replace("_", " ") in answer or label.replace("-", " ") in answer)
