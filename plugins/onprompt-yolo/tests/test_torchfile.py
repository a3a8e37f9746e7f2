"""The reader of .pt files takes tensors and nothing else."""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onprompt.errors import UntrustedFile
from onprompt.settings import Settings
from onprompt.weights.cache import paths
from onprompt_yolo.torchfile import RebuildTensor, read_tensors


def archive(path: Path, pickled: bytes, storages: dict[str, bytes] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("model/data.pkl", pickled)
        for key, content in (storages or {}).items():
            out.writestr(f"model/data/{key}", content)
    return path


PYTHON_PICKLER: Any = vars(pickle)["_Pickler"]  # the one that can be taught to write foreign names


def test_a_tensor_is_made_of_a_storage_only() -> None:
    rebuild = RebuildTensor()
    empty = rebuild(np.zeros(4, dtype=np.float32), 0, (100_000, 0), (0, 1))
    with pytest.raises(UntrustedFile, match="not a storage"):
        rebuild(empty, 0, (50,), (1,))


def test_the_real_file_is_read_whole(settings: Settings) -> None:
    tensors = read_tensors(paths(["yolov8s-world.pt"], settings)["yolov8s-world.pt"])
    assert len(tensors) == 422
    assert tensors["txt_feats"].shape == (1, 80, 512)
    assert tensors["model.0.conv.weight"].shape == (32, 3, 3, 3)
    assert tensors["model.0.conv.weight"].dtype == np.float16
    assert float(tensors["model.23.cv4.0.bias"]) < 0


@pytest.mark.parametrize(
    "function", ["os.system", "builtins.eval", "builtins.getattr", "subprocess.Popen", "torch.load"]
)
def test_code_in_the_file_is_refused_and_does_not_run(function: str, tmp_path: Path) -> None:
    module, name = function.rsplit(".", 1)
    code = f"c{module}\n{name}\n(S'touch {tmp_path}/ran'\ntR.".encode()
    with pytest.raises(UntrustedFile, match=f"refused to load {function}"):
        read_tensors(archive(tmp_path / "evil.pt", code))
    assert not (tmp_path / "ran").exists()


def test_a_function_named_in_another_way_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UntrustedFile, match=r"refused to load builtins\.exec"):
        read_tensors(archive(tmp_path / "evil.pt", pickle.dumps({"model": exec}, 4)))


def with_tensor(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int, numbers: int, announced: int
) -> tuple[bytes, bytes]:
    """A pickle of a shell that holds one tensor, written as torch writes it."""

    class Writer(PYTHON_PICKLER):  # type: ignore[misc]
        def persistent_id(self, item: object) -> Any:
            return ("storage", Global("torch", "FloatStorage"), "0", "cpu", announced) if item == "STORAGE" else None

        def save(self, item: object, save_persistent_id: bool = True) -> None:
            if isinstance(item, Global):
                self.write(pickle.GLOBAL + f"{item.module}\n{item.name}\n".encode())
                return
            super().save(item, save_persistent_id)

    stream = io.BytesIO()
    writer = Writer(stream, 2)
    state = {
        "_parameters": {"weight": Call(Global("torch._utils", "_rebuild_tensor_v2"), ("STORAGE", offset, size, stride))}
    }
    writer.dispatch = writer.dispatch | {Call: save_call}
    writer.dump(
        {"model": Call(Global("torch.nn.modules.conv", "Conv2d"), (), state | {"_buffers": {}, "_modules": {}})}
    )
    return stream.getvalue(), np.arange(numbers, dtype=np.float32).tobytes()


class Global:
    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class Call:
    def __init__(self, function: Global, arguments: tuple[object, ...], state: object = None) -> None:
        self.function, self.arguments, self.state = function, arguments, state


def save_call(writer: Any, call: Call) -> None:
    writer.save(call.function)
    writer.save(call.arguments)
    writer.write(pickle.REDUCE)
    if call.state is not None:
        writer.save(call.state)
        writer.write(pickle.BUILD)


def test_a_tensor_is_rebuilt_with_its_strides(tmp_path: Path) -> None:
    pickled, numbers = with_tensor((2, 3), (1, 2), 1, 8, 8)
    tensors = read_tensors(archive(tmp_path / "model.pt", pickled, {"0": numbers}))
    assert tensors["weight"].tolist() == [[1, 3, 5], [2, 4, 6]]


@pytest.mark.parametrize(
    ("size", "stride", "offset", "announced"),
    [
        ((2, 3), (3, 1), 4, 8),
        ((1000,), (1,), 0, 8),
        ((2,), (-1,), 0, 8),
        ((2,), (1,), -1, 8),
        ((2,), (1,), 0, 99),
        ((400_000_000,), (0,), 0, 8),
    ],
)
def test_a_tensor_cannot_reach_outside_its_storage(
    size: tuple[int, ...], stride: tuple[int, ...], offset: int, announced: int, tmp_path: Path
) -> None:
    pickled, numbers = with_tensor(size, stride, offset, 8, announced)
    with pytest.raises(UntrustedFile, match=r"outside its storage|instead of"):
        read_tensors(archive(tmp_path / "model.pt", pickled, {"0": numbers}))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x80\x02}q\x00."])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    path.write_bytes(content)
    with pytest.raises(UntrustedFile, match=r"was not written by torch.save"):
        read_tensors(path)
    with pytest.raises(UntrustedFile, match=r"was not written by torch.save"):
        read_tensors(archive(tmp_path / "other.pt", content))


@pytest.mark.parametrize("state", [b"}S'__defaults__'\n(I7\ntsb", b"(N}S'__call__'\nI7\nstb"])
def test_a_file_cannot_change_the_code_that_reads_it(state: bytes, tmp_path: Path) -> None:
    """BUILD sets attributes on what stands before it: our own callables must have none to set."""
    with pytest.raises(UntrustedFile, match=r"not written by.*AttributeError"):
        read_tensors(archive(tmp_path / "evil.pt", b"ctorch._utils\n_rebuild_tensor_v2\n" + state + b"."))


def test_a_module_that_contains_itself_ends(tmp_path: Path) -> None:
    state = b"}S'_parameters'\n}sS'_buffers'\n}sS'_modules'\n}S'x'\ng0\nss"
    code = b"}S'model'\nctorch.nn.modules.conv\nConv2d\n)Rp0\n" + state + b"bs."
    with pytest.raises(UntrustedFile, match="RecursionError"):
        read_tensors(archive(tmp_path / "loop.pt", code))
