#!/bin/sh
# Packs a release of the command for this machine: target/packages/tilewright-VERSION-TARGET.tar.gz with the program, manual
# pages, completions, licences and the bill of materials, and its SHA-256 beside it.
#
#   scripts/release-binary.sh             builds target/release/tilewright first
#   scripts/release-binary.sh PROGRAM     packs a program that is there
set -eu

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
host=$(rustc -vV | sed -n 's/^host: //p')
name=tilewright-$version-$host

program=${1:-$target/release/tilewright}
if [ $# -eq 0 ]; then ${CARGO:-cargo} build --locked --release --package tilewright; fi
"$program" --version | grep -q "^tilewright $version" || { echo "release: $program is not $version" >&2; exit 1; }

mkdir -p "$target/packages"
rm -rf "$target/packages/$name" "$target/packages/$name.tar.gz"
folder=$target/packages/$name
mkdir -p "$folder/bin" "$folder/share/man" "$folder/share/bash-completion/completions" \
    "$folder/share/zsh/site-functions" "$folder/share/fish/vendor_completions.d" "$folder/share/doc/tilewright"
cp "$program" "$folder/bin/tilewright"
strip "$folder/bin/tilewright"
"$program" manual -o "$folder/share/man/man1" >/dev/null
"$program" completions bash >"$folder/share/bash-completion/completions/tilewright"
"$program" completions zsh >"$folder/share/zsh/site-functions/_tilewright"
"$program" completions fish >"$folder/share/fish/vendor_completions.d/tilewright.fish"
cp -R editors "$folder/share/doc/tilewright/"
cp README.md CHANGELOG.md LICENSE THIRD_PARTY_LICENSES.md "$folder/share/doc/tilewright/"
python3 scripts/sbom.py tilewright "$host" >"$folder/share/doc/tilewright/sbom.cdx.json"

# What was packed works.
"$folder/bin/tilewright" list --json >/dev/null
tar -C "$target/packages" -czf "$target/packages/$name.tar.gz" "$name"
rm -rf "$folder"
cd "$target/packages"
if command -v sha256sum >/dev/null 2>&1; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256"
echo "release: $target/packages/$name.tar.gz"
