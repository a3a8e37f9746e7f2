"""Folders of strangers with an onprompt.toml: no image or key leaves, and no file outside of the folder is written."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

from PIL import Image

KEY = "sk-hostile-0123456789abcdef"
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


def case(chance: Random, folder: Path) -> Counter[str]:
    """One folder, in which a command is run as a newcomer would."""
    (inside := folder / "downloaded").mkdir()
    Image.new("RGB", (40, 30), "red").save(inside / "a.png")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        backend = chance.choice(("openai", "anthropic", "gemini"))
        outside = folder / "outside" / chance.choice(("a.sqlite", "b.jsonl"))
        lines = {
            "base_url": f'"{url}"',
            "model": f'"{backend}/m"',
            "models": f'["{backend}/m@{url}", "openai/n@{url}"]',
            "mirror": f'"{url}"',
            "home": f'"{outside}"',
            "answers": f'"{outside}"',
            "record": f'"{outside}"',
            "weights": f'"{outside}"',
            "detector": f'"hf:{outside}"',
            "matcher": f'"hf:{outside}.toml"',
            "judge": '"vlm"',
            "pair": "3",
        }
        names = chance.sample(list(lines), chance.randint(1, 5))
        (inside / "onprompt.toml").write_text("".join(f"{name} = {lines[name]}\n" for name in names))
        command = chance.choice((["verify", "a.png", "a cat"], ["rate", "a.png", "a cat"], ["settings"], ["models"]))
        done = subprocess.run(
            [sys.executable, "-m", "onprompt", *command],
            cwd=inside,
            env=os.environ | dict.fromkeys(KEYS, KEY),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        listener.setblocking(False)
        try:
            listener.accept()
        except BlockingIOError:
            pass
        else:
            raise AssertionError(f"a request was sent to {url}")
    assert not outside.parent.exists(), "a file was written outside of the folder"
    assert "Traceback" not in done.stderr, done.stderr
    assert KEY not in done.stdout + done.stderr
    harmless = not {*names} - {"judge", "pair"}
    assert harmless or done.returncode == 2, (names, done.stdout, done.stderr)
    assert "onprompt.toml" in done.stderr
    return Counter(["harmless" if harmless else "refused"])
