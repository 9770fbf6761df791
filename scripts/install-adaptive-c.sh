#!/usr/bin/env bash
# Installs what C and C++ programs choose variants with: scripts/install-adaptive-c.sh PREFIX [FOLDER]
# FOLDER has the built libraries; without it they are built.
set -euo pipefail

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "usage: $0 PREFIX [FOLDER]" >&2
    exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
source="$root/adaptive-c"
if [ $# -eq 2 ]; then
    built=$2
else
    cargo build --manifest-path "$root/Cargo.toml" --locked --release --package tilewright-adaptive-c
    built="${CARGO_TARGET_DIR:-$root/target}/release"
fi
version=$(sed -n 's/^#define TWA_VERSION "\(.*\)"$/\1/p' "$source/include/tilewright_adaptive.h")

mkdir -p "$1/include" "$1/lib/cmake/tilewright-adaptive"
prefix=$(cd "$1" && pwd)
install -m 644 "$source"/include/tilewright_adaptive.h "$source"/include/tilewright_adaptive.hpp "$prefix/include"
install -m 644 "$built/libtilewright_adaptive.a" "$prefix/lib"
for library in "$built"/libtilewright_adaptive.so "$built"/libtilewright_adaptive.dylib; do
    if [ -e "$library" ]; then install -m 755 "$library" "$prefix/lib"; fi
done
install -m 644 "$source/cmake/tilewright-adaptive-config.cmake" "$prefix/lib/cmake/tilewright-adaptive"
sed -e "s/@VERSION@/$version/" -e "s/@MINOR@/${version%.*}/" \
    "$source/cmake/tilewright-adaptive-config-version.cmake" \
    >"$prefix/lib/cmake/tilewright-adaptive/tilewright-adaptive-config-version.cmake"
echo "installed in $prefix: find_package(tilewright-adaptive) with CMAKE_PREFIX_PATH=$prefix"
