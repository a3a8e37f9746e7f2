"""Where model files come from: sources, sha256, licence, cache."""
