# One command for each thing that people and CI do. Everything runs in .venv, which `make setup` makes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUNS := $(VENV)/.installed-run
COMPILERS := .toolchain/.installed
comma := ,

.PHONY: setup setup-all test lint types kernels unit random demo fixtures bench docs clean

setup: $(STAMP)

# The stamp follows the lock and the project file: a changed dependency reinstalls, an unchanged one costs nothing.
$(STAMP): requirements.lock pyproject.toml
	@echo "Installing tileir-diff and its tools in $(VENV): pip is silent, and the first time takes a minute or two."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m compileall -q tileir_diff
	touch $@

# Also what only some parts need: torch, which runs kernels (5.4 GB), and the compilers of Tile IR (700 MB).
setup-all: setup $(RUNS) $(COMPILERS)

$(RUNS): requirements-run.lock $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-run.lock
	touch $@

$(COMPILERS): fixtures/make/toolchain.txt fixtures/make/toolchain.py $(STAMP)
	$(BIN)/python fixtures/make/make.py --install
	touch $@

test: lint types kernels unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/pyright

# The kernels in Rust: formatted, linted, each compiled to Tile IR that verifies, and compared with what it ports. Needs no GPU.
kernels: setup-all
	$(BIN)/python rust_kernels/check.py

unit: setup-all
	$(BIN)/python -m pytest -n auto --dist worksteal

# Properties with examples that no run has seen yet.
random: setup-all
	$(BIN)/python -m pytest -n auto --hypothesis-profile new $(shell grep -rl hypothesis tests --include='test_*.py')

# $(call show,STATUS,TITLE,ARGUMENTS): runs the command on fixtures, and fails if it exits otherwise.
define show
	@echo; echo '== $(2)'; echo '$$ tileir-diff $(strip $(3))'; cd fixtures && { ../$(BIN)/tileir-diff $(3); status=$$?; \
	test $$status -eq $(1) || { echo "expected exit status $(1), got $$status" >&2; exit 1; }; }
endef

# A faithful port passes, three broken ones fail: a lost mask, a wrong axis, an accumulator that is not rescaled.
demo: setup
	$(call show,0,A faithful port: softmax in cuTile Python and in cuTile Rust,\
	  kernels/softmax/py.g.mlir kernels/softmax/rs.g.mlir --launch kernels/softmax/launch.json)
	$(call show,1,A store without its mask: right only where the size is a multiple of the tile,\
	  kernels/vector_add/py.g.mlir mistakes/store_mask_lost/gen.g.mlir)
	$(call show,1,The maximum along the other axis: both extents are 64$(comma) so the types agree,\
	  kernels/softmax/py.g.mlir mistakes/reduction_axis/gen.g.mlir)
	$(call show,1,An online softmax that does not rescale its accumulator,\
	  kernels/attention/py.g.mlir mistakes/rescale_forgotten/gen.g.mlir \
	  --launch mistakes/rescale_forgotten/launch.json)

# Makes all dumps again, from the kernels' sources, with the real compilers.
fixtures: setup
	$(BIN)/python fixtures/make/make.py

bench: setup
	$(BIN)/python -m benchmarks

docs: setup
	$(BIN)/python -m tileir_diff.rules.docs
	$(BIN)/python -m tileir_diff.report.schema
	$(BIN)/python -m tileir_diff.classify.schema
	$(BIN)/python -m tileir_diff.pipeline.schema

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -not -path './.toolchain/*' -prune -exec rm -rf {} +
