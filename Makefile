# Tasks of the project. `make run` and `make test` do their own set-up on a Debian machine with Rust, Python, make and gcc.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test lint rust-test doc develop python-test interop wheel bench fuzz java

VENV   := .venv
PYTHON := $(VENV)/bin/python
export CARGO_INCREMENTAL ?= 0
CARGO  := cargo
# Always the whole workspace, and with the examples, which need what tests need: anything less would compile the engine again
# with other features.
TARGET  = $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)

help:       ## shows the tasks
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: develop ## sets everything up and runs the main job in Rust SQL and in Python
	$(TARGET)/debug/examples/quickstart
	$(PYTHON) python/examples/quickstart.py

test: lint rust-test doc python-test interop ## sets everything up and runs all tests

lint:       ## formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

rust-test:  ## tests of the Rust crates, with the SQL suites
	RUST_BACKTRACE=0 $(CARGO) test --workspace --locked

doc:        ## documentation without warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

$(VENV)/.done: python/requirements-dev.txt
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install -q -r python/requirements-dev.txt
	touch $@

develop: $(VENV)/.done ## builds the Python module and makes it importable in .venv
	$(CARGO) build --workspace --lib --examples --locked
	install -m 644 $(TARGET)/debug/lib_native.so python/python/pypaimon_rust/_native.abi3.so
	echo "$(CURDIR)/python/python" > "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pypaimon_rust.pth"

python-test: develop ## tests of the Python module
	cd python && ../$(PYTHON) -m pytest -q tests

java:       ## the tools that the interoperability tests need
	@command -v javac >/dev/null && command -v mvn >/dev/null || { apt-get update -q && apt-get install -y -q default-jdk-headless maven; }

interop: develop java ## tables that Java Paimon reads and writes too
	cd sql-tests/interop && ../../$(PYTHON) -m pytest -q .

wheel: $(VENV)/.done ## a release wheel in python/dist
	cd python && ../$(VENV)/bin/maturin build --release --locked --out dist
	$(PYTHON) python/check_wheel.py python/dist

bench: wheel ## benchmarks of the release wheel, as ratios to stock DataFusion in the same run
	rm -rf .bench/package
	$(PYTHON) -m pip install -q --no-deps --target .bench/package python/dist/pypaimon_rust-*.whl
	PYTHONPATH=$(CURDIR)/.bench/package $(PYTHON) python/benchmarks/run.py

fuzz:       ## a fuzzer against every decoder of bytes from disk, FUZZ_SECONDS=600 each; FUZZ=orc for one
	paimon-core/fuzz/run.sh $(FUZZ)
