"""Is a re-implementation of IllusionBench aligned with the original? By what its code does, case by case."""
