"""Models of a model hub or of a folder: where they lie, and which of their files hold the weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onprompt.errors import NotFetched, OnpromptError, PluginError, UntrustedFile

# Neither programs nor pickles, which could run some; a chat's template runs in a sandbox of transformers'.
WANTED = ("*.json", "*.txt", "*.jinja", "*.model", "model*.safetensors")
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def folder_of(model: str) -> Path:
    """The folder of a model; what the hub's cache on this disk has not is fetched."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, allow_patterns=WANTED))
    except Exception as error:  # they are of many families, and all say that the model is not to be had
        raise NotFetched(
            f"can't get the model {model!r}: it is no folder here, and the hub's client says: {first_line(error)}\n"
            f"What you can do: check the name (owner/model); connect to a network that reaches the hub; unset "
            f"HF_HUB_OFFLINE if it is set; or copy the model into a folder and name that: hf:/my/folder"
        ) from error


def weight_files(folder: Path) -> tuple[str, ...]:
    """The files that hold a model's weights, as safetensors: numbers and nothing else."""
    if (folder / WEIGHTS).is_file():
        return (str(folder / WEIGHTS),)
    if (folder / INDEX).is_file():
        parts = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
        return tuple(str(folder / part) for part in sorted(set(parts)))
    raise UntrustedFile(
        f"there is no {WEIGHTS} in {folder}. Weights in another format (.bin, .pth) are pickles, which can run "
        f"programs when they are read, and are refused: take a model that has safetensors, or convert this one"
    )


def first_line(error: Exception) -> str:
    """What an error of another library says, in short."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


@contextmanager
def clear_errors(model: str) -> Iterator[None]:
    """Turn what transformers says of a model into errors of ours."""
    try:
        yield
    except OnpromptError:
        raise
    except ImportError as error:
        raise PluginError(f"{model} needs a library that onprompt[hf] does not bring: {first_line(error)}") from error
    except Exception as error:  # a foreign file in a foreign reader: anything may go wrong
        raise UntrustedFile(f"can't load {model}: {first_line(error)}") from error
