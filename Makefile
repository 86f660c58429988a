# make demo · make test are all a newcomer needs; each installs what it uses into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo test fast check format synthetic baselines reference bench peers beyond clean

help:
	@echo "make demo        cluster built-in data; writes demo/spaces.png and demo/report.md"
	@echo "make test        check style and types, run the tests with coverage"
	@echo "make fast        the tests but for the slow ones, a minute and a half"
	@echo "make check       style, types and layers only"
	@echo "make format      let ruff format the code"
	@echo "make synthetic   20 draws of each synthetic model (an hour) and docs/synthetic.md"
	@echo "make baselines   every baseline on real data (two hours; needs the data) and docs/baselines.md"
	@echo "make reference   compare our scattering transform with kymatio's, in an environment of its own"
	@echo "make beyond      DCN against UMAP and ClustPy (hours; installs gigabytes into .peers) and docs/results.html"
	@echo "make bench       speed and memory as ratios, and against peers (twenty minutes); results/speed.txt"
	@echo "make clean       remove .venv and everything made"

# torch first and exactly: a looser request would fetch gigabytes of GPU libraries.
$(VENV)/app: pyproject.toml constraints.txt
	@echo "Installing into $(VENV): a minute or two ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kfriendly needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) torch==2.13.0
	@$(INSTALL) -e '.[app]'
	@touch $@

$(VENV)/dev: $(VENV)/app
	@$(INSTALL) -e '.[dev]'
	@touch $@

demo: $(VENV)/app
	$(BIN)/kfriendly demo

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache | tail -n 3

# One torch thread for each of the two test processes: more would wait for each other.
test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov --cov-report=term -rs

fast: $(VENV)/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m "not slow"

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

synthetic: $(VENV)/dev
	$(BIN)/python benchmarks/synthetic.py run
	$(BIN)/python benchmarks/synthetic.py report

baselines: $(VENV)/dev
	$(BIN)/python benchmarks/baselines.py run
	$(BIN)/python benchmarks/baselines.py report

# kymatio is a reference to compare with, never a dependency: it lives in .reference.
reference:
	@$(PYTHON) -m venv .reference
	@.reference/bin/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	@.reference/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' kymatio==0.3.0
	OMP_NUM_THREADS=1 .reference/bin/python -m pytest -q -rs tests/datasets/test_scattering.py -k kymatio

# What people use instead is compared with, never a dependency: it lives in .peers.
peers: $(VENV)/dev
	$(BIN)/python benchmarks/peers.py

beyond: $(VENV)/dev peers
	$(BIN)/kfriendly paper run beyond
	$(BIN)/kfriendly paper report

bench: $(VENV)/dev
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) .peers .reference demo .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
