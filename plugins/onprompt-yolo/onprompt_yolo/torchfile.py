"""Tensors from a `.pt` file, by a closed allow-list: nothing in the file can run code."""

import math
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onprompt.errors import UntrustedFile

Tensors = dict[str, NDArray[Any]]

STORAGES = {
    "FloatStorage": np.float32,
    "HalfStorage": np.float16,
    "DoubleStorage": np.float64,
    "LongStorage": np.int64,
    "IntStorage": np.int32,
    "ByteStorage": np.uint8,
    "BoolStorage": np.bool_,
}

# The module classes of the files that we read. Their instances are shells: attributes without behaviour.
SHELLS = {
    "torch": "Size device",
    "torch.nn.modules.activation": "SiLU",
    "torch.nn.modules.batchnorm": "BatchNorm2d",
    "torch.nn.modules.container": "ModuleList Sequential",
    "torch.nn.modules.conv": "Conv2d",
    "torch.nn.modules.linear": "Identity Linear",
    "torch.nn.modules.normalization": "LayerNorm",
    "torch.nn.modules.pooling": "AdaptiveMaxPool2d MaxPool2d",
    "torch.nn.modules.upsampling": "Upsample",
    "ultralytics.nn.modules.block": (
        "Bottleneck C2f C2fAttn ContrastiveHead DFL ImagePoolingAttn MaxSigmoidAttnBlock SPPF Attention C2PSA C3k C3k2 "
        "PSABlock"
    ),
    "ultralytics.nn.modules.conv": "Concat Conv DWConv",
    "ultralytics.nn.modules.head": "Detect WorldDetect",
    "ultralytics.nn.tasks": "DetectionModel WorldModel",
}


class Shell:
    """A stand-in for a torch module: holds its state and does nothing."""

    def __init__(self, *_: object) -> None:
        """A shell starts empty; its state follows."""

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, dict):
            raise UntrustedFile(f"a module's state is a {type(state).__name__}, not a dictionary")
        self.__dict__.update(state)


class ClosedUnpickler(pickle.Unpickler):
    """An unpickler that allows a few names and refuses every other one."""

    def __init__(self, archive: zipfile.ZipFile, pickled: str) -> None:
        super().__init__(archive.open(pickled))
        self.archive = archive
        self.folder = pickled.removesuffix("data.pkl")

    def find_class(self, module: str, name: str) -> Any:
        allowed: dict[tuple[str, str], object] = {
            ("collections", "OrderedDict"): OrderedDict,
            ("__builtin__", "set"): set,
            ("builtins", "set"): set,
            ("torch._utils", "_rebuild_tensor_v2"): RebuildTensor(),
            ("torch._utils", "_rebuild_parameter"): RebuildParameter(),
        }
        if (module, name) in allowed:
            return allowed[module, name]
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        if name in SHELLS.get(module, "").split():
            return Shell
        raise UntrustedFile(f"refused to load {module}.{name}: it is not on the list of allowed names")

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        kind, dtype, key, _, count = pid
        if kind != "storage" or not str(key).isalnum():
            raise UntrustedFile(f"unknown storage {pid!r}")
        data = np.frombuffer(self.archive.read(f"{self.folder}data/{key}"), dtype=dtype)
        if len(data) != count:
            raise UntrustedFile(f"storage {key} holds {len(data)} numbers instead of {count}")
        return data


class RebuildTensor:
    """A tensor as a view of its storage; copied, so that no stride can reach outside.

    An object without attributes, unlike a function, can't be changed by what the file contains next.
    """

    __slots__ = ()

    def __call__(
        self, storage: NDArray[Any], offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: object
    ) -> NDArray[Any]:
        if not isinstance(storage, np.ndarray) or storage.ndim != 1:  # an empty tensor may have any shape
            raise UntrustedFile("a tensor is built from something that is not a storage")
        reach = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True) if n > 0)
        inside = offset >= 0 and min((*size, *stride, 0)) >= 0 and reach < max(len(storage), 1)
        if not inside or math.prod(size) > len(storage):
            raise UntrustedFile(f"a tensor of size {size} reaches outside its storage")
        strides = [s * storage.itemsize for s in stride]
        return np.lib.stride_tricks.as_strided(storage[offset:], size, strides).copy()


class RebuildParameter:
    """A parameter is its tensor."""

    __slots__ = ()

    def __call__(self, data: NDArray[Any], *_: object) -> NDArray[Any]:
        return data


def read_tensors(path: Path) -> Tensors:
    """Parameters, buffers and other arrays of the module stored in `path`, by their dotted names."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickled = next(name for name in archive.namelist() if name.endswith("data.pkl"))
            content = ClosedUnpickler(archive, pickled).load()
        return dict(arrays(content["model"], ""))
    except UntrustedFile:
        raise
    except Exception as error:  # whatever a broken or hostile file provokes
        raise UntrustedFile(f"{path} was not written by torch.save: {error!r}") from error


def arrays(module: Shell, prefix: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """All arrays in a tree of shells, with their dotted names."""
    state = cast(dict[str, dict[str, Any]], module.__dict__)
    for name, value in (state["_parameters"] | state["_buffers"] | state).items():
        if isinstance(value, np.ndarray):
            yield prefix + name, value
    for name, child in state["_modules"].items():
        if isinstance(child, Shell):
            yield from arrays(child, f"{prefix}{name}.")
