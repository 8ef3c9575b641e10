# `make` alone tells what there is. Everything is done in .venv and in the cache folder of
# tools.micropython; a second call does nothing that is done already.

PYTHON ?= python3
PY := .venv/bin/python
MICROPYTHON := $(PY) -m tools.micropython

.DEFAULT_GOAL := help
.PHONY: help demo examples test test-all test-device lint loops fuzz bench docs package dist clean setup venv

help: ## show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST))

demo: venv ## convert a small model and run it on MicroPython on this computer
	@$(MICROPYTHON) packages --install unix
	@$(MICROPYTHON) build unix
	@$(PY) -m examples.digits.demo

examples: venv ## run the demos of all examples: words, shapes, gestures, a fan, a room
	@$(MICROPYTHON) packages --install unix
	@$(MICROPYTHON) build unix
	@for name in digits keywords shapes gesture anomaly forest two_models custom_op; do \
	  echo && echo "== $$name" && $(PY) -m examples.$$name.demo || exit 1; done

# Two word sizes, with and without the native emitter, and a board's instruction set.
TEST_TARGETS := unix unix32 unix-plain mps2-an385

test: venv ## run the quick tests, on some MicroPython targets
	@$(MICROPYTHON) packages --install $(TEST_TARGETS) || true
	@$(MICROPYTHON) build --available $(TEST_TARGETS)
	@MPCONNXR_TARGETS="$(TEST_TARGETS)" $(PY) -m pytest -n 2 -m "not slow" tests/device tests/host

test-all: setup ## run all tests, on every MicroPython target that can be had here, as CI does
	@$(PY) -m pytest -n 2 tests/device tests/host  # the longest ones first

# TARGETS="rp2040 /dev/ttyACM0" takes these instead of the boards that are emulated: names of
# tools.micropython, or serial ports.
test-device: venv ## run models and loops on emulated boards, or on TARGETS
	@$(MICROPYTHON) packages --install || true
	@$(MICROPYTHON) build --available
	@$(PY) -m pytest -n 2 tests/device $(TARGETS:%=--target %)

# CASES=1000000 for the long run, in parts that a second call takes up where the first one ended:
# python -m tests.fuzz model --help.
CASES ?= 10000
fuzz: venv ## load and run damaged model files where each stray access faults
	@$(MICROPYTHON) packages --install unix-guard unix32-guard || true
	@$(MICROPYTHON) build unix-guard unix32-guard
	@$(PY) -m tests.fuzz model --cases $(CASES) --target unix-guard --target unix32-guard

lint: venv ## check style and spelling
	@$(PY) -m ruff check .
	@$(PY) -m codespell_lib .
	@$(PY) -m tools.viperlint
	@$(PY) -m tools.positionlint
	@$(PY) -m tools.wordlint

loops: venv ## assemble and compile the machine code of loops: tools/asm/code
	@$(MICROPYTHON) packages --install mps2-an385 virt-rv32 sim-de212
	@$(PY) -m tools.asm

setup: venv ## get ready for the tests: .venv, system packages, MicroPython targets
# Without the right to install packages, tests skip the targets and the browser that lack some.
	@$(MICROPYTHON) packages --install || true
	@$(MICROPYTHON) packages --install --program chromium || true
	@$(MICROPYTHON) build --available

bench: setup ## count the collection's models, next to C and CMSIS-NN: docs/benchmarks.md, collection.md
	@$(PY) -m tools.bench --target mps2-an385 --target mps2-an385-v6m --target mps2-an386 \
	  --target mps2-an505 --target virt-rv32 --target sim-de212 --target unix --write-docs
	@$(PY) -m benchmarks.steps
	@$(PY) -m benchmarks.every_model --write-docs

docs: venv ## build the site of these pages, with search: build/site/index.html
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --quiet --strict

package: venv ## write build/mpconnxr, to copy it by hand: for any board, or BOARD=pico
	@$(PY) -m tools.dist.package $(BOARD:%=--board %)

dist: venv ## make packages for mip: package*.json, and compiled modules below dist/
	@$(PY) -m tools.dist

clean: ## remove what was made here, but neither .venv nor the cache folder
	rm -rf build dist package.json package-*.json .pytest_cache .ruff_cache *.egg-info
	find . -path ./.venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

venv: .venv/.installed

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "mpconnxr: needs Python 3.11 or newer with its venv module;" \
	  "install python3-venv, or give PYTHON=..." >&2; exit 1; }
	@echo "mpconnxr: installing what it needs into .venv"
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[dev,examples]'
	@touch $@
