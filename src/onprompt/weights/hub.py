"""Models of the Hugging Face hub in its own cache, which other tools share."""

import re
from collections.abc import Callable
from pathlib import Path

from onprompt.errors import NotFetched, UntrustedFile
from onprompt.settings import Settings

NAME = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")  # OWNER/REPO
PATTERNS = ("*.json", "*.txt", "*.jinja", "*.xml", "*.bin", "*.md")  # no code
CODE = "pytorch_model*"  # pickles, which can run code
PERMISSIVE = ("apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause")


def is_name(model: str) -> bool:
    """Whether this may be a model on the hub."""
    return bool(NAME.fullmatch(model))


def cached(model: str) -> Path | None:
    """The folder of a model that was downloaded before."""
    import huggingface_hub

    if not is_name(model):
        return None
    try:
        return download(model, local_files_only=True)
    except (huggingface_hub.errors.LocalEntryNotFoundError, ValueError):
        return None


def pull(model: str, settings: Settings, say: Callable[[str], None]) -> Path:
    """Download a model, after a line with its licence and its size; what is there already is kept."""
    import huggingface_hub

    try:
        about = huggingface_hub.HfApi().model_info(model, files_metadata=True)
        licence = next((tag.partition(":")[2] for tag in about.tags or () if tag.startswith("license:")), "unknown")
        files = [file for file in about.siblings or () if Path(file.rfilename).suffix in (".xml", ".bin")]
        say(f"{model}: {sum(file.size or 0 for file in files) / 1e9:.2f} GB, licence {licence}")
        if settings.permissive and licence not in PERMISSIVE:
            raise UntrustedFile(f"{model} has the licence {licence}, which the setting permissive refuses")
        return download(model)
    except Exception as error:  # of many types, all of which mean that the model can't be downloaded
        if isinstance(error, UntrustedFile):
            raise
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise NotFetched(f"can't download {model}: {reason}") from error


def download(model: str, **options: bool) -> Path:
    """The folder of a model in the hub's cache, with all its files."""
    import huggingface_hub

    return Path(huggingface_hub.snapshot_download(model, allow_patterns=PATTERNS, ignore_patterns=CODE, **options))
