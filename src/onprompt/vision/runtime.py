"""Networks on OpenVINO: compiled once, kept for later processes, some in eight bits, run from several threads.

In full precision otherwise: half precision moves scores by up to .13.
"""

import ctypes
import hashlib
import os
import platform
import sys
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from onprompt.settings import Settings
from onprompt.weights import blobs
from onprompt.weights.cache import file_hash, paths

telemetry: object = sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
try:  # with that package, OpenVINO reports each import over the network; other modules have OpenVINO from here
    import openvino as ov
    from openvino import opset13 as op
finally:
    if telemetry is None:
        del sys.modules["openvino_telemetry"]

FULL_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
IMAGENET_MEAN, IMAGENET_STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
# Of glibc's mallopt: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in bytes, and M_ARENA_MAX, the number of heaps.
MALLOC_OPTIONS = {"MMAP_THRESHOLD": (-3, 4_000_000), "TRIM_THRESHOLD": (-1, 64_000_000), "ARENA_MAX": (-8, 2)}
KERNEL_CACHE, OLD_KERNEL_CACHE = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "DNNL_PRIMITIVE_CACHE_CAPACITY"  # variables
KERNELS = "256"  # about as many as the largest network has, which its streams share
ACTIVATIONS = Path(__file__).with_name("activations")
CODE = (*Path(__file__).parent.rglob("*.py"), *ACTIVATIONS.glob("*.npz"))
STEPS = 255  # of an activation's range
# Two products of an activation (up to 255) and a weight are added in sixteen bits where a processor knows no better: a
# weight may be 64 at most.
LARGEST_WEIGHT = 63
BALANCE = 0.25  # exponent of a channel's range; its weights have the rest. 0.5 is hardly worse, 0.75 is
Floats = NDArray[np.float32]
Node = Any  # OpenVINO's nodes carry no types
Key = TypeVar("Key")
Keys = TypeVarTuple("Keys")
Value = TypeVar("Value")
Compile = Callable[[Mapping[str, str]], ov.CompiledModel]
# OpenVINO fills its tables of number types on first use. Two threads that do so at the same moment deadlock, so it is
# done here, where only one thread can be.
ov.Type(np.dtype(np.float32)).to_dtype()
thread_state = threading.local()


def thread_safe_cache(make: Callable[[*Keys], Value]) -> Callable[[*Keys], Value]:
    """`functools.cache` that never computes a value twice, even if two threads ask at the same moment."""
    cached, lock = cache(make), threading.Lock()

    @wraps(cached)
    def get(*keys: *Keys) -> Value:
        with lock:
            return cached(*keys)

    return get


# ---- OpenVINO ------------------------------------------------------------------------------------------------------


@thread_safe_cache
def openvino_core() -> ov.Core:
    """The only OpenVINO core of the process.

    Where the C library is glibc, the whole process keeps little memory that is free: blocks of 4 MB go back to the
    system as soon as they are freed, and there are two heaps at most. By default, pictures of many sizes leave gaps
    that nothing fits into: after 200, a process held 1.4 GB, and 1.2 GB with this. What the environment sets stays.
    """
    for name, (option, value) in MALLOC_OPTIONS.items():
        if f"MALLOC_{name}_" not in os.environ and f"MALLOC_{name}" not in os.environ:
            call_c_library("mallopt", ctypes.c_int(option), ctypes.c_int(value))
    core = ov.Core()
    limit_kernel_cache(core)
    return core


def limit_kernel_cache(core: ov.Core) -> None:
    """Let oneDNN keep fewer compiled kernels for shapes that no network sees any more: by default 1,024, or 60 MB.

    It reads the environment once, when OpenVINO compiles its first layer. torch has a oneDNN of its own, and needs what
    that one keeps: so the variable is gone again after that.
    """
    if KERNEL_CACHE in os.environ or OLD_KERNEL_CACHE in os.environ:
        return
    x = op.parameter([1, 8, 8, 8], np.float32)
    layer = op.convolution(x, np.ones((8, 8, 3, 3), dtype=np.float32), [1, 1], [1, 1], [1, 1], [1, 1])
    os.environ[KERNEL_CACHE] = KERNELS
    try:
        with suppress(RuntimeError):  # it is only about memory
            core.compile_model(ov.Model([layer], [x], "first layer"), "CPU", FULL_PRECISION)
    finally:
        os.environ.pop(KERNEL_CACHE, None)


