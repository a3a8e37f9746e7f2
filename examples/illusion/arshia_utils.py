"""The scoring of `arshia_utils.py` as an earlier review describes it (docs/illusion.md), rewritten."""


def recall_match(pred: str, gt: str) -> int:
    """Whether a label is in an answer, ignoring case, also with spaces for its underscores or hyphens."""
    answer, label = pred.strip().lower(), gt.strip().lower()
    if not answer or not label:
        return 0
    return int(label in answer or label.replace("_", " ") in answer or label.replace("-", " ") in answer)
