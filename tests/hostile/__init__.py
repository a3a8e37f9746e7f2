"""A net for hostile input, with new cases at every run: `make test-hostile`, or `python -m tests.hostile --help`."""
