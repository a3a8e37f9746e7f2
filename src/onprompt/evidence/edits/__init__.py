"""Edits by evidence: two versions of an image and an instruction → claims, and three factors.

observations    everything that is known of an edit before grading: observe_edit
objects         the objects of both versions, matched to each other; motion: found again by their corners
adjustments     what was done to the image as a whole
measures        what can be measured of an operation, a function for each kind
claims          whether each operation was carried out, in the number, color and place asked for
plausibility    what could not be so: seams, noise, bodies without joints
grade           alignment, completeness, plausibility
"""
