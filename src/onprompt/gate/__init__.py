"""A gate for CI: does a run pass? Conditions on its figures, and a paired test against another run."""
