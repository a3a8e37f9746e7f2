"""Many samples: datasets in, verdicts kept, one file a run."""
