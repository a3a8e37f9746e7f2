"""From an image to Sightings: what other rooms import. A module is loaded when a name of it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onprompt.vision.backbone import feature_similarity
    from onprompt.vision.boxes import Floats, Pixels
    from onprompt.vision.change import Change, Corners, Mask, cells_of, compare, find_corners, match_corners, to_lab
    from onprompt.vision.detection import APPEARANCE_FILES, detect, detect_many, load_ahead
    from onprompt.vision.detectors import load_detector
    from onprompt.vision.geometry import (
        NEED_JOINTS,
        RELATIONS,
        SIZE_WORDS,
        RelationMeasure,
        between,
        is_grid_position,
        position_of,
        position_score,
        ramp,
    )
    from onprompt.vision.global_properties import colour_probability, is_blank, medium, properties, sharpness
    from onprompt.vision.image import (
        ORIENTATION,
        Source,
        decode_image,
        decoding_errors,
        encode_image,
        load_picture,
        load_resized,
        open_image,
        open_picture,
        read_source,
    )
    from onprompt.vision.matchers import load_matcher
    from onprompt.vision.matchers.small import (
        ARTWORK_FILES,
        MAX_LENGTH,
        artwork_probability,
        class_labels,
        class_probabilities,
    )
    from onprompt.vision.ocr import read_text
    from onprompt.vision.people import (
        CHILD,
        KIND_FILES,
        NOT_SMILING,
        SMILING,
        WORDS,
        detect_people,
        match_person,
        posture_of,
        traits_said,
    )
    from onprompt.vision.runtime import available_cores, limit_threads, use_single_core
    from onprompt.vision.vocabulary import COCO, PROPERTIES

WHERE = {
    "backbone": "feature_similarity",
    "boxes": "Floats Pixels",
    "change": "Change Corners Mask cells_of compare find_corners match_corners to_lab",
    "detection": "APPEARANCE_FILES detect detect_many load_ahead",
    "detectors": "load_detector",
    "geometry": (
        "NEED_JOINTS RELATIONS SIZE_WORDS RelationMeasure between is_grid_position position_of position_score ramp"
    ),
    "global_properties": "colour_probability is_blank medium properties sharpness",
    "image": (
        "ORIENTATION Source decode_image decoding_errors encode_image load_picture load_resized open_image "
        "open_picture read_source"
    ),
    "matchers": "load_matcher",
    "matchers.small": "ARTWORK_FILES MAX_LENGTH artwork_probability class_labels class_probabilities",
    "ocr": "read_text",
    "people": ("CHILD KIND_FILES NOT_SMILING SMILING WORDS detect_people match_person posture_of traits_said"),
    "runtime": "available_cores limit_threads use_single_core",
    "vocabulary": "COCO PROPERTIES",
}

if not TYPE_CHECKING:  # type checkers would take any name for one of these

    def __getattr__(name: str) -> object:
        for module, names in WHERE.items():
            if name in names.split():
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
