"""What the benchmarks share: seconds of an action, and bare inference of the networks that it runs."""

import time

from onprompt.vision.runtime import Network


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def bare_inference(action, on_threads=False):
    """A function that runs the networks that an action runs, on the very inputs that it gave them, and nothing else.

    With `on_threads`, on one core, so that several threads can call functions of their own.
    """
    calls, read = [], Network.read

    def record(network, inputs, reader):
        calls.append((network, list(inputs)))
        return read(network, inputs, reader)

    Network.read = record
    try:
        action()
    finally:
        Network.read = read
    compiled = [network.compiled_for_threads if on_threads else network.compiled for network, _ in calls]
    requests = [(each.create_infer_request(), inputs) for each, (_, inputs) in zip(compiled, calls, strict=True)]
    return lambda: [request.infer(inputs, share_inputs=True, share_outputs=True) for request, inputs in requests]
