#!/bin/sh
# Seconds of C programs as gcc builds them with OpenMP, and as `tilewright compile` writes them:
#
#     sh benches/c_programs.sh TILEWRIGHT THREADS program.c ..
#
# Each runs three times; the shortest time counts. Programs need no arguments, and should compute grids beyond the last cache.
set -eu
tilewright=$1
threads=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
shortest() {
    best=
    for _ in 1 2 3; do
        begin=$(date +%s%N)
        OMP_NUM_THREADS=$threads "$1" > "$2"
        took=$(( ($(date +%s%N) - begin) / 1000 ))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    echo "$best"
}
echo "program original tiled factor equal"
for program in "$@"; do
    name=$(basename "$program" .c)
    ${CC:-gcc} -O3 -march=native -fopenmp -ffp-contract=off -w "$program" -o "$folder/original" -lm
    if ! "$tilewright" compile "$program" --target openmp -o "$folder/$name" > "$folder/log" 2>&1; then
        echo "$name - - - refused: $(head -n 1 "$folder/log")"
        continue
    fi
    make -s -C "$folder/$name" > "$folder/log" 2>&1
    a=$(shortest "$folder/original" "$folder/a.txt")
    b=$(shortest "$folder/$name/$name" "$folder/b.txt")
    equal=no
    if cmp -s "$folder/a.txt" "$folder/b.txt"; then equal=yes; fi
    awk -v n="$name" -v a="$a" -v b="$b" -v e="$equal" 'BEGIN { printf "%s %.3f %.3f %.2f %s\n", n, a / 1e6, b / 1e6, a / b, e }'
done
