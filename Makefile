# Every target installs and builds what it needs; later calls reuse it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet
UV     := $(BIN)/uv pip install --quiet --python $(BIN)/python
TOOLS  := $(VENV)/.tools
ENGINES := $(VENV)/.engines
BUILT  := $(VENV)/.built
NATIVE := $(VENV)/.native
READY  := $(VENV)/.ready
SOURCES := setup.py pyproject.toml $(shell find treefactor -name '*.p[yx][xd]' -o -path '*/kernels/*.[ch]')
PYBULLET := $(VENV)-pybullet
ARM     := .arm64
CHECKED := .sanitized$(if $(OPTIMIZED),-optimized)
CHECKS  := -fsanitize=address,undefined -fno-sanitize-recover=undefined
COVERED := .covered

NEWEST  := .newest
PARALLEL := -n auto --maxprocesses 4 --dist worksteal

# tests start many processes, each of which would compile every module that it imports
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo pybullet test test-slow matrix test-newest lock build-times sanitize valgrind coverage fuzz lint compilers arm64 mutants generate bench compare history dashboard docs check-pages measure clean

# engines are unpacked while the kernels are compiled: for this processor only, unless an environment has all
demo: $(TOOLS)
	+@$(MAKE) --no-print-directory --jobs=2 $(ENGINES) $(if $(wildcard .venv*/.built),$(BUILT),$(NATIVE))
	$(BIN)/treefactor check

# Build PyBullet from its source package, for versions of Python that it has no wheels for, in an environment of its
# own, and compare it with the other engines. Building takes a quarter of an hour of one core.
pybullet: $(PYBULLET)/treefactor.toml
	$(BIN)/treefactor check --config $(PYBULLET)/treefactor.toml

# it sees treefactor and NumPy by a .pth file that leads to the packages of the other environment
PATH_FILE := import sysconfig; print("import site; site.addsitedir(" + ascii(sysconfig.get_path("purelib")) + ")")
$(PYBULLET)/treefactor.toml: | $(TOOLS)
	$(MAKE) --no-print-directory $(ENGINES) $(BUILT)
	$(BIN)/python -m venv $(PYBULLET)
	$(BIN)/python -c '$(PATH_FILE)' > "$$($(PYBULLET)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/treefactor.pth"
	$(PYBULLET)/bin/python -m pip install --quiet --no-deps "$$(sed -n 's/^\(pybullet==[0-9.]*\).*/\1/p' requirements/demo.txt)"
	printf '[engines.%s]\n' pinocchio mujoco pybullet > $@.draft
	echo 'python = "bin/python"' >> $@.draft
	mv $@.draft $@

test: $(READY)
	$(BIN)/python -m pytest $(PARALLEL)

# Run the slow tests, and all properties with all their examples.
test-slow: $(READY)
	$(BIN)/python -m pytest -m slow
	$(BIN)/python -m pytest -m 'hypothesis and not slow' --hypothesis-profile=thorough

# Run the fast suite with the newest versions that pyproject.toml allows, in a separate build.
test-newest:
	rm -rf $(NEWEST)
	$(PYTHON) -m venv $(NEWEST)
	$(call copy_sources,$(NEWEST))
	$(NEWEST)/bin/python -m pip install --quiet '$(NEWEST)/source[dev]'
	cd $(NEWEST) && bin/python -m pytest $(PARALLEL) ../tests

# Write the newest versions, for every Python and system, into the files that demo and test use.
lock: $(VENV)/bin/python
	sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr -d '" ' | tr ',' '\n' > $(VENV)/build.in
	$(LOCK) --upgrade --extra dev --output-file requirements/dev.txt
	$(LOCK) --upgrade --extra demo --constraint requirements/dev.txt --output-file requirements/demo.txt

LOCK := $(BIN)/uv pip compile pyproject.toml $(VENV)/build.in --universal --python-version 3.10 --no-annotate \
  --quiet --custom-compile-command "make lock"

# Print the processor time of compiling each file, one after the other.
build-times: $(BUILT)
	rm -rf build/times
	$(call copy_sources,build/times)
	cd build/times/source && TREEFACTOR_BUILD_TIMES=1 $(CURDIR)/$(BIN)/python setup.py --quiet build_ext

# Run the fast suite with every memory access of the compiled modules checked, in a separate build; needs GCC.
# Tests marked unsanitized are left out: they measure times, preload a library, or run other builds.
# OPTIMIZED=1 checks the modules as they are shipped, instead of without optimization and with checks of bounds;
# SANITIZED=tests/control runs a part.
SANITIZED ?= tests
sanitize: $(CHECKED)/.ready
	cd $(CHECKED) && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	  ../$(BIN)/python -m pytest -m 'not slow and not unsanitized' $(addprefix ../,$(SANITIZED))

