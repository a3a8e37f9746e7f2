"""Detectors, one file each; the file's name is the detector's name."""
