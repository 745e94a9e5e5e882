# Each target makes what it needs: the virtual environment, then the install.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# setuptools warns of each editable install, of folders with the name of the package.
export PYTHONWARNINGS = ignore:Editable installation:UserWarning
# Hundreds of processes start in the tests: none compiles again what the one before it compiled.
unexport PYTHONDONTWRITEBYTECODE

# A rewrite survives a fault of one pass; who looks for faults wants to see it.
conversions fuzz attack: export STRAIGHTLINE_FAULTS = raise
# The fuzzers share models and comparisons with the tests.
conversions fuzz attack hostile mutants: export PYTHONPATH = tests/support

.PHONY: demo test lint types pytest pytest-1 pytest-2 unclaimed pyright conversions fuzz attack hostile mutants browser bench regress clients trials docs lowest wheel release clean

$(VENV)/.installed: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[test,bench]'
	touch $@

demo: $(VENV)/.installed  ## rewrite a real model and show what happened
	$(PY) examples/demo.py

# mypy has one process: the tests run beside it.
test: lint unclaimed  ## linting, strict type checking, all tests
	$(MAKE) --no-print-directory --jobs=3 types pytest-1 pytest-2

pytest: unclaimed
	$(MAKE) --no-print-directory --jobs=2 pytest-1 pytest-2

unclaimed: $(VENV)/.installed
	rm -rf build/tests

