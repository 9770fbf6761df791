#!/bin/sh
# Makes the recorded spaces in examples/ again, from the cost models: nothing in them was measured, and nothing is from
# elsewhere. Needs `make build`.
set -eu

cd "$(dirname "$0")/.."
tilewright=${TILEWRIGHT:-target/release/tilewright}
out=examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# record MACHINE EXTENT FILE: the tiles of heat2d of which most fit, with their predicted times.
record() {
    on=$1 square=$2x$2 file=$3
    "$tilewright" search heat2d --size "$square" --steps 256 --strategy hhc --backend model --machine "$on" \
        --method random --budget 100000 --export "$file" >/dev/null \
        --where "st <= 16 and s0 <= 64 and s1 >= 16 and s1 <= 256"
}

for machine in v100 h100; do
    record $machine 4096 "$work/heat2d-$machine.json"
    gzip -9n <"$work/heat2d-$machine.json" >"$out/heat2d-$machine.json.gz"
done
for size in 1024 4096; do
    record gtx980 $size "$work/heat2d.csv"
    # Parameters and the time, of what fits.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR == 1 || $column["status"] == "ok" { print $column["st"] "," $column["s0"] "," $column["s1"] "," $column["seconds"] }' \
        "$work/heat2d.csv" >"$out/heat2d-$size.csv"
done

# In milliseconds and watts.
echo "st,s0,s1,time,power" >"$out/power.csv"
for st in 2 4 8 12; do
    for s0 in 6 14 30 46; do
        for s1 in 32 64 128; do
            report=$("$tilewright" predict heat2d --size 4096x4096 --steps 256 --machine titanx \
                --tile "st=$st,s0=$s0,s1=$s1" --json) || continue
            number() { printf '%s\n' "$report" | sed -n "s/^  \"$1\": \([0-9.eE+-]*\),*$/\1/p"; }
            echo "$st,$s0,$s1,$(number seconds),$(number watts)" |
                awk -F, '{ printf "%d,%d,%d,%.4f,%.2f\n", $1, $2, $3, 1000 * $4, $5 }' >>"$out/power.csv"
        done
    done
done
