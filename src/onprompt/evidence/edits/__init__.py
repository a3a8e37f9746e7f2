"""Edits by evidence: two versions of an image and an instruction → claims, and three factors.

observations    everything that is known of an edit before grading: observe_edit
objects         the objects of both versions, matched to each other
adjustments     which adjustments of the image as a whole are asked for
measures        what each source says of an operation: detectors, colors, corners, text
claims          whether each operation was carried out, in the number, color and place asked for
plausibility    what could not be so: noise, joints that are gone, objects seen twice
grade           alignment, completeness, plausibility
"""
