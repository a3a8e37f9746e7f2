"""One picture, a prompt that is right and one that is wrong: `make demo`."""

from pathlib import Path

import onprompt
from onprompt.report import picture, terminal
from onprompt.settings import load
from onprompt.weights.cache import paths
from onprompt.wording import differences

RIGHT = "A red cup on a table."
WRONG = "Two green cups on a table next to a laptop."


def main() -> None:
    """Verify both prompts, print what differs, and draw both results."""
    photo = paths(["coffee.png"], load())["coffee.png"]
    out = Path("demo")
    out.mkdir(exist_ok=True)
    for name, prompt in {"right": RIGHT, "wrong": WRONG}.items():
        verdict = onprompt.verify(photo, prompt)
        picture.save(verdict, out / f"{name}.png")
        print(f"\n=== {prompt}  (picture with boxes: {out / name}.png)\n")
        for line, _ in terminal.lines(verdict):
            print(line)
        print("Differences:", differences(verdict) or "none")


if __name__ == "__main__":
    main()
