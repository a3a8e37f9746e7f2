"""How long a report of many samples takes, how large its first pages are, and how soon Chromium can use them.

    python bench/report.py --samples 5000 --folder /tmp/report-bench

The samples are made here: drawn JPEGs of 1024 x 1024, each a file of its own, and verdicts of the evidence judge's form
stored through the file. Needs the packages of the extra `browser`, and Debian's chromium.
"""

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter

from onprompt.rubrics.verify import RUBRIC
from onprompt.runs.file import RunFile, SampleError
from onprompt.runs.run import to_stored
from onprompt.settings import load
from onprompt.types import (
    Box,
    Check,
    Claim,
    Count,
    Decoded,
    FactorScore,
    Finding,
    Found,
    Outcome,
    Picture,
    PromptEvidence,
    Sample,
    Scene,
    Sighting,
    Swatch,
    Thing,
    Verdict,
)
from onprompt.vision.image import open_picture

MODELS, PER_PROMPT = ("north", "east", "south", "west", "centre"), 5
NOUNS = ("cup", "dog", "bicycle", "chair", "clock", "laptop", "banana", "horse", "boat", "vase")
COLOURS = ("red", "green", "blue", "yellow", "white")
BASES, SIDE = 50, 1024
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def draw(path: Path, chance: random.Random) -> None:
    """A picture with shapes and grain, about as large as a generated one."""
    image = Image.effect_noise((SIDE, SIDE), 30).convert("RGB").filter(ImageFilter.GaussianBlur(2))
    pen = ImageDraw.Draw(image)
    for _ in range(12):
        x, y, size = (chance.randrange(SIDE), chance.randrange(SIDE), chance.randrange(40, 300))
        pen.ellipse((x, y, x + size, y + size), fill=tuple(chance.randrange(256) for _ in range(3)))
    image.save(path, quality=92)


def verdict(sample: Sample, chance: random.Random) -> Verdict:
    """A verdict on three objects with counts, colours and a relation."""
    things, checks, seen = [], [], []
    outcomes = [*[Outcome.MATCHED] * 6, Outcome.MISMATCH, Outcome.MISSING, Outcome.LOW_CONFIDENCE, Outcome.UNVERIFIABLE]
    for index, noun in enumerate(chance.sample(NOUNS, 3)):
        x, y = chance.uniform(0, 0.6), chance.uniform(0, 0.6)
        swatch = Swatch("red", (200, 40, 40), (45.0, 60.0, 40.0), 0.6)
        found = Sighting(noun, noun, Box(x, y, x + 0.35, y + 0.35), chance.random(), "detector", (swatch,))
        things.append(Thing(f"a {noun}", noun))
        seen.append(found)
        claims = [Claim("object", f"a {noun}", noun), Claim("count", name=noun, count=Count(2, 2))]
        claims += [Claim("color", chance.choice(COLOURS), noun), Claim("relation", "near", noun, target="a cup")]
        for claim in claims:
            outcome = chance.choice(outcomes)
            kind = Finding(Found.DETECTED, number=1, confidences=(0.9,)) if claim.kind == "object" else None
            finding = kind or Finding(Found.MEASURED, value=chance.choice(COLOURS))
            chosen = (found,) if claim.kind == "object" and outcome is not Outcome.MISSING else ()
            probability = chance.uniform(0.6, 1) if outcome is Outcome.MATCHED else chance.uniform(0, 0.5)
            checks.append(Check(claim, finding, outcome, probability, "detector", index, None, chosen))
    value = chance.random()
    flags = tuple(flag for flag in ("needs_review", "low_confidence", "stylised") if chance.random() < 0.2)
    evidence = PromptEvidence(Scene(sample.prompt, tuple(things)), tuple(seen))
    factors = {"score": FactorScore(min(4, int(5 * value)))}
    summary = f"The image differs from the prompt: {things[0].phrase} (missing); {things[1].phrase} (count)."
    measures = {"coverage": chance.random()}
    return Verdict(RUBRIC.name, "evidence", sample, value, factors, summary, flags, tuple(checks), measures, evidence)


