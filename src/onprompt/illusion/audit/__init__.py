"""Is a re-implementation, or a copy of a judge's prompt, faithful? If not: where it departs, and what that does."""
