"""One photo, a right prompt and a wrong one: `make demo`."""

from pathlib import Path

import onprompt
from onprompt.report import picture, terminal
from onprompt.settings import load
from onprompt.weights.cache import paths

RIGHT = "A red cup on a table."
WRONG = "Two green cups on a table next to a laptop."


def main() -> None:
    """Verify both prompts, print both verdicts, and draw them."""
    photo = paths(["coffee.png"], load())["coffee.png"]
    out = Path("demo")
    out.mkdir(exist_ok=True)
    for name, prompt in {"right": RIGHT, "wrong": WRONG}.items():
        verdict = onprompt.verify(photo, prompt)
        picture.save(verdict, out / f"{name}.png")
        print(f"\n=== {prompt}  (picture with boxes: {out / name}.png)\n")
        for line, _ in terminal.lines(verdict):
            print(line)


if __name__ == "__main__":
    main()