def make_run(folder: Path, samples: int) -> Path:
    """A run file of so many samples, one in a hundred without a verdict."""
    chance, path = random.Random(0), folder / "run.sqlite"
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    for number in range(BASES):
        draw(folder / f"base{number}.jpg", chance)
    bases = [(folder / f"base{number}.jpg").read_bytes() for number in range(BASES)]
    identity = {"rubric": RUBRIC.name, "judge": "evidence", "rubric_version": RUBRIC.version, "settings": {}}
    with RunFile(path, writing=True) as file:
        configuration, _ = file.add_configuration(identity)
        file.begin(configuration, str(folder / "data.csv"), {"python": sys.version.split()[0]})
        for number in range(samples):
            image = pictures / f"{number}.jpg"
            image.write_bytes(bases[number % BASES] + number.to_bytes(8, "big"))  # a file of its own
            noun = f"{NOUNS[number // PER_PROMPT % 10]} number {number // PER_PROMPT}"
            prompt = f"a photo of a {noun} beside two {COLOURS[number // PER_PROMPT % 5]} things on a wooden table"
            given = f'{{"image": "{image}", "prompt": "{prompt}"}}'
            model, category = MODELS[number % 5], f"category {number % 8}"
            about = {"id": f"{model}/{number}", "prompt": prompt, "image": str(image), "model": model}
            about |= {"category": category, "given": given, "stamp": "", "version": str(number)}
            ((row, _),) = file.add_samples([about], configuration)
            if number % 100 == 99:
                file.save_error(configuration, SampleError(row, "UnreadableAnswer", "no score", "I can't say"))
                continue
            picture = open_picture(image, load())
            sample = Sample(image.name, prompt, Picture(image.name, picture.sha256, not_decoded))
            file.save_verdict(configuration, to_stored(row, verdict(sample, chance)))
        file.end()
    return path


def not_decoded() -> Decoded:
    """Nobody looks at the pixels of a verdict that is stored."""
    raise NotImplementedError


def look(page: Path, ready: str) -> tuple[float, float, int]:
    """Seconds until a page is ready in Chromium, until a word has filtered it (if it can), and the bytes it loaded."""
    from playwright.sync_api import sync_playwright

    loaded: set[str] = set()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(ARGUMENTS))
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.on("request", lambda request: loaded.add(request.url))
        start = time.perf_counter()
        tab.goto(page.as_uri())
        tab.wait_for_selector(ready)
        shown = time.perf_counter() - start
        size = sum(Path(url.removeprefix("file://")).stat().st_size for url in loaded if url.startswith("file://"))
        filtered = 0.0
        if tab.query_selector("input[name=words]"):
            start = time.perf_counter()
            tab.fill("input[name=words]", "number 7 banana")
            tab.wait_for_function("!document.getElementById('count').textContent.startsWith('5,000')")
            filtered = time.perf_counter() - start
        browser.close()
    return shown, filtered, size


# Milliseconds until a page and its picture are there, as the browser has noted them.
LOADED = """(() => {
  const pictures = performance.getEntriesByType("resource").filter(({ name }) => /pictures.[0-9]+.jpg/.test(name));
  return Math.max(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
    ...pictures.map((each) => each.responseEnd));
})()"""


def turn(folder: Path, pages: int = 15) -> list[float]:
    """Seconds that each page takes, sorted, when one goes from sample to sample."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(ARGUMENTS))
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto((folder / "samples" / "000010.html").as_uri())
        times = []
        for number in range(11, 11 + pages):
            tab.keyboard.press("ArrowRight")
            tab.wait_for_url(f"**/{number:06}.html")
            tab.wait_for_function("document.querySelector('.sample img').complete")
            times.append(tab.evaluate(LOADED) / 1000)
        browser.close()
    return sorted(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/report-bench"))
    parser.add_argument("--keep", action="store_true", help="use the run that is there")
    options = parser.parse_args()
    run, out = options.folder / "run.sqlite", options.folder / "report"
    if not options.keep or not run.exists():
        shutil.rmtree(options.folder, ignore_errors=True)
        make_run(options.folder, options.samples)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "onprompt", "report", str(run), "--out", str(out)], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    load = " ".join(f"{number:.1f}" for number in os.getloadavg())
    print(f"written in {time.perf_counter() - start:.1f} s; {cpu:.1f} s of processor time on {os.cpu_count()} cores")
    print(f"load of the machine: {load}")
    total = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{sum(1 for _ in out.rglob('*')):,} files, {total / 1e6:.0f} MB")
    for name, ready in (
        ("index.html", ".cards img"),
        ("samples.html", "#results .card"),
        ("samples/000001.html", ".sample img"),
    ):
        shown, filtered, size = look(out / name, ready)
        words = f", filtered by words in {filtered:.2f} s" if filtered else ""
        print(f"{name}: usable after {shown:.2f} s, {size / 1e6:.2f} MB loaded{words}")
    times = turn(out)
    print(f"from sample to sample: median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s")


if __name__ == "__main__":
    main()
