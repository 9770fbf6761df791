# Tilewright: `make test` and `make demo` need a Rust toolchain (1.88 or later) and a C compiler; what else
# is missing, `make setup` installs.

.DEFAULT_GOAL := help
.PHONY: help setup nvrtc build test test-long package lint format-check linter-found clippy doc unit-tests test-programs \
	tests-named-a tests-named-b-to-z examples demo bench

CARGO ?= cargo

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1 \2/p' $(MAKEFILE_LIST) | awk '{ printf "  %s %-10s", $$1, $$2; $$1 = $$2 = ""; print }'

setup: ## install what the build needs and is missing (see scripts/setup.sh)
	@scripts/setup.sh

build: setup ## build the command: target/release/tilewright
	$(CARGO) build --release --package tilewright

test: setup nvrtc ## everything that CI checks: format, lints, documentation, all tests
	@$(MAKE) --no-print-directory format-check linter-found test-programs
	@$(MAKE) --no-print-directory $(SIDE_BY_SIDE) tests-named-a tests-named-b-to-z examples

# NVIDIA's compiler and disassembler, and NumPy, for the tests that use them where they are there; TW_NVRTC=0 and TW_NUMPY=0
# do without.
nvrtc:
	@if [ "$${TW_NUMPY:-1}" != 0 ]; then scripts/get-numpy.sh; fi
	@if [ "$${TW_NVRTC:-1}" != 0 ]; then scripts/get-nvrtc.sh && scripts/get-nvdisasm.sh; fi

lint: format-check clippy ## formatter and linter, warnings are errors

# A newcomer's toolchain may lack rustfmt and clippy; CI may not.
format-check:
	@if $(CARGO) fmt --version >/dev/null 2>&1; then echo "$(CARGO) fmt --all --check"; $(CARGO) fmt --all --check; \
	elif [ "$${CI:-}" = true ]; then echo "rustfmt is missing, and CI needs it" >&2; exit 1; \
	else echo "SKIPPED: the format check, because rustfmt is missing (rustup component add rustfmt)"; fi

clippy:
	@if $(CARGO) clippy --version >/dev/null 2>&1; then echo "$(CARGO) clippy --workspace --all-targets"; \
	$(CARGO) clippy --locked --quiet --workspace --all-targets -- -D warnings; \
	elif [ "$${CI:-}" = true ]; then echo "clippy is missing, and CI needs it" >&2; exit 1; \
	else echo "SKIPPED: the linter, because clippy is missing (rustup component add clippy)"; fi

doc: ## build the documentation of all crates, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --quiet --workspace --no-deps

unit-tests: ## all tests, without the other checks
	@$(MAKE) --no-print-directory LINTER= test-programs
	@$(MAKE) --no-print-directory LINTER= RUSTDOC=rustdoc $(SIDE_BY_SIDE) tests-named-a tests-named-b-to-z examples

# Test programs run one after another, and the last tests of each leave cores idle: what runs is split in two, of like
# length, by names of programs, and documentation is made beside both. What each says stays together, where make can do that.
SIDE_BY_SIDE = --keep-going $(if $(filter output-sync,$(.FEATURES)),--jobs=3 --output-sync=target)

# cargo closes what make shares with its children, and complains where it is named.
tests-named-a tests-named-b-to-z examples: MAKEFLAGS =

# Clippy is the compiler with more lints: what tests run is built by it, and nothing is compiled once for the linter and
# once more for the tests.
LINTER := $(shell $(CARGO) clippy --version >/dev/null 2>&1 && command -v clippy-driver)

test-programs tests-named-a tests-named-b-to-z examples test-long: export RUSTC_WORKSPACE_WRAPPER = $(LINTER)
test-programs tests-named-a tests-named-b-to-z examples test-long: export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
# Pages are written where examples run.
RUSTDOC = $(CURDIR)/scripts/rustdoc-pages-and-examples.sh
examples: export RUSTDOC := $(RUSTDOC)

linter-found:
	@if [ -n "$(LINTER)" ]; then echo "tests are compiled by $(LINTER)"; \
	elif [ "$${CI:-}" = true ]; then echo "clippy is missing, and CI needs it" >&2; exit 1; \
	else echo "SKIPPED: the linter, because clippy is missing (rustup component add clippy)"; fi

# Examples as well: some tests use them as commands, and as the library that Python loads. (`cargo test --all-targets` would
# compile them as test programs instead, and `cargo build --examples` everything once more.) Benchmarks are compiled for
# the linter; nobody runs them here.
test-programs:
	$(CARGO) test --locked --workspace --no-run
	$(CARGO) test --locked --workspace --benches --no-run

# Both parts have tests of `tests/`, which needs syn as a program does and not only as macros do: cargo builds dependencies
# otherwise where that is not so, and would compile nearly everything once more.
tests-named-a:
	$(CARGO) test --locked --workspace --no-fail-fast --test 'a*'

tests-named-b-to-z:
	$(CARGO) test --locked --workspace --no-fail-fast --lib --bins --test '[!a]*'

examples:
	$(CARGO) test --locked --workspace --no-fail-fast --doc

test-long: setup nvrtc ## what takes longer: what `make test` runs in turn, 1,000 C programs by chance, builds without features
	TILEWRIGHT_ALL=1 $(CARGO) test --locked --workspace --no-fail-fast --lib --bins --test '*'
	TILEWRIGHT_PROGRAMS=1000 $(AS_BUILT) --test all -- c_programs::chance --nocapture
	$(AS_BUILT) --test semantics -- --ignored --nocapture all_shipped_stencils_on simulated_clusters_of more_than_two_gib
	RUSTC_WORKSPACE_WRAPPER= $(CARGO) test --locked --release --package tilewright-optimizer --test exact -- --ignored --nocapture closed_form
	RUSTC_WORKSPACE_WRAPPER= TILEWRIGHT_TEXTS=1000000 $(CARGO) test --locked --release --package tilewright-nested --test all mutated_texts
	RUSTC_WORKSPACE_WRAPPER= $(CARGO) check --locked --package tilewright --no-default-features

# What `make test` has built is used again: some of `tests/` is named, as there.
AS_BUILT = $(CARGO) test --locked --workspace --test architecture

package: setup ## pack every crate, and build each from its package alone (cargo 1.90 or later)
	$(CARGO) package --locked --workspace --exclude tilewright-tests --exclude tilewright-benches --exclude tilewright-variant-benchmarks --exclude tilewright-python

demo: setup ## heat on a plate: tiled, checked, timed, drawn (see scripts/demo.sh)
	@scripts/demo.sh

bench: setup ## measure the strategies against each other and against hand-written loops
	$(CARGO) bench --locked --package tilewright-benches --bench cpu
