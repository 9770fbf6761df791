#!/bin/sh
# The demonstration: heat spreads in a photograph. Generates tiled code, shows the proof that the tiling is
# legal, runs it on the photograph and on a large grid, compares both with the reference interpreter, bit for
# bit, and times it against the code without tiling.
#
# Needs Rust and a C compiler. Leaves in out/demo: before_after.png, tiles.svg, and the generated code.
#
#   SIZE=8192x8192 STEPS=200 scripts/demo.sh      another large grid
set -eu

cd "$(dirname "$0")/.."
size=${SIZE:-4096x4096}
steps=${STEPS:-100}
photo=assets/camera.png
out=out/demo

title() { printf '\n== %s ==\n\n' "$*"; }
# Prints a command, then runs it; a check that fails ends the demonstration. The report is kept in $report.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
show() {
    echo "\$ $*"
    "$@" > "$report"
    cat "$report"
}
# The value of a line of the last report: `field speed`.
field() { sed -n "s/^$1  *//p" "$report" | head -n 1; }

echo "Building (the first time this takes some minutes: isl, the integer set library, is built too) ..."
${CARGO:-cargo} build --release --quiet --package tilewright --bin tilewright --example tilewright-image
target=${CARGO_TARGET_DIR:-target}/release
PATH=$(cd "$target" && pwd):$(cd "$target/examples" && pwd):$PATH
mkdir -p "$out"

title "The stencil"
tilewright analyze heat2d --tile st=4,s0=6,s1=16 --svg "$out/tiles.svg" > "$report"
echo "\$ tilewright analyze heat2d --tile st=4,s0=6,s1=16 --svg $out/tiles.svg"
sed '/^drawing/q' "$report"

if tilewright list | grep -q '^cuda *yes  *CUDA C++'; then
    title "Tiled CUDA code"
    show tilewright compile heat2d --target cuda --size "$size" --steps "$steps" -o "$out/cuda"
fi

title "Tiled OpenMP code"
show tilewright compile heat2d --target openmp --size "$size" --steps "$steps" -o "$out/openmp"

title "Heat in a photograph, 100 time steps"
tilewright-image to-npy "$photo" "$out/before.npy"
show tilewright run heat2d --input "u=$out/before.npy" --output "u=$out/after.npy" --steps 100 --verify
tilewright-image to-png "$out/before.npy" "$out/after.npy" "$out/before_after.png"

title "A large grid, tiled"
show tilewright run heat2d --size "$size" --steps "$steps" --repeat 3 --verify
tiled=$(field speed)
tiled_checksum=$(field checksum)

title "The same without tiling"
show tilewright run heat2d --size "$size" --steps "$steps" --repeat 3 --strategy naive --verify
naive=$(field speed)
naive_checksum=$(field checksum)

title "Result"
ratio=$(awk "BEGIN { printf \"%.1f\", ${tiled% *} / ${naive% *} }")
echo "heat2d, $size, $steps steps: tiled $tiled, without tiling $naive: $ratio times as fast"
echo "checksums: tiled $tiled_checksum, without tiling $naive_checksum"
echo "the photograph before and after: $out/before_after.png"
echo "the tiles: $out/tiles.svg"
echo "the generated code: $out/openmp"