$(CHECKED)/.ready: $(READY)
	rm -rf $(CHECKED)
	$(call copy_sources,$(CHECKED))
	$(if $(OPTIMIZED),,TREEFACTOR_DEBUG=1) CC=gcc CFLAGS="$(CHECKS)" LDFLAGS="$(CHECKS)" \
	  $(BIN)/python -m pip install --quiet --no-deps --target $(CHECKED) $(CHECKED)/source
	touch $@

# Find uses of uninitialized values in one call of every compiled function; needs valgrind.
valgrind: $(READY)
	$(BIN)/python tests/valgrind.py

# List lines of Python and Cython that the fast suite does not run, in a separate build with line tracing. Tests
# marked uncovered are left out: they build the wheel, count allocations, repeat whole files, or have time limits.
REPORT := ../$(BIN)/python -m coverage report
coverage: $(COVERED)/.ready
	find treefactor -name '*.py' -exec cp --parents -t $(COVERED) {} +
	cp adapters/*.py $(COVERED)/treefactor/adapters
	cd $(COVERED) && rm -f .coverage* && export PYTHONPATH="$(CURDIR)/$(COVERED)" COVERAGE_RCFILE=../pyproject.toml && \
	  ../$(BIN)/python -m coverage run -m pytest --hypothesis-profile=traced \
	    -m 'not slow and not uncovered' ../tests && \
	  ../$(BIN)/python -m coverage combine --quiet && \
	  echo "Python" && $(REPORT) --include='*.py' --format=total && \
	  echo "Cython" && $(REPORT) --include='*.pyx' --format=total && \
	  $(REPORT) --fail-under=95

$(COVERED)/.ready: $(READY)
	rm -rf $(COVERED)
	$(call copy_sources,$(COVERED))
	TREEFACTOR_COVERAGE=1 $(BIN)/python -m pip install --quiet --no-deps --target $(COVERED) $(COVERED)/source
	cd $(COVERED)/source && find treefactor -name '*.p[yx]*' -o -name '_*.c' | xargs cp --parents -t ..
	touch $@

# Try invalid inputs, FUZZ seconds for each kind; .fuzz keeps those that fail.
FUZZ ?= 60
fuzz: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	for harness in fuzz/fuzz_*.py; do \
	  rm -rf .fuzz/tmp && mkdir -p .fuzz/tmp && \
	  TMPDIR="$(CURDIR)/.fuzz/tmp" $(BIN)/python $$harness -max_total_time=$(FUZZ) \
	    -artifact_prefix="$(CURDIR)/.fuzz/" || exit 1; \
	done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	. $(BIN)/activate && cython-lint treefactor
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest treefactor.linalg._factor_methods treefactor.quantities.functions treefactor.se3 treefactor.so3 \
	  --mypy-config-file pyproject.toml --ignore-missing-stub --ignore-disjoint-bases

# Check the kernels, and the modules that Cython translates, with each of COMPILERS; a warning is an error.
COMPILERS ?= gcc clang
compilers: $(READY)
	@export C_INCLUDE_PATH="$$($(BIN)/python -c '$(INCLUDED)')" && for compiler in $(COMPILERS); do \
	  check="$$compiler -fsyntax-only -Werror -Wno-psabi -Itreefactor" && echo "$$compiler" && \
	  find treefactor/kernels -name '*.c' -print0 | xargs -0 -n 1 $$check -Wall && \
	  find treefactor -name '_*.c' -print0 | xargs -0 -n 1 $$check || exit 1; \
	done
INCLUDED := import numpy, sysconfig; print(numpy.get_include(), sysconfig.get_path("include"), sep=":")

# Build the package for arm64 (3 minutes of one core), and test under emulation that batches have the bits of single
# calls (3 more). ARM_TESTS="tests/tree tests/dynamics" runs others, and takes most of an hour. Needs Debian's packages
# mmdebstrap, qemu-user and gcc-aarch64-linux-gnu.
ARM_TESTS ?= tests/quantities/test_declared_calls.py::test_a_batch_is_its_elements
arm64: $(ARM)/python
	cd $(ARM) && ./python -m pytest -q -p no:cacheprovider -m 'not slow' $(addprefix ../,$(ARM_TESTS))

$(ARM)/python: $(READY)
	rm -rf $(ARM) && mkdir $(ARM)
	mmdebstrap --quiet --variant=extract --architectures=arm64 --include=base-files,python3,libpython3-dev,libstdc++6 \
	  stable $(ARM)/root 'deb http://deb.debian.org/debian stable main'
	$(BIN)/python tests/arm64.py $(ARM)

# Plant ERRORS errors by rule in Python, Cython and C within WITHIN, and list those that no test notices: a minute or
# more each. SEED draws others.
ERRORS ?= 150
SEED ?= 0
WITHIN ?= treefactor
mutants: $(READY)
	$(BIN)/python tests/planted_errors.py --count $(ERRORS) --seed $(SEED) --within $(WITHIN)

# Write types, of JAX and PyTorch, too, public names and the API page from the declarations in treefactor/quantities.
generate: $(READY)
	$(BIN)/python -m treefactor.quantities.stubs

# Print how many times faster than other packages everything is; with GOALS=1 also the goals of this project.
bench: $(READY)
	$(BIN)/python asv_bench/quick.py $(if $(GOALS),--goals)

# Print what became slower or faster since commit BASE; NEW is the commit to compare with it.
NEW ?= HEAD
compare: $(READY)
	@test -n "$(BASE)" || { echo "usage: make compare BASE=<commit> [NEW=<commit>]"; exit 2; }
	$(BIN)/python asv_bench/compare.py $(BASE) $(NEW)

# Measure COMMIT and store its ratios for the pages; run this on an idle machine.
COMMIT ?= HEAD
history: $(READY)
	$(BIN)/python asv_bench/history.py $(COMMIT)

dashboard: $(READY)
	$(BIN)/python asv_bench/dashboard.py

# Make pictures anew whose scripts have changed, and build the pages, which runs their code; a warning is an error.
docs: $(READY)
	rm -rf docs/api/generated
	$(BIN)/python docs/code/pictures.py
	$(BIN)/python -m sphinx -E -W --keep-going -q docs build/docs
	@echo "built: build/docs/index.html"

# Open the built pages in headless Chromium, wide and narrow, and search them (Debian: apt-get install chromium).
check-pages: docs
	$(BIN)/python -m pip install --quiet --editable '.[browser]'
	$(BIN)/python docs/code/check_pages.py

# Compare all robots and traps in all engines, and store the results that the pages show: some minutes, and most of
# an hour for the three engines that compile for every robot (pip install -e '.[mjx,jaxsim,frax,dm_control]').
MATRIX := $(BIN)/treefactor check --config docs/conformance/treefactor.toml
matrix: $(READY)
	mkdir -p build
	-$(MATRIX) --json build/conformance.json
	-$(MATRIX) --engine mjx jaxsim frax --json build/compiling.json
	$(BIN)/python docs/code/conformance_pages.py build/conformance.json build/compiling.json

# Measure the times that the pages show; run this on an idle machine.
measure: $(READY)
	for robot in ur5_robot panda solo12 talos_reduced; do \
	  $(BIN)/treefactor bench $$robot --goals --json docs/measured/$$robot.json || exit 1; done
	$(BIN)/treefactor bench --all --json docs/measured/all_robots.json
	$(BIN)/treefactor families --json docs/measured/families.json
	$(BIN)/treefactor bench mlcp --goals --json docs/measured/mlcp.json
	$(BIN)/treefactor bench loops --goals --json docs/measured/loops.json
	$(BIN)/python docs/code/measure.py
	$(BIN)/python docs/code/speed.py
	$(BIN)/python -m treefactor.quantities.stubs

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	-$(PIP) uv

# uv is several times as fast as pip, which knows more kinds of indices and proxies
install = $(UV) $(1) || $(PIP) $(1)

$(TOOLS): requirements/demo.txt | $(VENV)/bin/python
	grep -E '^(cython|numpy|setuptools)==' requirements/demo.txt > $(VENV)/tools.txt
	$(call install,-r $(VENV)/tools.txt)
	touch $@

$(ENGINES): $(TOOLS)
	$(call install,-r requirements/demo.txt)
	touch $@

$(BUILT): $(TOOLS) $(SOURCES)
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(NATIVE): $(TOOLS) $(SOURCES)
	TREEFACTOR_NATIVE=1 $(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(READY): $(ENGINES) $(BUILT) requirements/dev.txt
	$(call install,-r requirements/dev.txt)
	touch $@

# Copy the sources of the package, without generated files, into a folder `source`.
define copy_sources
	mkdir -p $(1)/source
	cp -r setup.py pyproject.toml README.md LICENSE treefactor adapters $(1)/source
	find $(1)/source -name '_*.c' -delete -o -name only.h -delete
endef

clean:
	rm -rf $(VENV) .venv-* $(ARM) .sanitized* $(COVERED) $(NEWEST) .builds .fuzz .mutants build dist *.egg-info docs/api/generated
	find treefactor -name '*.so' -delete -o -name '_*.c' -delete -o -name only.h -delete
