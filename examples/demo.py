"""One photo, a right prompt and a wrong one; then a report over a dozen pictures: `make demo`."""

import csv
from pathlib import Path

from PIL import Image, ImageOps

import onprompt
from onprompt.pages.report import read_report, write
from onprompt.report import picture, terminal
from onprompt.runs.datasets import open_dataset
from onprompt.runs.run import JudgeJob, run
from onprompt.settings import load
from onprompt.weights.cache import paths

RIGHT = "A red cup on a table."
WRONG = "Two green cups on a table next to a laptop."
PROMPTS = {
    "coffee.png": "A red cup on a table.",
    "astronaut.png": "A smiling woman in an orange suit.",
    "chelsea.png": "A brown cat.",
}
OUT = Path("demo")


def check_prompts(photo: Path) -> None:
    """Verify both prompts, print both verdicts, and draw them."""
    for name, prompt in {"right": RIGHT, "wrong": WRONG}.items():
        verdict = onprompt.verify(photo, prompt)
        picture.save(verdict, OUT / f"{name}.png")
        print(f"\n=== {prompt}  (picture with boxes: {OUT / name}.png)\n")
        for line, _ in terminal.lines(verdict):
            print(line)


def versions(photo: Image.Image) -> dict[str, Image.Image]:
    """A photo and three copies, which stand for the pictures of four models."""
    red, green, blue = photo.split()
    return {
        "photo": photo,
        "mirrored": ImageOps.mirror(photo),
        "upside down": ImageOps.flip(photo),
        "wrong colours": Image.merge("RGB", (blue, red, green)),
    }


def write_table(photos: dict[str, Path]) -> Path:
    """A table of pictures, their prompts and who made them."""
    folder = OUT / "pictures"
    folder.mkdir(exist_ok=True)
    table = OUT / "data.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "image", "prompt", "model"])
        for name, prompt in PROMPTS.items():
            for model, image in versions(Image.open(photos[name]).convert("RGB")).items():
                path = folder / f"{Path(name).stem} {model}.png"
                image.save(path)
                rows.writerow([path.stem, path.relative_to(OUT), prompt, model])
    return table


def main() -> None:
    """Check a photo, judge a dozen pictures, and say where the report is."""
    OUT.mkdir(exist_ok=True)
    photos = paths(list(PROMPTS), load())
    check_prompts(photos["coffee.png"])
    job = JudgeJob("verify", load())
    run(open_dataset(str(write_table(photos)), job.rubric, {}), OUT / "run.sqlite", job)
    write(read_report([OUT / "run.sqlite"], title="A dozen pictures"), OUT / "report")
    print(f"\n=== A report over a dozen pictures: open {OUT / 'report' / 'index.html'}")


if __name__ == "__main__":
    main()
