# `make setup` builds .venv and compiles the rules; other targets build .venv if it is missing.
#   make train ARGS="--help"        arguments go to the script
#   make test PYTEST_ARGS="-k cli"  arguments go to pytest
#   make setup PYTHON=python3.12    another Python, 3.11 or newer

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
STAMP := .venv/.installed
RLLIB := .venv-rllib
OTHER := .venv-other
ADAPTERS := textarena openenv verifiers kaggle
RELEASES ?= -c constraints.txt
FLOORS = $(shell sed -nE '/^dependencies = /,/^\]/s/.*"(.*)>=(.*)".*/\1==\2/p' pyproject.toml)
TEST_PACKAGES := pytest pytest-xdist hypothesis rich
CORE_TESTS := $(addprefix tests/,test_compiler.py test_intrinsics.py test_package.py test_shipped.py \
	cli encoding engine envs opponents packing players scenario solver transcripts view)
PYTHON ?=
ARGS ?=
PYTEST_ARGS ?=
PYTEST := pytest -n auto --dist worksteal
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

.PHONY: help setup wheel train train-fast tournament report test test-slow test-wheel test-other test-oldest fuzz generated mutate solve benchmark docs record rllib adapters lint format constraints clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## build .venv from constraints.txt if it is out of date, then compile the rules
	@$(BIN)/python -m wfb_gym compile

$(STAMP): pyproject.toml constraints.txt
	@rm -f $@
	@if ! [ -x $(BIN)/python ]; then \
		for python in $(or $(PYTHON),python3.11 python3); do \
			"$$python" -c '$(NEW_ENOUGH)' 2>/dev/null && break; \
			python=; \
		done; \
		if [ -z "$$python" ]; then \
			echo 'setup: no Python 3.11 or newer found; name one with make setup PYTHON=...' >&2; \
			exit 1; \
		fi; \
		echo "setup: making .venv with $$("$$python" --version)"; \
		"$$python" -m venv .venv; \
	fi
	@echo 'setup: installing torch (1 of 2), which may take minutes'
	@# First, so that no later install pulls another release of torch.
	@$(BIN)/python -m pip install --quiet -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	@echo 'setup: installing wfb_gym with everything for training and tests (2 of 2)'
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[train,render,html,web,docs,minari,pettingzoo,torchrl,dev]'
	@touch $@
	@echo 'setup: .venv is ready'

wheel: $(STAMP) ## a wheel with compiled code for this platform, in dist/
	$(BIN)/python -m wfb_gym compile --into wfb_gym/_compiled
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist . || (rm -rf wfb_gym/_compiled; exit 1)
	rm -rf wfb_gym/_compiled

test-wheel: wheel ## run the tests on the newest wheel in dist/, installed without extras
	@# Outside the checkout, so that the tests import the wheel; tests that need an extra are skipped.
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	git ls-files -co --exclude-standard | grep -v '^wfb_gym/' | tar -cT - | tar -xC "$$folder" && \
	$(BIN)/python -m venv "$$folder/.venv" && \
	"$$folder/.venv/bin/python" -m pip install --quiet -c constraints.txt $(TEST_PACKAGES) \
		"$$(ls -t dist/wfb_gym-*.whl | head -n 1)" && \
	cd "$$folder" && PYTHONPATH= WFB_GYM_CACHE_DIR="$$folder/.cache" \
		.venv/bin/python -m $(PYTEST) $(PYTEST_ARGS)

test-other: ## run the core tests on PYTHON=python3.13, or RELEASES="numba==0.65.1 ..."
	@# pip takes the newest release of each package that RELEASES does not name.
	@$(or $(PYTHON),python3) -m venv --clear $(OTHER)
	@$(OTHER)/bin/python -m pip install --quiet -e . $(TEST_PACKAGES) $(RELEASES)
	@$(OTHER)/bin/python --version && $(OTHER)/bin/python -m pip freeze --exclude-editable | xargs
	$(OTHER)/bin/python -m $(PYTEST) $(PYTEST_ARGS) $(CORE_TESTS)

test-oldest: ## run the core tests on the oldest releases that pyproject.toml allows
	@$(MAKE) test-other RELEASES="$(FLOORS)"

train: $(STAMP) ## train an agent: agents/train.py
	$(BIN)/python -m agents.train $(ARGS)

train-fast: $(STAMP) ## train both seats in minutes: agents/train_fast.py
	$(BIN)/python -m agents.train_fast $(ARGS)

tournament: $(STAMP) ## play a round-robin tournament: experiments/tournament.py
	$(BIN)/python -m experiments.tournament $(ARGS)