# Two processes that share the folders of the tests. To rewrite the asserts of all files takes each ten seconds: only tests
# that fail run again with it.
pytest-1 pytest-2:
	STRAIGHTLINE_FOLDERS=build/tests $(PY) -m pytest --assert=plain -o console_output_style=classic -o cache_dir=build/$@ || { $(PY) -m pytest --last-failed --last-failed-no-failures=none -o cache_dir=build/$@; exit 1; }

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The root is the package, so the checker is shown it under its real name through a link.
types: $(VENV)/.installed
	mkdir -p build/types
	ln -sfn ../.. build/types/straightline
	$(PY) -m straightline.dev.tools.page_types build/types/pages
	MYPYPATH=build/types:build/types/pages:tests/support $(BIN)/mypy -p straightline.analysis -p straightline.batch -p straightline.cli -p straightline.definitions -p straightline.display -p straightline.driver -p straightline.facts -p straightline.interop -p straightline.ir -p straightline.limits -p straightline.ops -p straightline.options -p straightline.passes -p straightline.records -p straightline.reduction -p straightline.reference -p straightline.report -p straightline.runtimes -p straightline.targets -p straightline.verification -p straightline.version_converter -p straightline.versions \
	  -m straightline -m straightline.__main__ -m typed_calls $$(basename -s .py build/types/pages/*.py | sed 's/^/-m /')

pyright: $(VENV)/.installed  ## calls as users write them, checked by pyright
	$(BIN)/pip install --quiet basedpyright
	mkdir -p build/types
	ln -sfn ../.. build/types/straightline
	cp tests/support/typed_calls.py build/types/
	echo '{"enableTypeIgnoreComments": true, "reportUnnecessaryTypeIgnoreComment": "error"}' > build/types/pyrightconfig.json
	cd build/types && ../../$(BIN)/basedpyright --pythonpath ../../$(PY) --level error typed_calls.py

conversions: $(VENV)/.installed  ## each operator, type and shape to each opset; EVERY: one conversion of so many
	$(PY) dev/fuzz/conversion_sweep.py --every $(or $(EVERY),20)

fuzz: $(VENV)/.installed  ## every test, with all cases and many random examples; mutants, and special values
	STRAIGHTLINE_TESTS=all $(PY) -m pytest -n $(or $(JOBS),2)
	$(PY) dev/fuzz/fuzz.py
	$(PY) dev/fuzz/fuzz_mutants.py
	$(PY) -W ignore dev/fuzz/fuzz_cells.py
	$(PY) -W ignore dev/fuzz/fuzz_loops.py
	$(PY) dev/fuzz/effort.py
	$(PY) dev/fuzz/special_values.py
	$(PY) dev/fuzz/constant_graphs.py
	$(PY) dev/fuzz/zero_iterations.py
	$(PY) dev/fuzz/size_arithmetic.py
	$(PY) dev/fuzz/fuzz_rewrites.py --draws loops
	$(PY) dev/fuzz/fuzz_rewrites.py --draws flat --models 2000

# SEED: another one makes other mutants; 200 models give about 10,000 that a run tells apart.
attack: $(VENV)/.installed  ## mutants of rewrites, rules on small numbers, opsets: no false proof
	$(PY) dev/fuzz/attacked_rules.py --cases 3000 --seed $(or $(SEED),0)
	$(PY) dev/fuzz/attacked_opsets.py
	$(PY) dev/fuzz/proof_mutants.py --models 200 --seed $(or $(SEED),0)
	$(PY) dev/fuzz/fuzz_mutants.py --stage prove --mutants 50000 --seed $(or $(SEED),0)

# SEEDS: how many of each kind are put together at random.
hostile: $(VENV)/.installed  ## models of a few KB that ask for much, each under limits of memory and time
	$(PY) dev/fuzz/hostile
	$(PY) dev/fuzz/hostile/seeded.py --seeds $(or $(SEEDS),40)

# WHERE: folders or files; SAMPLE: how many mutants (0: all); MORE: other options, see tests/README.md.
mutants: $(VENV)/.installed  ## small faults in the source: which of them do the tests notice?
	$(BIN)/pip install --quiet --editable '.[mutants]'
	$(PY) dev/fuzz/mutants.py $(WHERE) --sample $(or $(SAMPLE),400) $(MORE)

# Chromium comes from the system: on Debian, apt-get install chromium. CHROMIUM names another one.
browser: $(VENV)/.installed  ## the page of a report in a real browser, with axe (needs npm)
	$(BIN)/pip install --quiet --editable '.[browser]'
	@command -v $(or $(CHROMIUM),chromium) >/dev/null || { echo "Chromium is needed: apt-get install chromium" >&2; exit 1; }
	$(PY) dev/tools/vendor_report_assets.py --checker $(VENV)/axe-4.14.1.min.js
	AXE=$(VENV)/axe-4.14.1.min.js $(PY) -m pytest tests/report

bench: $(VENV)/.installed  ## the numbers in docs/benchmarks.md
	$(PY) dev/benchmarks/unroll_gru.py
	$(PY) dev/benchmarks/proof.py
	$(PY) dev/benchmarks/flat_pipeline.py
	$(PY) dev/benchmarks/simplify.py
	$(PY) dev/benchmarks/nested_loops.py
	$(PY) dev/benchmarks/convert_joins.py
	$(PY) dev/benchmarks/many_models.py
	$(PY) -m straightline.dev.benchmarks.loops
	$(PY) dev/benchmarks/row_memory.py
	$(PY) dev/benchmarks/scale.py
	$(PY) dev/benchmarks/large_data.py --sparse
	$(PY) -m straightline.dev.tools.tool_table

# WRITE=1: replace the rows that changed, for the next commit.
regress: $(VENV)/.installed  ## time, nodes and proofs of 31 inputs beside the last commit's
	$(PY) -m straightline.dev.benchmarks.regress $(if $(WRITE),--write)

# In an environment of its own: the clients pin other packages, and torch alone takes a gigabyte. TORCH: pages or folders
# with a torch for processors; without it, those of pytorch.org. MORE: other options, such as --client openvino.
clients: build/clients/.installed  ## what compilers make of models with control flow: docs/clients.md
	build/clients/bin/python -m straightline.dev.benchmarks.clients --write $(MORE)

trials: build/clients/.installed  ## try the lists of targets in their clients, one node at a time: make trials CLIENT=openvino
	build/clients/bin/python -m straightline.dev.benchmarks.clients.nodes --client $(CLIENT) $(MORE)

build/clients/.installed: pyproject.toml
	test -x build/clients/bin/python || $(PYTHON) -m venv build/clients
	build/clients/bin/pip install --quiet --editable .
	build/clients/bin/python -m straightline.dev.benchmarks.clients.installing $(TORCH)
	touch $@

docs: $(VENV)/.installed  ## the documentation as a site in build/site, without a warning
	$(BIN)/pip install --quiet --editable '.[docs]'
	$(PY) dev/tools/site.py

lowest: $(VENV)/.installed  ## the main commands with the lowest versions that pyproject.toml allows
	$(PY) dev/tools/lowest_versions.py build/lowest

wheel: $(VENV)/.installed  ## a wheel in dist, checked as the registry checks it
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/twine check --strict dist/*.whl
	$(BIN)/check-wheel-contents dist/*.whl

release: wheel  ## wheel and source archive of the version in dist, checked, and the tag for them
	rm -f dist/*.tar.gz
	$(PY) -c "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"
	$(BIN)/twine check --strict dist/*
	$(PY) dev/tools/release.py

clean:
	rm -rf $(VENV) build dist *.egg-info
