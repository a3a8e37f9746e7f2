"""A cold `onprompt verify`, from the start of the process to its last line: `python bench/cold.py [SRC_BEFORE]`.

With the `src` folder of another version, both run in turns, so that a noisy machine disturbs both alike. Model files
must be present. The first run of each version is not counted: it compiles what later ones read from the cache folder.
With `--empty` nothing was compiled before. The breakdown is from one more run of each, with timers; what happens beside
it in another thread is counted, too, so that parts may add up to more than the whole.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CASES = {
    "astronaut.png": "an astronaut to the right of a flag, holding a white helmet",
    "chelsea.png": "a brown cat",
}
HERE = Path(__file__).resolve()
PARTS = ("imports", "parser", "reading", "compiling", "inference")


def command(source, arguments, environment):
    env = {**os.environ, "PYTHONPATH": str(source), **environment}
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stdout


def verify(source, picture, prompt, detector, environment=None):
    arguments = ["-m", "onprompt", "verify", str(picture), prompt, "--detector", detector]
    return command(source, arguments, environment or {})


def breakdown(source, picture, prompt, detector):
    """Milliseconds of each part, by the same command with timers around what it calls."""
    arguments = [str(HERE), "--timed", "verify", str(picture), prompt, "--detector", detector]
    return [float(number) for number in command(source, arguments, {})[1].splitlines()[-1].split()]


def timed(arguments):
    """Run the command in this process, then print what each part took."""
    spent, lock, inside = dict.fromkeys(PARTS, 0.0), threading.Lock(), threading.local()

    def timer(part, holder, name):
        function = getattr(holder, name)

        def measured(*args, **options):
            if getattr(inside, "part", None):  # part of a part
                return function(*args, **options)
            inside.part, start = part, time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                inside.part = None
                with lock:
                    spent[part] += time.perf_counter() - start

        setattr(holder, name, measured)

    begin = time.perf_counter()
    import openvino
    from openvino.frontend import FrontEnd

    from onprompt import api, cli, plugins  # noqa: F401 what the command imports
    from onprompt.judges import evidence  # noqa: F401
    from onprompt.language import parser

    plugins.load("vision.detectors", arguments[-1])
    spent["imports"] = time.perf_counter() - begin
    timer("parser", parser, "dependency_trees")  # which loads it
    for name in ("load", "convert", "convert_partially"):
        timer("reading", FrontEnd, name)
    timer("reading", openvino.Core, "read_model")
    for name, module in list(sys.modules.items()):
        if name.startswith("onprompt") and "read_tensors" in vars(module):
            timer("reading", module, "read_tensors")
    for name in ("compile_model", "import_model"):
        timer("compiling", openvino.Core, name)
    for call in ("infer", "start_async", "wait"):  # other versions wait in the first
        timer("inference", openvino.InferRequest, call)
    sys.argv = ["onprompt", *arguments]
    cli.main.__globals__["app"](standalone_mode=False)
    total = time.perf_counter() - begin
    sys.stdout.write("\n" + " ".join(f"{1000 * value:.0f}" for value in (*spent.values(), total)) + "\n")


def main():
    if sys.argv[1:2] == ["--timed"]:
        return timed(sys.argv[2:])
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("before", nargs="?", type=Path, help="the src folder of another version")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--detector", default="coco")
    options.add_argument("--empty", action="store_true", help="delete nothing, but use an empty folder: a first start")
    given = options.parse_args()
    sources = {"before": given.before} if given.before else {}
    sources["now"] = HERE.parents[1] / "src"
    weights = Path(command(sources["now"], ["-m", "onprompt", "models", "path", "chelsea.png"], {})[1].strip()).parent
    failed = False
    for name, prompt in CASES.items():
        times, printed = {version: [] for version in sources}, {}
        for number in range(given.rounds + 1):
            for version, source in sources.items():
                with tempfile.TemporaryDirectory() as home:
                    (Path(home) / "weights").symlink_to(weights)
                    environment = {"ONPROMPT_HOME": home} if given.empty else {}
                    seconds, printed[version] = verify(source, weights / name, prompt, given.detector, environment)
                if number:
                    times[version].append(seconds)
        medians = {version: statistics.median(each) for version, each in times.items()}
        for version, source in sources.items():
            parts = breakdown(source, weights / name, prompt, given.detector)
            shown = ", ".join(f"{part} {value:.0f}" for part, value in zip((*PARTS, "all"), parts, strict=True))
            print(f"{name:14} {given.detector:7} {version:7} {medians[version]:6.2f} s   with timers, ms: {shown}")
        if given.before:
            same = printed["before"] == printed["now"]
            ratio = medians["before"] / medians["now"]
            failed = failed or not same
            print(f"{name:14} {ratio:.2f} × as fast; {'the same text' if same else 'ANOTHER TEXT'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
