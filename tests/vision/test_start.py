"""What opening an image loads."""

import subprocess
import sys


def test_images_are_opened_without_loading_networks() -> None:
    code = "import sys, onprompt.vision.image; print({'openvino', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
