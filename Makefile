# Everything a user or a contributor types. `make help` lists it.
#
# Needs GNU make, Python >= 3.11 with venv, and a C compiler. All of Python's packages go into
# .venv, all output into build/ and dist/. Overridable: PYTHON, FUZZ_SECONDS, ROBUST_VARIANTS,
# SYNTH_EXAMPLES, STRESS_ROUNDS, WORKERS (processes that test side by side), ROOM (what `make check`
# tests), PYTEST_ARGS.

PYTHON          ?= python3
FUZZ_SECONDS    ?= 3600
ROBUST_VARIANTS ?= 500
SYNTH_EXAMPLES  ?= 5000
STRESS_ROUNDS   ?= 25
WORKERS         ?= auto
ROOM            ?=
PYTEST_ARGS     ?=

VENV := .venv
BIN  := $(VENV)/bin
# A target is remade when pyproject.toml is newer: with nothing changed, make starts no pip.
BASE := $(VENV)/.installed
DEV  := $(VENV)/.installed-dev
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The suite draws the same random examples each time; these look for new ones.
EXPLORE := --hypothesis-profile=explore

PACKAGES := cli frontend ir eqsat synth codegen
# What pip does for a wheel and not for an editable install. Without bytecode a start takes a third
# longer, and where PYTHONDONTWRITEBYTECODE is set Python never writes any.
COMPILE  := $(BIN)/python -m compileall -q $(PACKAGES)
LINKS    := build/path/.linked

DEMO_KERNEL := samples/denoise.hb
DEMO_INPUT  := samples/data/astronaut.png
DEMO        := build/demo

.DEFAULT_GOAL := help
.PHONY: help demo check test costs docs generated outputs fuzz robust proofs stress bench gpu-bundle wheel clean distclean

help:
	@echo 'make demo       install into .venv, add noise to a real photograph and remove it'
	@echo 'make check      ruff, mypy and the quick tests: two minutes; ROOM=codegen/neon for a room and those above it'
	@echo 'make costs      measures which tests are quick, into tests/suite/costs.tsv'
	@echo 'make test       ruff, mypy and pytest (PYTEST_ARGS="-k name" to select)'
	@echo 'make docs       the documentation as a site, build/site'
	@echo 'make generated  what is written from tables of the product: pages, manuals, files of editors, the map of rooms'
	@echo 'make outputs    every text that is made of the samples, below build/outputs: compare two commits with diff -r'
	@echo 'make fuzz       random kernels, schedules and sizes for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make robust     ROBUST_VARIANTS=$(ROBUST_VARIANTS) re-spelled variants each of three kernels: all must map;'
	@echo '                SYNTH_EXAMPLES=$(SYNTH_EXAMPLES) random sketches against plain enumeration'
	@echo 'make proofs     proofs of all published synthesis benchmarks, written and checked'
	@echo 'make stress     STRESS_ROUNDS=$(STRESS_ROUNDS) rounds of signals, full disks, broken compilers and damaged caches, counted'
	@echo 'make bench      every benchmark, as one table'
	@echo 'make gpu-bundle a folder that checks and times the CUDA samples on a machine without hbc'
	@echo 'make wheel      dist/hbc-*.whl'
	@echo 'make clean      remove build output and caches; make distclean: .venv too'

demo: $(BASE)
	@mkdir -p $(DEMO)
	$(BIN)/python samples/demo.py noise $(DEMO_INPUT) $(DEMO)/noisy.png
	@echo 'Denoising $(DEMO)/noisy.png: hbc compiles $(DEMO_KERNEL) to C, the C compiler makes it'
	@echo 'native, and the result is compared with the same algorithm evaluated by NumPy.'
	$(BIN)/hbc run $(DEMO_KERNEL) --input $(DEMO)/noisy.png --output $(DEMO)/denoised.png --verify
	@$(BIN)/python samples/demo.py compare $(DEMO_INPUT) $(DEMO)/noisy.png $(DEMO)/denoised.png $(DEMO)/compared.png
	@echo 'Noisy, denoised and the original side by side: $(DEMO)/compared.png'

