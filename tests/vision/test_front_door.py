"""What other rooms import from vision."""

import subprocess
import sys

import pytest

from onprompt import vision


@pytest.mark.parametrize("module", vision.WHERE)
def test_every_name_is_there(module: str) -> None:
    assert all(getattr(vision, name) is not None for name in vision.WHERE[module].split())


def test_no_name_is_in_two_modules() -> None:
    names = [name for names in vision.WHERE.values() for name in names.split()]
    assert len(set(names)) == len(names)
    with pytest.raises(ImportError, match="cannot import name 'detcet'"):
        from onprompt.vision import detcet  # type: ignore[attr-defined] # noqa: F401


def test_images_are_opened_without_loading_networks() -> None:
    code = "import sys; from onprompt.vision import open_picture; print({'openvino', 'cv2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
