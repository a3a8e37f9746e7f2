"""Backends, one file each: the ways to reach a model."""
