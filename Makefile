# Needs Python 3.11, 3.12 or 3.13, pip and make; everything else is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-extras lint

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest tests --ignore tests/extras

test-extras: .venv/ready
	$(BIN)/python -m pytest tests/extras

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
