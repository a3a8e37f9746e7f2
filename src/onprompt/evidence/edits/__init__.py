"""Edits by evidence: two versions of an image and an instruction → checks, and three factors.

observations    everything that is known of an edit before grading: observe_edit
objects         the objects of both versions, matched to each other
adjustments     what was done to the image as a whole
measures        what can be measured of an operation, a function for each kind
operations      whether each operation was carried out, by measurement, detectors and matcher
plausibility    what could not be so: seams, blur, bodies without joints
grade           alignment, completeness, plausibility
"""
