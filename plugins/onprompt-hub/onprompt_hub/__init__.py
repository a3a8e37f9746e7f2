"""Detectors, matchers and vision-language models of a model hub for onprompt, by transformers."""
