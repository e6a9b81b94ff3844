# The surface for people: `make` prints what there is. Every target does the set-up that it needs:
# what pip cannot install (scripts/system-packages.sh), then .venv with the exact versions of
# requirements.lock. Nothing reaches for the network once that is done.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

# The first Python that is new enough; `make PYTHON=...` chooses another.
PYTHON ?= $(firstword $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p"; done) python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# One more than there are cores: some tests wait for a time limit, and do nothing else.
JOBS ?= $(shell echo $$(($$(nproc) + 1)))

RUNS ?=
SUITES ?=
NAME ?=
MODEL ?=
MODELS ?=
SUITE ?=
PROTOCOL ?=
TRACK ?=
STATE ?=
BASE_URL ?=
BASE ?=
CANDIDATE ?=
TESTS ?= tests
# JupyterLab asks its makers for news and newer versions; a lab should leave the network alone.
OFFLINE := --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate
COUNT ?= 100000
suite_options = $(foreach suite,$(SUITES),--suite $(suite))

.PHONY: help
help: ## Print this help
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: report
report: $(READY) ## Replay, score and write reports/latest/index.html (RUNS="logs or folders" SUITES="suites" NAME=name)
	$(BIN)/vimlib report $(suite_options) $(if $(NAME),--name $(NAME)) $(RUNS)

.PHONY: test
test: $(READY) browser ## Run all tests on all cores (TESTS="files" JOBS=2)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(TESTS)

.PHONY: lint
lint: $(READY) ## Check style, types, notebooks (no outputs) and shell scripts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	find notebooks docs -name '*.ipynb' -not -path '*/.*' -exec $(BIN)/nbstripout --verify {} +
	for script in .ci/run scripts/*.sh; do bash -n "$$script"; done

.PHONY: lab
lab: $(READY) ## Open JupyterLab on the notebooks
	$(BIN)/jupyter-lab $(OFFLINE) notebooks/

.PHONY: compare
compare: $(READY) ## Compare two runs of the store (BASE=run CANDIDATE=run: ids, model names, latest)
	$(BIN)/vimlib compare $(if $(BASE),'$(BASE)') $(if $(CANDIDATE),'$(CANDIDATE)')

.PHONY: run
run: $(READY) ## Ask a model for answers (MODEL=provider/model or MODELS=file; SUITE= PROTOCOL= TRACK= STATE= BASE_URL=)
	$(BIN)/vimlib run $(foreach model,$(MODEL),--model '$(model)') $(if $(MODELS),--models '$(MODELS)') \
		$(foreach suite,$(SUITE),--suite '$(suite)') $(if $(PROTOCOL),--protocol $(PROTOCOL)) \
		$(if $(TRACK),--track $(TRACK)) $(if $(STATE),--state $(STATE)) $(if $(BASE_URL),--base-url '$(BASE_URL)')

.PHONY: verify
verify: $(READY) ## Replay every reference solution of the seed suite, or of SUITES, in real Vim
	$(BIN)/vimlib verify $(suite_options)

.PHONY: fuzz
fuzz: $(READY) ## Replay random answers twice and look for faults of the harness (COUNT=100000)
	$(BIN)/python tests/fuzzing.py --count $(COUNT)

.PHONY: bench
bench: $(READY) ## Run the benchmarks
	shopt -s nullglob; for benchmark in benchmarks/*.py; do $(BIN)/python "$$benchmark"; done

.PHONY: lock
lock: ## Write requirements.lock anew from pyproject.toml (UPGRADE=1: newest versions)
	@venv=$$(mktemp -d); trap 'rm -rf "$$venv"' EXIT; \
	$(PYTHON) -m venv "$$venv"; \
	"$$venv"/bin/pip install -q uv; \
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
	| "$$venv"/bin/uv pip compile pyproject.toml - --extra dev --universal --python-version 3.11 \
		--no-config --custom-compile-command 'make lock' \
		--quiet --output-file requirements.lock $(if $(UPGRADE),--upgrade)

.PHONY: clean
clean: ## Remove reports, the database and caches; answers and suites in data/ stay
	rm -rf reports/* data/*.duckdb data/*.duckdb.* data/cache
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## The same, and the virtual environment
	rm -rf $(VENV)

# Checked every time, for a Vim can go as it came.
.PHONY: system
system:
	@scripts/system-packages.sh $(PYTHON)

.PHONY: browser
browser: | system
	@scripts/system-packages.sh $(PYTHON) --with-browser

# The scripts in a virtual environment name its folder, so a copied or moved checkout starts anew.
ifneq ($(file <$(READY)),$(CURDIR))
.PHONY: $(READY)
endif

$(READY): requirements.lock pyproject.toml | system
	@echo 'Bringing $(VENV) to requirements.lock: a minute or two the first time.'
	@[[ -e $(READY) && $$(cat $(READY)) != '$(CURDIR)' ]] && clear=--clear; \
	$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || clear=--clear; \
	[[ -z $${clear:-} ]] || $(PYTHON) -m venv $$clear $(VENV)
	@rm -f $(READY)
	@$(BIN)/python -m pip install -q --no-deps -r requirements.lock
	@$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@echo '$(CURDIR)' >$(READY)
