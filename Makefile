# Every target creates what it needs from nothing; the second time it is quick.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SOURCES := setup.py pyproject.toml $(wildcard treefactor/*.pyx treefactor/*.pxd treefactor/*.h treefactor/kernels/*)

.PHONY: demo test test-slow lint bench dashboard clean

demo: $(READY)
	$(BIN)/treefactor check

test: $(READY)
	$(BIN)/python -m pytest

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	. $(BIN)/activate && cython-lint treefactor

bench: $(READY)
	$(BIN)/python asv_bench/quick.py

dashboard: $(READY)
	$(BIN)/python asv_bench/dashboard.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(READY): $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info treefactor/*.so treefactor/*.c
