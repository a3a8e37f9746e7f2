"""From an image to Sightings: what other rooms import. A module is loaded when a name of it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onprompt.vision.ahead import load_ahead, measure_ahead
    from onprompt.vision.backbone import feature_similarity
    from onprompt.vision.boxes import Floats, Pixels
    from onprompt.vision.change import Change, Corners, Mask, cells_of, compare, find_corners, match_corners, to_lab
    from onprompt.vision.detection import APPEARANCE_FILES, PERSON_FILES, detect, detect_many, load_detector
    from onprompt.vision.face import NOT_SMILING, SMILING
    from onprompt.vision.geometry import SIZE_WORDS, SIZES, is_grid_position, position_of, position_score, ramp
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
    from onprompt.vision.matchers.small import ARTWORK_FILES, artwork_probability
    from onprompt.vision.matching import load_matcher
    from onprompt.vision.ocr import read_text
    from onprompt.vision.person_kind import CHILD, WORDS, traits_said
    from onprompt.vision.pose import EXCLUSIVE, detect_people, match_person, posture_of
    from onprompt.vision.relations import NEED_JOINTS, RELATIONS, RelationMeasure, between
    from onprompt.vision.runtime import available_cores, limit_threads, use_single_core
    from onprompt.vision.shape import SHAPE_WORDS
    from onprompt.vision.text_embedding import MAX_LENGTH
    from onprompt.vision.vocabulary import COCO

WHERE = {
    "ahead": "load_ahead measure_ahead",
    "backbone": "feature_similarity",
    "boxes": "Floats Pixels",
    "change": "Change Corners Mask cells_of compare find_corners match_corners to_lab",
    "detection": "APPEARANCE_FILES PERSON_FILES detect detect_many load_detector",
    "face": "NOT_SMILING SMILING",
    "geometry": "SIZES SIZE_WORDS is_grid_position position_of position_score ramp",
    "global_properties": "colour_probability is_blank medium properties sharpness",
    "image": (
        "ORIENTATION Source decode_image decoding_errors encode_image load_picture load_resized open_image "
        "open_picture read_source"
    ),
    "matchers.small": "ARTWORK_FILES artwork_probability",
    "matching": "load_matcher",
    "ocr": "read_text",
    "person_kind": "CHILD WORDS traits_said",
    "pose": "EXCLUSIVE detect_people match_person posture_of",
    "relations": "NEED_JOINTS RELATIONS RelationMeasure between",
    "runtime": "available_cores limit_threads use_single_core",
    "shape": "SHAPE_WORDS",
    "text_embedding": "MAX_LENGTH",
    "vocabulary": "COCO",
}


def __getattr__(name: str) -> object:
    for module, names in WHERE.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
