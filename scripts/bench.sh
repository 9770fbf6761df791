#!/bin/sh
# Measures the shipped strategies on this machine and prints the table of the README's section "Performance".
# Close other programs first. Options go to every run: scripts/bench.sh --threads 1
set -eu

cd "$(dirname "$0")/.."
cargo build --release --quiet --package tilewright
tilewright=${CARGO_TARGET_DIR:-target}/release/tilewright

# The rate of one run in GStencil/s: stencil, size, steps, strategy.
rate() {
    stencil=$1 size=$2 steps=$3 strategy=$4
    shift 4
    "$tilewright" run "$stencil" --size "$size" --steps "$steps" --strategy "$strategy" --repeat 5 --json "$@" |
        sed -n 's/^ *"gstencil_per_s": *\([0-9.e+-]*\),*$/\1/p'
}

echo "| Stencil | Grid | Steps | naive | hhc | hhc / naive |"
echo "|---|---|---|---|---|---|"
while read -r stencil size steps; do
    naive=$(rate "$stencil" "$size" "$steps" naive "$@" </dev/null)
    tiled=$(rate "$stencil" "$size" "$steps" hhc "$@" </dev/null)
    awk -v s="$stencil" -v g="$size" -v t="$steps" -v a="$naive" -v b="$tiled" \
        'BEGIN { printf "| %s | %s | %d | %.2f | %.2f | %.1f |\n", s, g, t, a, b, b / a }'
done <<LIST
heat1d 16777216 200
heat2d 4096x4096 200
box2d1r 4096x4096 100
wave2d 4096x4096 100
fdtd2d 2048x2048 100
heat3d 384x384x384 60
LIST
