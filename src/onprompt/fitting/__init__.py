"""Weights of a jury's voices and of the evidence's parts, by a user's raters or by how voices agree with each other."""
