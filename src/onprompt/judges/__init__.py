"""Judges, which answer samples by a rubric, one file each."""
