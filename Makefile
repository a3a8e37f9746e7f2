# Needs Python 3.11, 3.12 or 3.13, pip and make; everything else is installed into .venv.
PYTHON ?= python3
# What brings torch to the tests of extras; another build: make test-extras TORCH=torch==2.9.0
TORCH ?= torch==2.13.0
BIN := .venv/bin

.PHONY: demo test test-extras lint

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest tests --ignore tests/extras

test-extras: .venv/extras
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

.venv/extras: .venv/ready
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[dev,hf,data,ray,adapters]'
	touch $@
