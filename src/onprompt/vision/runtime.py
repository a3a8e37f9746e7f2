"""OpenVINO, set up once: full precision, since half precision moves scores by up to .13."""

import ctypes
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial, wraps
from typing import Any, Generic, TypeVar, TypeVarTuple

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

FULL_PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
IMAGENET_MEAN, IMAGENET_STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
# Of glibc's mallopt: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in bytes, and M_ARENA_MAX, the number of heaps.
MALLOC_OPTIONS = {"MMAP_THRESHOLD": (-3, 4_000_000), "TRIM_THRESHOLD": (-1, 64_000_000), "ARENA_MAX": (-8, 2)}
KERNEL_CACHE_VARIABLES = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "DNNL_PRIMITIVE_CACHE_CAPACITY"
KERNELS = "256"  # about as many as the largest network has, which its streams share
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


@thread_safe_cache
def openvino_core() -> ov.Core:
    """The only OpenVINO core of the process."""
    limit_free_memory()
    core = ov.Core()
    limit_kernel_cache(core)
    return core


def limit_kernel_cache(core: ov.Core) -> None:
    """Let oneDNN keep fewer compiled kernels for shapes that no network sees any more: by default 1,024, or 60 MB.

    It reads the environment once, when OpenVINO compiles its first layer. torch has a oneDNN of its own, and needs what
    that one keeps: so the variable is gone again after that.
    """
    name, *_ = KERNEL_CACHE_VARIABLES
    if any(variable in os.environ for variable in KERNEL_CACHE_VARIABLES):
        return
    x = op.parameter([1, 8, 8, 8], np.float32)
    layer = op.convolution(x, np.ones((8, 8, 3, 3), dtype=np.float32), [1, 1], [1, 1], [1, 1], [1, 1])
    os.environ[name] = KERNELS
    try:
        with suppress(RuntimeError):  # it is only about memory
            core.compile_model(ov.Model([layer], [x], "first layer"), "CPU", FULL_PRECISION)
    finally:
        os.environ.pop(name, None)


def limit_free_memory() -> None:
    """Keep little memory that is free, in this whole process, where the C library is glibc.

    Blocks of 4 MB go back to the system as soon as they are freed, and there are two heaps at most. By default,
    pictures of many sizes leave gaps that nothing fits into: after 200, a process held 1.4 GB, and 1.2 GB with this.
    What the environment sets stays as it is.
    """
    for name, (option, value) in MALLOC_OPTIONS.items():
        if f"MALLOC_{name}_" not in os.environ and f"MALLOC_{name}" not in os.environ:
            call_c_library("mallopt", ctypes.c_int(option), ctypes.c_int(value))


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
    """The model with every subgraph that depends on no input replaced by its value.

    OpenVINO's own ConstantFolding leaves out those that decompress weights. Streams share weights by their address:
    weights that OpenVINO computes for a stream are in memory that it frees and reuses, so a layer may silently get
    the weights of another one.
    """
    constant: set[str] = set()
    for node in model.get_ordered_ops():
        sources = {port.get_source_output().get_node().get_name() for port in node.inputs()}
        if node.get_type_name() == "Constant" or (sources and sources <= constant):
            constant.add(node.get_name())
    outputs = [
        output
        for node in model.get_ordered_ops()
        if node.get_name() in constant and node.get_type_name() != "Constant"
        for output in node.outputs()
        if any(port.get_node().get_name() not in constant for port in output.get_target_inputs())
    ]
    if outputs:
        subgraph = ov.Model([op.result(output) for output in outputs], [], "constants")
        request = openvino_core().compile_model(subgraph, "CPU", FULL_PRECISION).create_infer_request()
        request.infer()
        for index, output in enumerate(outputs):
            output.replace(op.constant(np.array(request.get_output_tensor(index).data)).output(0))
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
        self.idle: dict[bool, list[ov.InferRequest]] = {False: [], True: []}  # requests, by `on_single_core`

    @cached_property
    def compiled(self) -> ov.CompiledModel:
        """For one image at a time, on all cores."""
        streams = 1 if available_cores() % self.views else self.views  # each has as many cores, and none is left over
        return self.compile({**FULL_PRECISION, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": str(streams)})

    @cached_property
    def compiled_for_threads(self) -> ov.CompiledModel:
        """For several images at a time, one core each."""
        # With pinning, the first streams of all networks are on one core, which threads would then share.
        streams = {"NUM_STREAMS": str(available_cores()), "ENABLE_CPU_PINNING": "NO"}
        return self.compile({**FULL_PRECISION, **streams})

    def for_this_thread(self) -> ov.CompiledModel:
        """Whichever of the two this thread needs; no other thread compiles it meanwhile."""
        with self.lock:
            return self.compiled_for_threads if on_single_core() else self.compiled

    def run(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[np.float32]]:
        """The outputs, in the model's order."""
        return self.read(inputs, lambda *outputs: [np.array(output) for output in outputs])

    def read(self, inputs: Sequence[NDArray[Any]], reader: Callable[..., Value]) -> Value:
        """What a function reads from the outputs, which are not copied: they are gone after that."""
        return self.read_all([inputs], reader)[0]

    def read_all(self, batches: Sequence[Sequence[NDArray[Any]]], reader: Callable[..., Value]) -> list[Value]:
        """What a function reads from the outputs for each of several inputs, in their order."""
        turns = [[inputs] for inputs in batches] if on_single_core() else [batches]
        return [result for together in turns for result in self.read_together(together, reader)]

    def read_together(self, batches: Sequence[Sequence[NDArray[Any]]], reader: Callable[..., Value]) -> list[Value]:
        """`read_all`, all at the same time."""
        requests: list[ov.InferRequest] = []
        results = []
        try:
            for inputs in batches:
                requests.append(self.idle_request())
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

    def idle_request(self) -> ov.InferRequest:
        """A request that nobody uses; a new one would wait until a network in progress is done."""
        with suppress(IndexError):
            return self.idle[on_single_core()].pop()
        return self.for_this_thread().create_infer_request()

    def release(self) -> None:
        """Give back the memory of the latest inputs and outputs of threads like this one."""
        self.idle[on_single_core()].clear()
        compiled = self.__dict__.get("compiled_for_threads" if on_single_core() else "compiled")
        if compiled is not None:
            with suppress(RuntimeError):  # another thread is using it: it will be released after that
                compiled.release_memory()


def compile_model(model: ov.Model, config: Mapping[str, str]) -> ov.CompiledModel:
    """The model, compiled for the processor."""
    return openvino_core().compile_model(model, "CPU", dict(config))
