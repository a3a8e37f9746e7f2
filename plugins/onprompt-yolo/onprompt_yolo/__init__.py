"""Detectors for onprompt that use YOLO26 and YOLO-World, whose weights are under the AGPL-3.0."""

from pathlib import Path

PACKAGES = ("onprompt-yolo",)  # whose version a verdict records
MANIFEST = Path(__file__).with_name("manifest.toml")  # the model files
CODE = tuple(sorted(map(str, Path(__file__).parent.glob("*.py"))))  # compiled networks depend on it
CURVES = Path(__file__).with_name("curves.toml")  # what bench/calibrate.py fitted
