#!/bin/sh
# Builds a wheel for this machine into target/wheels and tries it: names and versions of its symbols (auditwheel on Linux, abi3audit),
# types of the whole package against what is there (mypy's stubtest), and runs in a fresh virtual environment: the tutorial is typed,
# and the package's own tests run, with the newest NumPy and the oldest one that is supported.
#
#   scripts/release-wheel.sh              builds the wheel first
#   scripts/release-wheel.sh WHEEL        checks a wheel that is there
#   TW_MANYLINUX=manylinux_2_28 TW_LINKER=zig scripts/release-wheel.sh
#                                         links against an old C library by zig (from PyPI), without an image that has one;
#                                         for Linux whose own C library is at most 2.37: the link fails where it is too new
#
# Needs Python 3.11 and what `make build` needs; the tools come from PyPI into target/wheel-tools. A wheel is as portable as the C
# library that it was built with: published ones are built in an image of manylinux_2_28 (.github/workflows/release.yml).
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
tools=$target/wheel-tools
if [ ! -e "$tools/complete" ]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "maturin>=1.9,<2" abi3audit==0.0.26 auditwheel==6.8.2 mypy==2.4.1
    touch "$tools/complete"
fi

if [ $# -eq 0 ]; then
    rm -rf "$target/wheels"
    set --
    if [ "${TW_LINKER:-}" = zig ]; then
        "$tools/bin/pip" install --quiet --disable-pip-version-check ziglang==0.17.1
        TW_ZIG_PYTHON=$tools/bin/python
        TW_ZIG_TARGET=$(uname -m)-linux-gnu.$(echo "$TW_MANYLINUX" | sed 's/^manylinux_//; s/_/./')
        export TW_ZIG_PYTHON TW_ZIG_TARGET
        set -- -- -C linker="$PWD/scripts/zig-linker.sh"
    fi
    # With a name of manylinux maturin fails where the wheel is not that; a mere build says nothing about others' machines.
    "$tools/bin/maturin" build --locked --release --out "$target/wheels" --compatibility "${TW_MANYLINUX:-off}" "$@"
    wheel=$(ls "$target"/wheels/*.whl)
else
    wheel=$1
fi

"$tools/bin/abi3audit" --strict --assume-minimum-abi3 3.11 "$wheel"
if [ "$(uname)" = Linux ]; then "$tools/bin/auditwheel" show "$wheel"; fi

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
python3 -m venv "$fresh/venv"
"$fresh/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel" mypy==2.4.1
# Not in the folder that has the package's sources.
(cd "$fresh" && MYPYPATH='' venv/bin/python -m mypy.stubtest tilewright)
cp docs/tutorial.md "$fresh"
python3 scripts/blocks.py python "$fresh/tutorial.md" >"$fresh/tutorial.py"
(cd "$fresh" && PATH="$fresh/venv/bin:$PATH" TILEWRIGHT_CACHE="$fresh/cache" python tutorial.py)
cp python/tests/test_package.py "$fresh"
for numpy in "numpy>=2" "numpy==1.26.*"; do
    # The oldest one is not made for the newest Pythons.
    if ! "$fresh/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$numpy"; then
        echo "release: $numpy is not there for this Python"
        continue
    fi
    (cd "$fresh" && TILEWRIGHT_CACHE="$fresh/cache" venv/bin/python -m unittest -q test_package)
done
echo "release: $wheel"
