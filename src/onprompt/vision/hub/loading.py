"""What all models of a hub share: their weights, the device they run on, and silence."""

from pathlib import Path
from typing import Any

import huggingface_hub
import torch
import transformers

from onprompt.errors import SettingsError, UntrustedFile
from onprompt.settings import Settings
from onprompt.weights.hub import first_line


def load_weights(auto_class: Any, folder: Path, config: Any, dtype: torch.dtype = torch.float32) -> Any:
    """The network with all its weights: transformers would initialize those that the files lack at random."""
    net, report = auto_class.from_pretrained(
        folder, config=config, use_safetensors=True, dtype=dtype, output_loading_info=True, trust_remote_code=False
    )
    missing = {name for name, _ in net.named_parameters()} & set(report["missing_keys"])
    if missing or report["mismatched_keys"]:
        reason = f"no {min(missing)}" if missing else "shapes differ"
        raise UntrustedFile(f"the weights in {folder} do not match its config.json: {reason}")
    return net


def choose_device(settings: Settings) -> str:
    """The device of the settings, if it can be used, or else the best one."""
    chosen = settings.device or best_device()
    try:
        torch.empty(1, device=chosen)
    except Exception as error:  # of many kinds
        raise SettingsError(f"device = {chosen!r} can't be used: {first_line(error)}") from error
    return chosen


def best_device() -> str:
    """CUDA, else Apple's GPU, else the CPU."""
    return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"


def silence() -> None:
    """No warnings and no progress bars of transformers."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    huggingface_hub.utils.disable_progress_bars()
