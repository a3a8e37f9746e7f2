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
    calls, read_all = [], Network.read_all

    def record(network, batches, reader):
        # One core looks at one view after the other.
        calls.extend((network, each) for each in ([[inputs] for inputs in batches] if on_threads else [batches]))
        return read_all(network, batches, reader)

    Network.read_all = record
    try:
        action()
    finally:
        Network.read_all = read_all
    compiled = [network.compiled_for(on_threads) for network, _ in calls]
    looks = [
        [(each.create_infer_request(), list(inputs)) for inputs in batches]
        for each, (_, batches) in zip(compiled, calls, strict=True)
    ]

    def infer():
        for look in looks:
            for request, inputs in look:
                request.start_async(inputs, share_inputs=True)
            for request, _ in look:
                request.wait()

    return infer
