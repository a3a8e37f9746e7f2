"""Networks that an earlier process has compiled: read from the cache folder in a fifth of the time, with equal results.

A file is named by all that it depends on: model files, versions, the code that builds graphs, and the processor.
"""

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import openvino as ov

from onprompt.settings import Settings
from onprompt.vision import eight_bits
from onprompt.vision.runtime import (
    FULL_PRECISION,
    Network,
    compile_model,
    fold_constants,
    openvino_core,
    thread_state,
)
from onprompt.weights import blobs
from onprompt.weights.cache import file_hash, paths

CODE = (*Path(__file__).parent.rglob("*.py"), *eight_bits.FOLDER.glob("*.npz"))


class Source(NamedTuple):
    """The files that a network is built from, their hashes, how precise it is, and where it is kept once compiled."""

    files: tuple[Path, ...]
    hashes: tuple[str, ...]
    precision: str
    folder: Path
    megabytes: int

    @property
    def file(self) -> Path:
        """The first of the files: the one that is opened."""
        return self.files[0]


def source(names: Sequence[str], settings: Settings) -> Source:
    """The files of a network by name, downloaded unless they are cached.

    An absolute path is a file of our own, or of a plug-in: its code that builds the graph belongs among the files.
    """
    fetched = paths([name for name in names if not Path(name).is_absolute()], settings)
    files = tuple(fetched.get(name, Path(name)) for name in names)
    hashes = tuple(map(file_hash, names))
    return Source(files, hashes, settings.precision, blobs.folder(settings), settings.compiled_megabytes)


def network(
    variant: str,
    made_of: Source,
    build: Callable[[], ov.Model],
    options: Mapping[str, str] | None = None,
    shapes: Sequence[Sequence[int]] = (),
    views: int = 1,
) -> Network:
    """The network that `build` describes, which is called only where no earlier process has compiled it.

    `shapes` are those of its inputs, where these are always the same: it is faster then, and takes less memory. `views`
    is how many views of an image it looks at, side by side.
    """
    activations = eight_bits.load_activations(variant) if made_of.precision == "int8" else ()
    name = f"{variant.replace(' ', '-')}-{'int8' if activations else 'f32'}"
    path = made_of.folder / f"{name}-{key(name, (*made_of.hashes, str(options), str(shapes)))}{blobs.SUFFIX}"

    def compiled(usual: Mapping[str, str]) -> ov.CompiledModel:
        config = {**usual, **(options or {})}
        content = blobs.read(path) if made_of.megabytes else None
        if content is not None:
            with suppress(RuntimeError):  # OpenVINO can't use it in spite of its name: compiled again
                return openvino_core().import_model(content, "CPU", config)
        model = fold_constants(build())
        model = eight_bits.quantize(model, activations) if activations else model
        if shapes:  # after rounding, which tells convolutions on a single place by shapes that are not known yet
            model.reshape({index: ov.PartialShape(list(shape)) for index, shape in enumerate(shapes)})
        made = compile_model(model, config)
        if made_of.megabytes:
            blobs.write(path, made.export_model().getvalue(), made_of.megabytes)
        return made

    made = Network(compiled, views)
    if getattr(thread_state, "at_once", False):
        made.for_this_thread()
    return made


def key(variant: str, details: Sequence[str]) -> str:
    """A hash of all that a compiled network depends on. Threads and streams are chosen when it is read."""
    return hashlib.sha256("\n".join((variant, *details, *machine())).encode()).hexdigest()[:24]


@cache
def machine() -> tuple[str, ...]:
    """The versions of OpenVINO and of the code that builds graphs, and the processor."""
    code = hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(CODE))).hexdigest()
    core = openvino_core()
    processor = (core.get_property("CPU", name) for name in ("FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES"))
    limits = (os.environ.get(name, "") for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"))
    system = ov.get_version(), platform.system(), platform.machine()
    return (*system, code, str(FULL_PRECISION), *map(str, processor), *limits)
