"""Prompts to test a text-to-image model with: where known sets are, and compositional ones of our own."""
