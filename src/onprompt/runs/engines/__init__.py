"""Engines that keep many tasks in progress, one file each."""
