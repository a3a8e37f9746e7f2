"""Many samples: datasets in, verdicts stored, one file per run."""