test: $(DEV) $(LINKS)
	@$(COMPILE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo '$(BIN)/mypy, which takes one processor, beside the tests:'
	@$(BIN)/mypy & typed=$$!; \
	$(BIN)/python -m pytest --timeout=900 --numprocesses=$(WORKERS) --dist=loadfile $(PYTEST_ARGS); tested=$$?; \
	wait $$typed || { echo 'mypy found mistakes: they stand above' >&2; exit 1; }; exit $$tested

# While working: the cases that tests/suite/costs.tsv calls quick, of a room and those above it with
# ROOM=codegen/neon. mypy answers from its cache, compilers from build/compiled.
check: $(DEV) $(LINKS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests -q -m 'not slow' --hypothesis-profile=quick $(if $(ROOM),--room=$(ROOM)) \
	    --timeout=120 --numprocesses=$(WORKERS) --dist=loadfile $(PYTEST_ARGS)

# What several cases share is compiled once, as in continuous integration: for the first. As long as `make test`.
costs: $(DEV)
	rm -rf build/measured
	HBC_TEST_COMPILES=$(CURDIR)/build/measured $(BIN)/python -m pytest tests -q --timeout=900 --numprocesses=$(WORKERS) --dist=loadfile \
	    --record-costs=tests/suite/costs.tsv
	rm -rf build/measured

# Links and anchors are checked: a broken one is an error.
docs: $(BASE)
	$(PIP) install -e '.[docs]'
	$(BIN)/python docs/make_commands.py
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict --quiet

generated: $(DEV)
	$(BIN)/python tests/docs/test_tables.py
	$(BIN)/python docs/make_commands.py
	$(BIN)/python docs/make_tutorial.py
	$(BIN)/python docs/make_json.py
	$(BIN)/python editors/make.py
	$(BIN)/python tests/layering/room_map.py

outputs: $(BASE)
	$(BIN)/python tests/same_output/outputs.py build/outputs

fuzz: $(DEV)
	HBC_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest --timeout=0 $(EXPLORE) tests/fuzz $(PYTEST_ARGS)

robust: $(DEV)
	HBC_ROBUST_VARIANTS=$(ROBUST_VARIANTS) $(BIN)/python -m pytest --timeout=0 $(EXPLORE) tests/robust $(PYTEST_ARGS)
	HBC_SYNTH_EXAMPLES=$(SYNTH_EXAMPLES) $(BIN)/python -m pytest --timeout=0 $(EXPLORE) tests/synth/search/test_brute_force.py

# Proofs of the larger published benchmarks: some minutes.
proofs: $(DEV)
	HBC_PROOFS=1 $(BIN)/python -m pytest --timeout=0 tests/cli/proofs $(PYTEST_ARGS)

# Some ten minutes on two cores: a round takes twenty seconds.
stress: $(DEV)
	HBC_STRESS_ROUNDS=$(STRESS_ROUNDS) timeout 3600 $(BIN)/python -m pytest --timeout=0 -q --numprocesses=0 tests/stress $(PYTEST_ARGS)

bench: $(BASE)
	PATH="$(CURDIR)/$(BIN):$$PATH" samples/bench/all.sh

gpu-bundle: $(BASE)
	$(BIN)/python samples/bench/gpu_bundle.py -o build/gpu-bundle
	$(BIN)/python samples/bench/gpu_floors.py build/gpu-bundle >build/gpu-bundle/ON_PAPER.md

# setuptools packs whatever an earlier build left in build/lib, deleted modules included.
wheel: $(DEV)
	rm -rf build/lib build/bdist.* dist
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

clean:
	rm -rf build dist hbc.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(PACKAGES) tests samples -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)

# The first Python that is new enough; a half-made environment is removed, so that the next make
# starts over. Debian ships venv without ensurepip, hence the second test.
$(BIN)/python:
	@python=; \
	for candidate in $(PYTHON) python3.14 python3.13 python3.12 python3.11; do \
	    if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        python=$$candidate; break; \
	    fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo 'hbc needs Python 3.11 or newer: install it, or name it with make PYTHON=...' >&2; \
	    exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	    echo "hbc needs Python's venv module: apt-get install python$$version-venv" >&2; \
	    exit 1; \
	fi; \
	echo "$$python -m venv $(VENV)"; \
	"$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(BASE): pyproject.toml | $(BIN)/python
	@echo 'Installing hbc into $(VENV) ...'
	@$(PIP) install --editable .
	@$(COMPILE)
	@touch $@

$(DEV): $(BASE)
	@echo 'Installing the tools for development into $(VENV) ...'
	@$(PIP) install --editable '.[dev]'
	@touch $@

# hbc as mypy sees it. One link for each part: a single link to the root would contain itself.
$(LINKS): pyproject.toml
	@mkdir -p build/path/hbc
	@for part in $(PACKAGES) __init__.py __main__.py; do \
	    ln -sfn "../../../$$part" "build/path/hbc/$$part" || exit 1; \
	done
	@touch $@