def return_free_memory() -> None:
    """Hand free memory back to the system, even from between blocks in use; about 2 ms."""
    call_c_library("malloc_trim", ctypes.c_size_t(0))


def call_c_library(name: str, *arguments: Any) -> None:
    """Call a function of glibc; nothing where the C library, or the system, is another one."""
    with suppress(OSError, AttributeError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)


def with_pixel_input(
    model: ov.Model, index: int = 0, mean: Sequence[float] = IMAGENET_MEAN, std: Sequence[float] = IMAGENET_STD
) -> ov.Model:
    """The model with an image input that takes pixels as they are (height × width × RGB, 0 to 255)."""
    steps = ov.preprocess.PrePostProcessor(model)
    image = steps.input(index)
    image.tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    image.model().set_layout(ov.Layout("NCHW"))
    image.preprocess().convert_element_type(ov.Type.f32).mean(list(mean)).scale(list(std))
    return steps.build()


def fold_constants(model: ov.Model) -> ov.Model:
    """The model with every node that depends on no input replaced by its value.

    OpenVINO's own ConstantFolding leaves out those that decompress weights. Streams share weights by their address:
    weights that OpenVINO computes for a stream are in memory that it frees and reuses, so a layer may silently get
    the weights of another one.
    """
    for node in model.get_ordered_ops():
        sources = [port.get_source_output().get_node() for port in node.inputs()]
        if sources and all(each.get_type_name() == "Constant" for each in sources):
            values = [ov.Tensor(output.get_element_type(), output.get_shape()) for output in node.outputs()]
            if node.evaluate(values, [ov.Tensor(each.get_data()) for each in sources]):
                for output, value in zip(node.outputs(), values, strict=True):
                    output.replace(op.constant(value.data).output(0))
    return model


def available_cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_single_core() -> None:
    """Run networks on one core in this thread from now on: it is one of several that run them."""
    thread_state.single_core = True


def on_single_core() -> bool:
    """Whether this thread runs networks on one core."""
    return getattr(thread_state, "single_core", False)


@cache
def limit_threads(cores: int) -> None:
    """Run the networks of this process on so many cores, wherever the machine has room.

    By default OpenVINO takes all, and pins its threads to the first: there the processes of a machine would meet.
    """
    openvino_core().set_property("CPU", {"INFERENCE_NUM_THREADS": cores, "ENABLE_CPU_PINNING": False})


# ---- networks ------------------------------------------------------------------------------------------------------


class LatestValues(Generic[Key, Value]):
    """A cache of the values that were used last; safe to use from several threads."""

    def __init__(self, size: int) -> None:
        self.size, self.lock = size, threading.Lock()
        self.values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The value, if it is cached."""
        with self.lock:
            if key in self.values:
                self.values.move_to_end(key)
            return self.values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Cache a value, in place of the one that was not used for longest."""
        with self.lock:
            self.values[key] = value
            if len(self.values) > self.size:
                self.values.popitem(last=False)


