# `make demo` and `make test` need git, make and python3 (3.11 or later) only; both set up .venv on their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all fuzz mutants lint bench docs clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "whyroute needs Python 3.11 or later; $(PYTHON) is `$(PYTHON) -V 2>&1`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "setting up $(VENV) with whyroute and what it needs; that takes a minute, once" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 has no venv module here (on Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --editable .
	@touch $@

$(DEV_STAMP): $(STAMP)
	@echo "installing the development tools into $(VENV); that takes some minutes, once" >&2
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --editable '.[dev]'
	@touch $@

setup: $(DEV_STAMP) ## make .venv and install the project with its development tools

demo: $(STAMP) ## route on the real catalog: one capability that has an answer and one that has none
	@$(BIN)/whyroute route --request rules/requests/summarise.json --providers rules/catalog.yaml
	@echo
	@$(BIN)/whyroute explain --request rules/requests/impossible.json --providers rules/catalog.yaml

lint: $(DEV_STAMP) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file= --strict --cache-dir=.mypy_cache/plain tests/data/typed_user.py # as users check, without our plugin
	$(BIN)/lint-imports

test: lint ## everything but the slow tests: under five minutes on two cores
	$(BIN)/pytest -m 'not slow' --numprocesses auto --dist worksteal

test-all: lint ## everything
	$(BIN)/pytest --numprocesses auto --dist worksteal

MINUTES ?= 10
fuzz: $(DEV_STAMP) ## broken and odd packs for ten minutes, or MINUTES=1: each loads and answers, or says what is wrong
	PYTHONPATH=tests/support $(BIN)/python tests/support/fuzz_packs.py --minutes $(MINUTES)

mutants: $(DEV_STAMP) ## whether tests notice 200 mutations of the core; takes an hour; ARGUMENTS="--only globs --sample 20"
	PYTHONPATH=tests/support $(BIN)/python tests/support/mutants.py $(ARGUMENTS)

bench: $(DEV_STAMP) ## measure beside what of the extra `bench` is installed; ARGUMENTS="--suite route --quick"
	$(BIN)/python -m benchmarks $(ARGUMENTS)

docs: $(DEV_STAMP) ## the guides and the API reference as a site in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

clean: ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