report: $(STAMP) ## tables and figures of README and docs: tools/report_tables.py
	$(BIN)/python -m tools.report $(ARGS)

# Many tests start processes, which would compile all sources without bytecode.
test test-slow test-wheel test-other: export PYTHONDONTWRITEBYTECODE :=

test: lint ## run lint, then all tests except the slow ones, on all cores
	$(BIN)/python -m $(PYTEST) $(PYTEST_ARGS)

test-slow: $(STAMP) ## run the slow tests, on all cores
	$(BIN)/python -m $(PYTEST) -m slow $(PYTEST_ARGS)

fuzz: $(STAMP) ## fuzz every reader and environment, for five minutes by default
	$(BIN)/python -m tests.fuzzing $(ARGS)

generated: $(STAMP) ## update generated tables, pages, pictures and the schema; ARGS=--check: check them
	@for tool in pages gallery schema report five_minutes notebook; do \
		echo "tools.$$tool"; $(BIN)/python -m tools.$$tool $(ARGS); done

mutate: $(STAMP) ## apply small changes to the sources, and report which ones the tests miss
	$(BIN)/python -m tests.mutation $(ARGS)

solve: $(STAMP) ## compute exact values: experiments/solve.py
	$(BIN)/python -m experiments.solve $(or $(ARGS),--all)

benchmark: $(STAMP) ## measure speed: experiments/benchmark.py
	$(BIN)/python -m experiments.benchmark $(ARGS)

docs: $(STAMP) ## build the documentation site in site/; a broken link fails
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs site
	@echo 'docs: open site/index.html'

record: $(STAMP) ## record a data set of battles in Minari's format: agents/record.py
	$(BIN)/python -m agents.record $(ARGS)

rllib: $(RLLIB)/.installed ## build .venv-rllib and run the tests of agents/rllib there
	$(RLLIB)/bin/python -m pytest agents/rllib -W default $(PYTEST_ARGS)

$(RLLIB)/.installed: agents/rllib/constraints.txt pyproject.toml
	@rm -f $@
	@[ -x $(RLLIB)/bin/python ] || $(or $(PYTHON),python3) -m venv $(RLLIB)
	@echo 'rllib: installing torch (1 of 3), which may take minutes'
	@$(RLLIB)/bin/python -m pip install --quiet -c $< "$$(grep '^torch==' $<)"
	@echo 'rllib: installing Ray and the dependencies of wfb_gym except Gymnasium (2 of 3)'
	@$(RLLIB)/bin/python -m pip install --quiet -c $< 'ray[rllib]' numba pydantic rich shapely pytest
	@echo 'rllib: installing wfb_gym, with the Gymnasium that Ray pins (3 of 3)'
	@$(RLLIB)/bin/python -m pip install --quiet --no-deps -e .
	@touch $@
	@echo 'rllib: .venv-rllib is ready'

adapters: $(ADAPTERS:%=.venv-%/.installed) ## build .venv-NAME for each library for language models and test its adapter
	@for name in $(ADAPTERS); do \
		PATH="$$PWD/.venv-$$name/bin:$$PATH" .venv-$$name/bin/python -m pytest -W default \
			tests/interop/test_$$name.py $(PYTEST_ARGS); done

$(ADAPTERS:%=.venv-%/.installed): .venv-%/.installed: constraints/%.txt pyproject.toml
	@rm -f $@
	@[ -x $(@D)/bin/python ] || $(or $(PYTHON),python3) -m venv $(@D)
	@echo 'adapters: installing wfb_gym with $*'
	@$(@D)/bin/python -m pip install --quiet -c $< -e '.[$*]' $(TEST_PACKAGES)
	@touch $@

lint: $(STAMP) ## run ruff, the checks of import layers and of style, and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@PYTHONPATH=. $(BIN)/lint-imports --no-logo > .venv/layers.txt || { cat .venv/layers.txt; exit 1; }
	$(BIN)/python -m tools.style
	$(BIN)/mypy

format: $(STAMP) ## apply ruff's fixes and format the sources
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

constraints: $(STAMP) ## rewrite constraints.txt from the packages installed in .venv
	@{ sed '/^[^#]/,$$d' constraints.txt; \
		$(BIN)/python -m pip freeze --exclude-editable --exclude pip --exclude setuptools \
			| sed 's/+[^+]*$$//'; } > .venv/constraints.new
	@mv .venv/constraints.new constraints.txt
	@touch $(STAMP)

clean: ## remove build products, except .venv and .venv-rllib
	rm -rf build dist runs site .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage *.egg-info
	find . -name '.venv*' -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
