"""What the benchmarks share: seconds of an action, and bare inference of the networks that it runs."""

import time

from onprompt.vision.runtime import Network


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def bare_inference(action):
    """A function that runs the networks that an action runs, on the very inputs that it gave them, and nothing else."""
    calls, run = [], Network.run

    def record(network, inputs):
        calls.append((network, list(inputs)))
        return run(network, inputs)

    Network.run = record
    try:
        action()
    finally:
        Network.run = run
    requests = [(network.compiled.create_infer_request(), inputs) for network, inputs in calls]
    return lambda: [request.infer(inputs, share_inputs=True, share_outputs=True) for request, inputs in requests]