class Network:
    """A network, compiled when it is first needed; safe to run from several threads.

    A detector that looks at an image and its mirror image has two `views`. They run side by side, on half of the cores
    each, which is faster than one after the other on all of them.
    """

    def __init__(self, model: ov.Model | Compile, views: int = 1) -> None:
        self.views = views
        self.compile = partial(compile_model, fold_constants(model)) if isinstance(model, ov.Model) else model
        self.lock = threading.Lock()
        self.compiled: dict[bool, ov.CompiledModel] = {}  # by `on_single_core`
        self.idle: dict[bool, list[ov.InferRequest]] = {False: [], True: []}  # requests, by the same

    def compiled_for(self, single_core: bool) -> ov.CompiledModel:
        """Compiled for several images at a time, one core each, or for one image at a time on all cores."""
        cores = available_cores()
        if single_core:  # with pinning, the first streams of all networks would share one core
            config = {"NUM_STREAMS": str(cores), "ENABLE_CPU_PINNING": "NO"}
        else:  # each view has as many cores, and none is left over
            config = {"NUM_STREAMS": str(1 if cores % self.views else self.views), "PERFORMANCE_HINT": "LATENCY"}
        with self.lock:  # no other thread compiles it meanwhile
            if single_core not in self.compiled:
                self.compiled[single_core] = self.compile({**FULL_PRECISION, **config})
            return self.compiled[single_core]

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
        """The outputs, in the model's order."""
        return self.read_all([inputs], lambda *outputs: [np.array(output) for output in outputs])[0]

    def read_all(self, batches: Sequence[Sequence[NDArray[Any]]], reader: Callable[..., Value]) -> list[Value]:
        """What a function reads from the outputs for each of several inputs. They are not copied: gone after that."""
        if on_single_core() and len(batches) > 1:  # one after the other, else all at the same time
            return [self.read_all([inputs], reader)[0] for inputs in batches]
        requests: list[ov.InferRequest] = []
        results = []
        try:
            for inputs in batches:
                try:  # a new request would wait until a network in progress is done
                    requests.append(self.idle[on_single_core()].pop())
                except IndexError:
                    requests.append(self.compiled_for(on_single_core()).create_infer_request())
                requests[-1].start_async(list(inputs), share_inputs=True)
            for request in requests:
                request.wait()
                results.append(reader(*(tensor.data for tensor in request.output_tensors)))
        finally:
            for request in requests:  # inputs are not copied: whatever happened, none may go while it is being read
                with suppress(RuntimeError):
                    request.wait()
        self.idle[on_single_core()].extend(requests)
        return results

    def release(self) -> None:
        """Give back the memory of the latest inputs and outputs of threads like this one."""
        self.idle[on_single_core()].clear()
        if (compiled := self.compiled.get(on_single_core())) is not None:
            with suppress(RuntimeError):  # another thread is using it: it will be released after that
                compiled.release_memory()


def compile_model(model: ov.Model, config: Mapping[str, str]) -> ov.CompiledModel:
    """The model, compiled for the processor."""
    return openvino_core().compile_model(model, "CPU", dict(config))


class Source(NamedTuple):
    """The files that a network is built from, their hashes, how precise it is, and where it is kept once compiled."""

    files: tuple[Path, ...]
    hashes: tuple[str, ...]
    precision: str
    folder: Path

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
    return Source(files, hashes, settings.precision, blobs.folder(settings))


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
    activations = load_activations(variant) if made_of.precision == "int8" else ()
    name = f"{variant.replace(' ', '-')}-{'int8' if activations else 'f32'}"
    path = made_of.folder / f"{name}-{key(name, (*made_of.hashes, str(options), str(shapes)))}{blobs.SUFFIX}"

    def compiled(usual: Mapping[str, str]) -> ov.CompiledModel:
        config = {**usual, **(options or {})}
        if content := blobs.read(path):
            with suppress(RuntimeError):  # OpenVINO can't use it in spite of its name: compiled again
                return openvino_core().import_model(content, "CPU", config)
        model = fold_constants(build())
        model = quantize(model, activations) if activations else model
        if shapes:  # after rounding, which tells convolutions on a single place by shapes that are not known yet
            model.reshape({index: ov.PartialShape(list(shape)) for index, shape in enumerate(shapes)})
        made = compile_model(model, config)
        blobs.write(path, made.export_model().getvalue())
        return made

    made = Network(compiled, views)
    if getattr(thread_state, "at_once", False):
        made.compiled_for(on_single_core())
    return made


def key(variant: str, details: Sequence[str]) -> str:
    """A hash of all that a compiled network depends on. Threads and streams are chosen when it is read."""
    return hashlib.sha256("\n".join((variant, *details, *machine())).encode()).hexdigest()[:24]


