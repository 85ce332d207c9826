# Every target makes or reuses the environment it needs.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
LOWEST := .venv-lowest
RELEASE := .venv-release
SIZE ?= standard
# Modules are compiled when they are first imported: most of them never are.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo test test-all lowest bench coverage lint browser docs pages data release clean

# Something violated, exit code 1, is what the demo finds.
demo: $(VENV)/.ready-demo
	@$(VENV)/bin/causalfairness audit compas --record record.json --report report.html || test $$? -eq 1

# Tests run side by side, one for each core: more threads would only wait for each other. What one
# process has compiled is kept for the many that tests start.
test test-all: export OMP_NUM_THREADS = 1
test test-all: export PYTHONDONTWRITEBYTECODE =

test: browser lint
	$(VENV)/bin/python -m pytest -m "not slow"

test-all: browser lint lowest
	$(VENV)/bin/python -m pytest

# The lowest versions that are allowed: every way of reading, the README, commands, a whole audit.
# Left out: DuckDB 1 refuses names with quotes, and says of damaged files other things; pages that
# need torch. Old and new versions together may warn of what will go.
lowest: export OMP_NUM_THREADS = 1
lowest: $(LOWEST)/.ready
	cd $(LOWEST) && bin/causalfairness audit compas --record record.json --report report.html || test $$? -eq 1
	$(LOWEST)/bin/python -m pytest --noconftest -n 2 -W default -m "not slow" $(addprefix tests/test_,\
	    sources.py table.py tables_cells.py strata.py screens.py situations.py cli.py cli_audit.py audit.py) \
	    -k "not damaged_files and not names3"
	$(LOWEST)/bin/python -m pytest --noconftest -n 0 -W default tests/test_docs.py -k "README or getting-started or data"

lint: $(VENV)/.ready-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

browser:
	@$(PYTHON) tools/browser.py

bench: $(BENCH)/.ready
	$(BENCH)/bin/python -m benchmarks --size $(SIZE)

coverage: export OMP_NUM_THREADS = 1
coverage: $(VENV)/.ready-test
	$(VENV)/bin/python -m benchmarks.coverage

docs: $(VENV)/.ready-docs
	$(VENV)/bin/python -m sphinx -W --keep-going -b html docs docs/_build/html

pages: $(VENV)/.ready-test
	$(VENV)/bin/python tests/snippets.py

data: $(VENV)/.ready-test
	$(VENV)/bin/python tools/build_datasets.py

release: $(RELEASE)/.ready
	@$(RELEASE)/bin/python tools/release.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready-demo: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) -e .
	touch $@

$(VENV)/.ready-test: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) -e ".[test]"
	touch $@ $(VENV)/.ready-demo

$(VENV)/.ready-docs: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python $(PIP) -e ".[docs]"
	touch $@ $(VENV)/.ready-demo

$(BENCH)/.ready: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) -e ".[fast,graphs]" -r benchmarks/requirements.txt
	touch $@

$(LOWEST)/.ready: pyproject.toml tests/lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python $(PIP) -e ".[fast,graphs,plots]" hypothesis pandas polars pytest pytest-xdist -c tests/lowest.txt
	touch $@

$(RELEASE)/.ready:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python $(PIP) build twine "readme-renderer[md]"
	touch $@

clean:
	rm -rf $(VENV) $(BENCH) $(LOWEST) $(RELEASE) docs/_build docs/gallery dist build report.html record.json
