# Everything a reader or contributor runs. `make help` lists the targets; every one that needs
# the environment sets it up first, so a fresh clone can start with any of them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Options, e.g.  make reproduce PROFILE=smoke NB="01 03" P="K=10 SEED=7"
PROFILE ?= default
NB ?=
P ?=
DATASETS ?=
PYTHON ?=
TORCH_INDEX ?=
LAB ?=

# Recipes read the options from their environment, quoted there: text with spaces, quotes, brackets
# or dollar signs arrives as it was typed, and none of it is run by make or by the shell.
override PROFILE := $(value PROFILE)
override NB := $(value NB)
override P := $(value P)
override DATASETS := $(value DATASETS)
override PYTHON := $(value PYTHON)
override TORCH_INDEX := $(value TORCH_INDEX)
override LAB := $(value LAB)
export PROFILE NB P DATASETS PYTHON TORCH_INDEX LAB

PY := .venv/bin/python
ENV := .venv/.mtr-env
RUN := $(PY) -m mtrlib.reporting run
# as in .pre-commit-config.yaml and mtrlib.reporting.canonical: outputs stay, run metadata goes
NBSTRIPOUT := $(PY) -m nbstripout --keep-output --keep-count \
	--extra-keys "metadata.papermill cell.metadata.papermill metadata.language_info.version"

.PHONY: help env data planned reproduce all refresh llm record real lab test test-all lint typecheck format lock html \
	check-site verify check-notebooks ci clean distclean

help: ## List the targets and options
	@awk -F ':.*## ' '/^[a-z][a-z%-]*:.*## /{printf "  %-17s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@printf '\nOptions:\n'
	@printf '  %-17s %s\n' \
	  'PROFILE=default' 'smoke (minutes), default, or paper (GPU and endpoint)' \
	  'NB="01 03"' 'only these notebooks' \
	  'P="K=10"' 'notebook parameters' \
	  'DATASETS="inscit mtrag"' 'published datasets for make data to fetch as well' \
	  'PYTHON=python3.12' 'interpreter for a new .venv (3.11 to 3.13)' \
	  'TORCH_INDEX=URL' 'install torch from this index, for a smaller CPU-only build' \
	  'LAB="--no-browser"' 'options of jupyter lab'

env: $(ENV) ## Set up .venv from requirements.lock (1 to 3 minutes, about 2 GB; instant when done)
	@:

$(ENV): requirements.lock pyproject.toml tools/env.sh
	@bash tools/env.sh

data: $(ENV) ## Fetch and verify the data and models of the default run; check the authored sets
	@$(PY) -m mtrlib.data fetch
	@$${DATASETS:+$(PY) -m mtrlib.data fetch $$DATASETS}
	@$(PY) -m mtrlib.data.authored check | tail -n 1

planned: $(ENV) # a misspelt option ends the run here, before anything is fetched
	@$(PY) -m mtrlib.reporting plan --profile "$$PROFILE" $${NB:+--nb "$$NB"} $${P:+--param "$$P"}

reproduce: planned data ## Run the notebooks into build/ and compare with what is committed
	@$(RUN) --profile "$$PROFILE" $${NB:+--nb "$$NB"} $${P:+--param "$$P"}

nb-%: data ## Run one notebook, e.g. nb-01
	@$(RUN) --profile "$$PROFILE" --nb "$*" $${P:+--param "$$P"}

refresh: data ## Run the default profile afresh; replace committed notebooks, figures, results
	@$(PY) -m mtrlib.reporting refresh $${NB:+--nb "$$NB"}

all: $(ENV) ## Everything, from an empty build/: checks, tests, data, notebooks, site
	@$(MAKE) --no-print-directory clean
	@$(MAKE) --no-print-directory lint typecheck check-notebooks test data reproduce check-site

llm: $(ENV) ## Serve the local LLM on a free port until Ctrl-C (first time: fetch and convert)
	@$(PY) -m mtrlib.llm serve

record: data ## Ask the local LLM afresh for the replies that the default run replays (minutes)
	@$(PY) -m mtrlib.reporting record

real: data ## Validate the local judges on real sets in MTR_REAL_DATA; writes data/results/real
	@$(PY) -m mtrlib.reporting.real_validation

lab: $(ENV) ## Open JupyterLab on the index of the notebooks
	@set -f; $(PY) -m mtrlib.reporting.lab $$LAB

test: $(ENV) ## Fast tests
	@$(PY) -m pytest -m "not slow and not network and not gpu and not site"

test-all: $(ENV) ## All tests, also those marked slow, network and gpu
	@$(PY) -m pytest

lint: $(ENV) ## Style, spelling, file sizes and notebook form; changes nothing
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/typos
	@$(PY) tools/check_large_files.py
	@find notebooks -maxdepth 1 -name '*.ipynb' -print0 | xargs -0 -r $(NBSTRIPOUT) --verify

typecheck: $(ENV) ## mypy on mtrlib
	@$(PY) -m mypy

format: $(ENV) ## Rewrite code in house style and notebooks in canonical form
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .
	@find notebooks -maxdepth 1 -name '*.ipynb' -print0 | xargs -0 -r $(NBSTRIPOUT)

lock: $(ENV) ## Resolve pyproject.toml again and rewrite requirements.lock
	@$(PY) tools/lock.py

html: $(ENV) ## Build the site in build/html: notebooks, data cards, docs, library reference
	@$(PY) tools/make_site.py

check-site: html ## Check every page of the site: links, pictures, and how a browser shows it
	@$(PY) -m pytest -m site tests/site

verify: data ## Run afresh without network; prove committed notebooks, numbers, README byte by byte
	@$(PY) -m mtrlib.reporting verify --profile "$$PROFILE" $${NB:+--nb "$$NB"}

check-notebooks: $(ENV) ## Check the form of the committed notebooks
	@$(PY) -m mtrlib.reporting check

ci: ## Exactly what continuous integration runs
	@.ci/run

clean: ## Delete build/; data, recorded replies and the user cache stay
	@rm -rf build

distclean: clean ## Delete .venv and tool caches too
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find mtrlib tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