@cache
def machine() -> tuple[str, ...]:
    """The versions of OpenVINO and of the code that builds graphs, and the processor."""
    code = hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(CODE))).hexdigest()
    processor = map(partial(openvino_core().get_property, "CPU"), ("FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES"))
    limits = (os.environ.get(name, "") for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"))
    system = ov.get_version(), platform.system(), platform.machine()
    return (*system, code, str(FULL_PRECISION), *map(str, processor), *limits)


# ---- eight bits -----------------------------------------------------------------------------------------------------
# They take a third to two thirds of the processor time, by the processor, for a small error. A convolution's inputs are
# rounded to 256 steps of a range, and its weights to 128: with those, sums of products do not overflow on processors
# without instructions for eight bits. training/eight_bits/measure.py measured the range and the mean of each channel on
# photos. Channels with large values are scaled down, and what rounding the weights adds on average is taken off again.


class Activation(NamedTuple):
    """What a convolution is given: the lowest, highest and mean value of each channel (NaN: it stays in 32 bits)."""

    low: Floats
    high: Floats
    mean: Floats


@cache
def load_activations(network: str) -> tuple[Activation, ...]:
    """The measured activations of a network's convolutions in their order; none of a network that was not measured."""
    path = ACTIVATIONS / f"{network}.npz"
    if not path.exists():
        return ()
    with np.load(path, allow_pickle=False) as file:
        layers = np.split(file["values"].astype(np.float32), np.cumsum(file["channels"])[:-1], axis=1)
        return tuple(Activation(*layer) for layer in layers)


def convolutions(model: ov.Model) -> list[Node]:
    """The convolutions that take most of the time: those that combine channels, on more than a single place."""
    found = []
    for node in model.get_ordered_ops():
        if node.get_type_name() == "Convolution" and node.input_value(1).get_node().get_type_name() == "Constant":
            height = node.input_value(0).get_partial_shape()[2]
            found += [] if height.is_static and height.get_length() == 1 else [node]
    return found


def quantize(model: ov.Model, activations: Sequence[Activation]) -> ov.Model:
    """The model with its convolutions in eight bits, as OpenVINO will run them."""
    by_source = defaultdict(list)  # an output that several convolutions use is rounded once
    for layer, activation in zip(convolutions(model), activations, strict=True):
        if not np.isnan(activation.low[0]):
            source = layer.input_value(0)
            by_source[source.get_node().get_name(), source.get_index()].append((layer, activation))
    for users in by_source.values():
        layers, (low, high, mean) = [layer for layer, _ in users], users[0][1]
        weights = [np.abs(layer.input_value(1).get_node().get_data()).max(axis=(0, 2, 3)) for layer in layers]
        scale = balance(np.maximum(-low, high), np.max(weights, axis=0))
        ends = whole_zero(float((low / scale).min()), float((high / scale).max()))
        wide = [op.constant(end * scale.reshape(1, -1, 1, 1)) for end in ends]  # each channel, in its own scale
        rounded = op.fake_quantize(layers[0].input_value(0), *wide, *map(op.constant, ends), STEPS + 1)
        for layer in layers:
            layer.input(0).replace_source_output(rounded.output(0))
            quantize_weights(layer, scale, mean)
    model.validate_nodes_and_infer_types()
    return model


def balance(largest: Floats, weights: Floats) -> Floats:
    """What each channel is divided by before it is rounded, and its weights are multiplied by.

    All channels share one range: without this scaling, a few with large values would leave few steps to the others.
    """
    largest, weights = (np.maximum(each, 1e-3 * each.max() + 1e-9) for each in (largest, weights))
    scale = largest**BALANCE / weights ** (1 - BALANCE)
    return np.asarray(scale / np.exp(np.log(scale).mean()), dtype=np.float32)


def quantize_weights(layer: Node, scale: Floats, mean: Floats) -> None:
    """Multiply and round a convolution's weights, each output channel in its own range, and correct its output."""
    weights = layer.input_value(1).get_node().get_data() * scale.reshape(1, -1, 1, 1)
    largest = np.maximum(np.abs(weights).max(axis=(1, 2, 3), keepdims=True), np.float32(1e-12))
    step = largest / np.float32(LARGEST_WEIGHT)
    ends = [op.constant(sign * step * np.float32(STEPS // 2)) for sign in (-1, 1)]  # of which the weights use half
    rounded = op.fake_quantize(op.constant(weights), *ends, *ends, STEPS)
    layer.input(1).replace_source_output(rounded.output(0))
    error = (np.round(weights / step) * step - weights).sum(axis=(2, 3))
    users = layer.output(0).get_target_inputs()
    corrected = op.subtract(layer.output(0), (error @ (mean / scale)).astype(np.float32).reshape(1, -1, 1, 1))
    for user in users:
        user.replace_source_output(corrected.output(0))


def whole_zero(low: float, high: float) -> tuple[np.float32, np.float32]:
    """The range, widened so that zero, the border of every convolution, is one of its steps."""
    low, high = min(low, 0.0), max(high, 1e-6)
    below = min(max(round(STEPS * -low / (high - low)), 1), STEPS - 1) if low else 0
    step = max(-low / below if below else 0.0, high / (STEPS - below))
    return np.float32(-step * below), np.float32(step * (STEPS - below))
