#!/bin/sh
# Fetches NVRTC, NVIDIA's run-time compiler, from PyPI into target/nvrtc, so that generated CUDA text can be
# compiled on machines without a CUDA toolkit or a GPU. Does nothing where it is there already.
#
#   scripts/get-nvrtc.sh           fetch what is missing
#   scripts/get-nvrtc.sh --force   fetch again
#
# Two versions: CUDA 13 compiles for compute capabilities 7.5 and later, CUDA 12 also for 7.0. About 85 MB each
# to download, 200 MB unpacked. Needs python3 with pip, or curl; and unzip or python3.
# Exit code 0 also where nothing can be fetched, unless CI=true: everything but compiling with NVRTC works.
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}/nvrtc
force=0
case "${1:-}" in
    '') ;;
    --force) force=1 ;;
    *) echo "usage: scripts/get-nvrtc.sh [--force]" >&2; exit 2 ;;
esac

say() { echo "get-nvrtc: $*"; }
have() { command -v "$1" >/dev/null 2>&1; }
skip() {
    if [ "${CI:-}" = true ]; then echo "get-nvrtc: FAILED: $*" >&2; exit 1; fi
    echo "get-nvrtc: SKIPPED: $*; CUDA text is not checked with NVIDIA's compiler" >&2
    exit 0
}

case "$(uname -s) $(uname -m)" in
    'Linux x86_64') platform=x86_64 ;;
    'Linux aarch64') platform=aarch64 ;;
    *) skip "NVRTC for $(uname -s) $(uname -m) is not on PyPI" ;;
esac

scratch=
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# Downloads the wheel of package $1, version $2 (as in 13.0.*), into $scratch; says why where it cannot.
download() {
    if have python3 && python3 -m pip --version >/dev/null 2>&1; then
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
            --dest "$scratch" "$1==$2" >"$scratch/log" 2>&1 && return 0
    fi
    have curl || return 1
    curl -fsSL --retry 2 "https://pypi.org/pypi/$1/json" -o "$scratch/index.json" 2>>"$scratch/log" || return 1
    # One line per string of the JSON text; the newest version of the wanted ones, its address and its hash.
    tr ',{}' '\n\n\n' <"$scratch/index.json" | sed -n \
        -e 's/^ *"sha256": *"\([0-9a-f]*\)".*/sha256 \1/p' \
        -e 's/^ *"url": *"\(.*'"$platform"'.*\.whl\)".*/url \1/p' |
        awk '/^sha256/ { hash = $2 } /^url/ { print hash, $2 }' |
        grep -- "-$(printf %s "$2" | sed 's/\./\\./g; s/\*/[0-9]*/')-" | sort -t- -k2V | tail -1 >"$scratch/wheel"
    read -r hash url <"$scratch/wheel" || return 1
    file=$scratch/$(basename "$url")
    curl -fsSL --retry 2 "$url" -o "$file" 2>>"$scratch/log" || return 1
    if have sha256sum; then
        printf '%s  %s\n' "$hash" "$file" | sha256sum --check --status || { echo "wrong hash of $url" >>"$scratch/log"; return 1; }
    fi
}

# Unpacks wheel $1 into folder $2.
unpack() {
    if have unzip; then unzip -q -o "$1" -d "$2"; else python3 -m zipfile -e "$1" "$2"; fi
}

# Folder $1 gets the library of package $2, version $3.
fetch() {
    if [ "$force" = 0 ] && [ -e "$target/$1/complete" ]; then
        say "$2 $(cat "$target/$1/complete") is there ($target/$1)"
        return 0
    fi
    mkdir -p "$target"
    scratch=$(mktemp -d "$target/fetching.XXXXXX")
    say "fetching $2 $3 from PyPI (about 85 MB)"
    download "$2" "$3" || skip "$2 cannot be fetched from PyPI ($(tail -1 "$scratch/log" 2>/dev/null || echo 'neither pip nor curl is here'))"
    wheel=$(find "$scratch" -name '*.whl' | head -1)
    unpack "$wheel" "$scratch/wheel-files" || skip "$wheel cannot be unpacked (install unzip)"
    # The library and the part that it loads itself; the `alt` ones are for other run-time libraries.
    mkdir "$scratch/library"
    find "$scratch/wheel-files" -path '*/lib/libnvrtc*' ! -name '*.alt.*' -exec mv {} "$scratch/library/" \;
    find "$scratch/wheel-files" -type f -iname 'License*' -exec cp {} "$scratch/library/" \;
    ls "$scratch"/library/libnvrtc.so.* "$scratch"/library/libnvrtc-builtins.so.* >/dev/null 2>&1 ||
        skip "the wheel of $2 holds no library"
    basename "$wheel" | cut -d- -f2 >"$scratch/library/complete"
    rm -rf "${target:?}/$1"
    mv "$scratch/library" "$target/$1"
    say "$2 $(cat "$target/$1/complete") is in $target/$1"
    rm -rf "$scratch"
    scratch=
}

fetch 13 nvidia-cuda-nvrtc '13.0.*'
fetch 12 nvidia-cuda-nvrtc-cu12 '12.9.*'
