"""Edits by evidence: two versions of an image and an instruction → claims, and three factors.

observations    what was asked for, what changed, and the objects of both versions: observe_edit
objects         these objects matched to each other, and what is new
claims          each operation measured: whether it was carried out, in the number, color and place asked for
grade           alignment, completeness, and plausibility, which faults lower
"""
