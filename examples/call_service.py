"""Asks a service that `onprompt serve` runs on this machine."""

import base64
import json
import urllib.request
from pathlib import Path

image = base64.b64encode(Path("photo.jpg").read_bytes()).decode()
body = {"image": image, "prompt": "Two dogs and a red ball."}
request = urllib.request.Request(
    "http://127.0.0.1:8766/v1/verify", json.dumps(body).encode(), {"Content-Type": "application/json"}
)
verdict = json.load(urllib.request.urlopen(request))
print(verdict["score"], verdict["summary"])
