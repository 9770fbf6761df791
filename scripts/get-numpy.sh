#!/bin/sh
# Fetches NumPy from PyPI into target/numpy, for the tests of the Python package. Does nothing where Python finds a NumPy
# of its own, or where it is there already.
#
#   scripts/get-numpy.sh
#
# One version, 17 MB to download. Needs Python 3.11 with pip. Exit code 0 also where nothing can be fetched, unless CI=true.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/numpy
version=2.3.5

say() { echo "get-numpy: $*"; }
skip() {
    if [ "${CI:-}" = true ]; then echo "get-numpy: FAILED: $*" >&2; exit 1; fi
    echo "get-numpy: SKIPPED: $*; the Python package is not tested" >&2
    exit 0
}

command -v python3 >/dev/null 2>&1 || skip "python3 is missing"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$(python3 --version) is older than 3.11"
if python3 -c 'import numpy' 2>/dev/null; then say "Python has a NumPy of its own"; exit 0; fi
if [ "$(cat "$target/complete" 2>/dev/null)" = "$version" ]; then say "NumPy $version is there ($target)"; exit 0; fi
python3 -m pip --version >/dev/null 2>&1 || skip "pip is missing"

mkdir -p "$(dirname "$target")"
scratch=$(mktemp -d "$target.fetching.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
say "fetching NumPy $version from PyPI (17 MB)"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --target "$scratch/files" "numpy==$version" >"$scratch/log" 2>&1 ||
    skip "NumPy cannot be fetched from PyPI ($(tail -1 "$scratch/log"))"
echo "$version" >"$scratch/files/complete"
rm -rf "$target"
mv "$scratch/files" "$target"
say "NumPy $version is in $target"
