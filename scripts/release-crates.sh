#!/bin/sh
# Packs all crates as they would be published, and installs the command from the packages alone, as `cargo install tilewright` will:
# from a registry in a folder, without a network.
#
#   scripts/release-crates.sh             target/package/*.crate; the command in target/installed
#   scripts/release-crates.sh --debug     the same, compiled in less time
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
cargo=${CARGO:-cargo}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

# Fetches only what is not at hand.
$cargo fetch --locked --quiet
rm -f "$target"/package/*.crate
# What is changed and not yet committed is packed only where `TW_DIRTY` says so. That the packages compile is seen below.
$cargo package --locked --quiet --no-verify ${TW_DIRTY:+--allow-dirty} --workspace \
    --exclude tilewright-tests --exclude tilewright-benches --exclude tilewright-variant-benchmarks --exclude tilewright-python
python3 scripts/local-registry.py "$target/package" "$target/registry"

# Where there is no workspace, and no network.
cd /
CARGO_TARGET_DIR="$target/installing" $cargo install --locked --offline --quiet --force --root "$target/installed" \
    --config 'source.crates-io.replace-with="packed"' --config "source.packed.local-registry='$target/registry'" \
    "$@" tilewright@"$version"
program=$target/installed/bin/tilewright
"$program" --version | grep -q "^tilewright $version"
"$program" run heat2d --size 60x70 --steps 5 --backend reference >/dev/null
echo "release: $program was installed from packages"
