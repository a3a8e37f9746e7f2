"""Fresh processes whose first calls come from eight threads at once, some after Ctrl-C: each gets its verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

from PIL import Image

PROGRAM = """
import json, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import onprompt
from onprompt.settings import load
plan = json.loads(sys.argv[1])
settings = load(answers=plan["answers"])
def call(number):
    time.sleep(plan["waits"][number])
    rubric = plan["rubrics"][number]
    judge = getattr(onprompt, rubric)
    try:
        return type(judge("a.png", "a red ball", model=plan["models"][number], settings=settings)).__name__
    except onprompt.OnpromptError as error:
        return str(error)
def many():
    timer = threading.Timer(plan["interrupt"], signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    timer.start()
    items = [{"image": "a.png", "prompt": f"{n} balls"} for n in range(400)]
    try:
        list(onprompt.judge_many("verify", items, model=plan["models"][0], settings=settings))
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        pass
if plan["interrupt"]:
    call(0)  # Python itself does not survive Ctrl-C in the middle of importing numpy
    try:
        many()
    except KeyboardInterrupt:
        pass
with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(call, range(8)))))
"""


def case(chance: Random, folder: Path) -> Counter[str]:
    """One process."""
    Image.new("RGB", (40, 30), "red").save(folder / "a.png")
    for rubric, text in (("verify", "(3)"), ("rate", "Reasoning: a red field.\nScore: 3")):
        (folder / f"{rubric}.jsonl").write_text(json.dumps({"text": text}))
    rubrics = [chance.choice(("verify", "rate")) for _ in range(8)]
    measured = chance.random() < 0.5
    plan = {
        "rubrics": rubrics,
        "models": [f"replay/{rubric}.jsonl" if not measured or chance.random() < 0.3 else "" for rubric in rubrics],
        "waits": [chance.choice((0, 0, 0.001, 0.05)) for _ in range(8)],
        "answers": str(folder / "answers.sqlite"),
        "interrupt": 0,
    }
    if chance.random() < 0.5:
        plan |= {"interrupt": chance.uniform(0.0, 0.5), "models": [f"replay/{rubric}.jsonl" for rubric in rubrics]}
    command = [sys.executable, "-c", PROGRAM, json.dumps(plan)]
    done = subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["Verdict"] * 8, (done.stdout, done.stderr)
    return Counter({"interrupted before" if plan["interrupt"] else "eight at once": 1})
