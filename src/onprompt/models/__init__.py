"""Asking vision-language models: backends, retries, budget, the answer store, and reading answers."""
