# Everything runs in .venv, made on first use and renewed only when pyproject.toml or requirements.lock change.
PYTHON ?= python3
JOBS ?= 3
MINUTES ?= 5
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
READY_RUN := $(VENV)/.installed-run
READY_DEV := $(VENV)/.installed-dev
READY_NEWTON := $(VENV)-newton/.installed
ISAAC_PYTHON ?= python3.12
READY_ISAAC := $(VENV)-isaac/.installed
# A linear algebra library that starts threads of its own would only make all of them wait; and without bytecode on disk,
# each of the hundreds of processes that the tests start would compile the package's modules again. Three processes on two
# cores, because one of them has the simulated arms and nodes, and waits half of the time; which tests go to which process
# is in tests/conftest.py.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest
# Nothing, or the compiler of the ziglang wheel where the machine has none: the core is compiled again when a source changes.
COMPILER = $$($(BIN)/python src/native/build_core.py --requires)
INPUTS := $(VENV)/pyvenv.cfg pyproject.toml requirements.lock

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-native lint-native tidy-native test-all docs test-newton test-isaac ur-simulator release fuzz lint format bench tables lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo "  PYTHON=python3.12 picks the interpreter of a new .venv; JOBS=4 the number of test processes."
	@echo "  MINUTES=20 is how long make fuzz attacks; TABLES='startup bags' chooses by page or command."

demo: $(READY_RUN)  ## install what a user needs, run iparam demo
	$(BIN)/iparam demo

test: lint  ## lint, types, import layers, then the tests of every module and law: minutes
	$(PYTEST) -n $(JOBS) --dist loadfile --quick

test-all: lint  ## the same with studies by repetition, every page in a browser, and each extra installed alone: what CI runs
	IPARAM_TEST_EXTRAS=1 $(PYTEST) -n $(JOBS) --dist loadfile

docs: $(READY_DEV)  ## the site in build/docs: runs every example; a warning or a dead link is an error
	MPLBACKEND=agg OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo "build/docs/index.html"

test-newton: $(READY_NEWTON)  ## the tests of simulators, with Newton, in an environment of its own
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(VENV)-newton/bin/python -m pytest tests/simulation/newton

test-isaac: $(READY_ISAAC)  ## the adapter for Isaac Lab, with Isaac Lab on the processor, in an environment of its own
	@# Isaac Lab and what it loads warn of their own deprecations.
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(VENV)-isaac/bin/python -m pytest -W ignore tests/bridges/isaac

fuzz: $(READY_DEV)  ## attack every command and file format with new seeds; what breaks is kept in fuzz-failures
	PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m attack.fuzz --minutes $(MINUTES) --jobs $(JOBS)

test-native: $(READY_DEV)  ## the native core's tests under the address and undefined-behaviour sanitizers (g++)
	$(BIN)/python tests/native/sanitized.py

