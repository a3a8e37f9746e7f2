"""TensorBoard: event files under `TENSORBOARD_LOGDIR` or runs/, without torch or TensorFlow."""

from __future__ import annotations

import io
import os
import shutil
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from onprompt.trackers import Figures


def log(figures: Figures) -> str:
    """Scalars and images in an event file, and beside it the run file, since TensorBoard knows no artefacts."""
    folder = Path(os.environ.get("TENSORBOARD_LOGDIR") or "runs") / figures.run_file.stem
    folder.mkdir(parents=True, exist_ok=True)
    values = [Summary.Value(tag=name, simple_value=float(number)) for name, number in figures.numbers.items()]
    for place, (caption, picture) in enumerate(figures.pictures, 1):
        file = io.BytesIO()
        picture.save(file, "PNG")
        size = {"height": picture.height, "width": picture.width, "colorspace": 3}
        image = Summary.Image(encoded_image_string=file.getvalue(), **size)
        values.append(Summary.Value(tag=f"worst/{place} {caption.partition(': ')[0]}", image=image))
    writer = EventFileWriter(str(folder))
    writer.add_event(Event(wall_time=time.time(), step=0, summary=Summary(value=values)))
    writer.close()
    shutil.copy2(figures.run_file, folder)
    return f"TensorBoard folder {folder}"
