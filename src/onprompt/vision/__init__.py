"""From an image to Sightings."""

import sys

# OpenVINO's Python package reports each import over the network, unless its telemetry package can't be imported.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
