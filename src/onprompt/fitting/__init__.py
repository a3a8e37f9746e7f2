"""Weights of a jury's voices, by a user's raters or by how voices agree with each other."""
