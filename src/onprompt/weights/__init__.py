"""Model files: sources, hashes, licences, and the cache."""
