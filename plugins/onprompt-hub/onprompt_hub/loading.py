"""What all models of a hub share: their folder, their weights, and the device that they run on."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import huggingface_hub
import torch
import transformers

from onprompt.errors import NotFetched, OnpromptError, PluginError, UntrustedFile, UserError
from onprompt.settings import Settings

PACKAGES = ("onprompt-hub", "torch", "transformers")  # whose versions a verdict records

# No code and no pickles, which could run code; chat templates run in transformers' sandbox.
PATTERNS = ("*.json", "*.txt", "*.jinja", "*.model", "model*.safetensors")
FINGERPRINT_BYTES = 65536  # hashed at both ends of a weight file
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def model_folder(model: str, revision: str | None = None) -> Path:
    """The folder of a model, downloaded unless it is in the hub's cache; a folder of the user's has no revisions."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    try:
        return Path(huggingface_hub.snapshot_download(model, revision=revision, allow_patterns=PATTERNS))
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
        raise PluginError(f"{model} needs a library that onprompt-hub does not install: {first_line(error)}") from error
    except Exception as error:  # a file from elsewhere in another library's loader: anything may go wrong
        raise UntrustedFile(f"can't load {model}: {first_line(error)}") from error


def load_weights(auto_class: Any, folder: Path, config: Any, dtype: torch.dtype = torch.float32) -> Any:
    """The network with all its weights: transformers would initialize those that the files lack at random."""
    net, report = auto_class.from_pretrained(
        folder, config=config, use_safetensors=True, dtype=dtype, output_loading_info=True, trust_remote_code=False
    )
    missing = {name for name, _ in net.named_parameters()} & set(report["missing_keys"])
    if missing or report["mismatched_keys"]:
        reason = f"no {min(missing)}" if missing else "shapes differ"
        raise UntrustedFile(f"the weights in {folder} do not match its config.json: {reason}")
    return net.eval().to(best_device())


def best_device() -> str:
    """CUDA, else Apple's GPU, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def check_licence(model: str, settings: Settings) -> None:
    """Refuse a model where only permissive licences are allowed."""
    if settings.permissive:
        raise UserError(f"the licence of {model} is unknown, and permissive = true allows known licences only")


def silence() -> None:
    """No warnings and no progress bars of transformers."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    huggingface_hub.utils.disable_progress_bars()
