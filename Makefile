# Needs Python 3.11, 3.12 or 3.13, pip and make; everything else is installed into .venv.
PYTHON ?= python3
# What brings torch to the tests of extras; another build: make test-extras TORCH=torch==2.9.0
TORCH ?= torch==2.13.0
# How many processes share the tests
JOBS ?= 2
BIN := .venv/bin
PLUGINS := $(wildcard plugins/onprompt-*)

.PHONY: demo test test-fast test-extras test-hostile docs lint

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest tests --ignore tests/extras -n $(JOBS) --dist loadfile

# No model files and no network: with this cache folder, a test that asks for a model file fails at once.
test-fast: .venv/ready
	ONPROMPT_HOME=/dev/null/none $(BIN)/python -m pytest tests --ignore tests/extras -m 'not models and not slow' -n $(JOBS) --dist loadfile

# Threads of small networks only wait for each other: each process has one.
test-extras: export OMP_NUM_THREADS = 1
test-extras: .venv/extras .venv-harnesses/ready .node/ready
	$(BIN)/python -m pytest $(PLUGINS:%=%/tests) tests/extras --ignore tests/extras/harnesses -n $(JOBS) --dist loadfile
	.venv-harnesses/bin/python -m pytest tests/extras/harnesses -n $(JOBS) --dist loadfile

# Kills, broken files, answers and servers, odd requests: new cases at every run, about 20 minutes; outside of CI.
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
	$(BIN)/python -m pip install --quiet --editable '.[dev,data,ray,docs]' $(PLUGINS:%=--editable %) --group browser
	touch $@

# The harnesses and trackers that onprompt works with: DeepEval needs another click than the plug-ins do. uv, since pip
# tries versions of so many packages for a quarter of an hour.
.venv-harnesses/ready: pyproject.toml
	$(PYTHON) -m venv .venv-harnesses
	.venv-harnesses/bin/python -m pip install --quiet '$(TORCH)' uv
	.venv-harnesses/bin/uv pip install --quiet --python .venv-harnesses/bin/python --group harnesses \
		--editable '.[adapters,mlflow,wandb,tensorboard]'
	touch $@

# Pages are tested in Debian's Chromium, driven by Playwright without a browser of its own; axe-core looks for barriers.
# promptfoo comes without its optional packages, but for the database that it can't do without.
.node/ready:
	for needed in chromium npm; do command -v $$needed > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
		apt-get install -qq -y --no-install-recommends $$needed > /dev/null; } || \
		{ echo "the tests need $$needed: apt-get install $$needed" >&2; exit 1; }; done
	mkdir -p .node
	npm install --prefix .node --silent --omit=optional --ignore-scripts --no-audit --no-fund axe-core@4 promptfoo@0.121.20 \
		"$$(node -p "'@libsql/' + process.platform + '-' + process.arch + (process.platform == 'linux' ? '-gnu' : '')")"
	touch $@
