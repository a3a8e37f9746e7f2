"""Models of a model hub or a folder: where they are, and which of their files hold the weights."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from onprompt.errors import NotFetched, OnpromptError, PluginError, UntrustedFile

# No code and no pickles, which could run code; chat templates run in transformers' sandbox.
PATTERNS = ("*.json", "*.txt", "*.jinja", "*.model", "model*.safetensors")
FINGERPRINT_BYTES = 65536  # hashed at both ends of a weight file
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def model_folder(model: str, revision: str | None = None) -> Path:
    """The folder of a model, downloaded unless it is in the hub's cache; a folder of the user's has no revisions."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, revision=revision, allow_patterns=PATTERNS))
    except Exception as error:  # of many types, all of which mean that the model can't be downloaded
        raise NotFetched(
            f"can't download the model {model!r}, and there is no such folder: {first_line(error)}\n"
            "What you can do: check the name (owner/model); connect to a network that reaches the hub; unset "
            "HF_HUB_OFFLINE if it is set; or copy the model to a folder and give its path: hf:/my/folder"
        ) from error


def weight_files(folder: Path) -> tuple[str, ...]:
    """The files that hold a model's weights, as safetensors: numbers and nothing else."""
    if (folder / WEIGHTS).is_file():
        return (str(folder / WEIGHTS),)
    if (folder / INDEX).is_file():
        shards = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
        return tuple(str(folder / shard) for shard in sorted(set(shards)))
    raise UntrustedFile(
        f"there is no {WEIGHTS} in {folder}. Weights in other formats (.bin, .pth) are pickles, which can run code "
        "when they are loaded, and are refused: use a model with safetensors, or convert this one"
    )


def fingerprint(folder: Path, files: Sequence[str]) -> str:
    """The hub's commit hash, or for a folder a hash of the sizes and both ends of its weight files."""
    if folder.parent.name == "snapshots":
        return folder.name
    digest = hashlib.sha256()
    for name in files:
        with Path(name).open("rb") as file:
            size = file.seek(0, 2)
            digest.update(f"{Path(name).name} {size} ".encode())
            for start in (0, max(0, size - FINGERPRINT_BYTES)):
                file.seek(start)
                digest.update(file.read(FINGERPRINT_BYTES))
    return digest.hexdigest()[:16]


def first_line(error: Exception) -> str:
    """The first line of another library's error message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def loading_errors(model: str) -> Iterator[None]:
    """Turn what transformers raises while it loads a model into our errors."""
    try:
        yield
    except OnpromptError:
        raise
    except ImportError as error:
        raise PluginError(f"{model} needs a library that onprompt[hf] does not install: {first_line(error)}") from error
    except Exception as error:  # a file from elsewhere in another library's loader: anything may go wrong
        raise UntrustedFile(f"can't load {model}: {first_line(error)}") from error
