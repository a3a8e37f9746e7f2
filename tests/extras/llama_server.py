"""llama.cpp's own server, out of a package, in a process of its own: prints its address, and ends with its input.

python -m tests.extras.llama_server MODEL.gguf VISION.gguf
"""

import sys

import xllamacpp


def main(model: str, vision: str) -> None:
    """Serve until the input ends."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.mmproj.path = model, vision
    parameters.n_ctx, parameters.n_parallel, parameters.port, parameters.warmup = 16384, 1, 0, False
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