lint-native: $(READY_DEV)  ## format of the native core, and its compilation with warnings as errors
	$(BIN)/clang-format --dry-run --Werror src/native/*.cpp src/native/*.hpp
	@mkdir -p build/native
	$(BIN)/python src/native/build_core.py build/native/core.so

tidy-native: $(READY_DEV)  ## clang-tidy of the native core
	ls src/native/*.cpp | xargs -P $(JOBS) -I{} $(BIN)/clang-tidy --quiet {} -- -std=c++20 -nostdinc++ -DIPARAM_PATH=baseline

lint: $(READY_DEV) lint-native  ## ruff, mypy, import-linter, lint-native
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY_DEV)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i src/native/*.cpp src/native/*.hpp

# make ur-simulator MASS=2 NOISE=ur5e HOST=127.0.0.2 FAULT="protective-stop@20"; ARGS=--help tells the rest.
ur-simulator: $(READY_DEV)  ## a simulated UR controller to practise with (MASS=2 NOISE=ur5e HOST=.. FAULT=.. ARGS=..)
	@PYTHONPATH=tests OPENBLAS_NUM_THREADS=1 $(BIN)/python -m doubles.ur_controller $(if $(HOST),--host $(HOST)) \
		$(if $(MASS),--mass $(MASS)) $(if $(SIZE),--size $(SIZE)) $(if $(NOISE),--noise $(NOISE)) \
		$(if $(CLOCK),--clock $(CLOCK)) $(if $(FAULT),--fault $(FAULT)) $(ARGS)

tables: $(READY_DEV)  ## all measured tables of the docs, made anew, stamped: hours, on a quiet machine (TABLES=--list)
	$(BIN)/python benchmarks/tables.py $(TABLES)

bench: $(READY_DEV)  ## run every benchmark; each prints ratios
	@# 77: what it needs is not on this machine, which it says.
	@set -e; for script in $(sort $(wildcard benchmarks/bench_*.py)); do \
		echo "== $$script"; PYTHONPATH=tests $(BIN)/python $$script || [ $$? = 77 ]; done

release: $(READY_DEV)  ## wheel and sdist in dist/, and a demo from the wheel in a fresh environment; uploads nothing
	$(BIN)/python tests/release.py

lock:  ## write requirements.lock anew from the newest versions that pyproject.toml allows
	@echo "Resolving dependencies in a fresh environment ..."
	@rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	@$(VENV)-lock/bin/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@$(VENV)-lock/bin/python -m pip freeze --disable-pip-version-check --exclude-editable \
		--exclude pip --exclude setuptools --exclude wheel | grep -E '^[A-Za-z0-9_.-]+==' > requirements.lock
	@rm -rf $(VENV)-lock
	@echo "requirements.lock: $$(wc -l < requirements.lock) packages."

clean:  ## remove the environment, caches and build output
	rm -rf $(VENV) $(VENV)-lock $(VENV)-newton $(VENV)-isaac build dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis \
		docs/api docs/gallery
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v < (3, 15) else \
		"iparam needs Python 3.11 to 3.14, $(PYTHON) is %d.%d: try make PYTHON=python3.11" % v)'
	@echo "Creating $(VENV) with $$($(PYTHON) --version) ..."
	@$(PYTHON) -m venv --clear $(VENV)

$(READY_RUN): $(INPUTS)
	@echo "Installing iparam with its simulator and plots into $(VENV) ..."
	@$(PIP_INSTALL) -c requirements.lock -e '.[mujoco,plot]' $(COMPILER)
	@touch $@

$(READY_DEV): $(INPUTS)
	@echo "Installing iparam with its development tools into $(VENV); the first time takes some minutes ..."
	@$(PIP_INSTALL) -c requirements.lock -e '.[dev]' $(COMPILER)
	@touch $(READY_RUN) $@

# Newton asks for a MuJoCo of another version than the rest is tested with.
$(READY_NEWTON): pyproject.toml
	@echo "Installing iparam with Newton into $(VENV)-newton; the first time takes some minutes ..."
	@$(PYTHON) -m venv $(VENV)-newton
	@$(VENV)-newton/bin/python -m pip install -qq --disable-pip-version-check -e '.[newton]' pytest hypothesis
	@touch $@

# Isaac Lab 3.0 is for Python 3.12. What its Newton backend loads, and no more: not omniverseclient, which has a licence of
# its own and only fetches assets from servers. Nothing here asks for the acceptance of a licence, and isaacsim, which
# does, is not among it.
$(READY_ISAAC): pyproject.toml
	@echo "Installing iparam with Isaac Lab into $(VENV)-isaac, 6 GB; the first time takes some minutes ..."
	@$(ISAAC_PYTHON) -m venv $(VENV)-isaac
	@$(VENV)-isaac/bin/python -m pip install -qq --disable-pip-version-check -e . pytest pytest-rerunfailures hypothesis \
		torch==2.11.0 'newton[sim]==1.6.1' warp-lang==1.17.0 usd-exchange==3.0.1 'newton-usd-schemas>=0.5' lazy_loader \
		prettytable trimesh gymnasium hydra-core packaging psutil tqdm rich filelock scipy Jinja2 requests h5py
	@$(VENV)-isaac/bin/python -m pip install -qq --disable-pip-version-check --no-deps isaaclab==3.0.0
	@touch $@
