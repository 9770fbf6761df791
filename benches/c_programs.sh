#!/bin/sh
# Seconds of C programs as gcc builds them with OpenMP, and as `tilewright compile` writes them:
#
#     sh benches/c_programs.sh TILEWRIGHT THREADS program.c ..
#
# Each runs three times in turn; the shortest time counts. Programs need no arguments, and should compute grids beyond the last cache.
# DEFINES goes to both compilers: DEFINES=-DSTEPS=500 for benches/c_programs/seidel.c.
set -eu
tilewright=$1
threads=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Microseconds of a run.
took() {
    begin=$(date +%s%N)
    OMP_NUM_THREADS=$threads "$1" > "$2"
    echo $(( ($(date +%s%N) - begin) / 1000 ))
}
echo "program original tiled factor equal"
for program in "$@"; do
    name=$(basename "$program" .c)
    ${CC:-gcc} -O3 -march=native -fopenmp -ffp-contract=off -w ${DEFINES-} "$program" -o "$folder/original" -lm
    if ! "$tilewright" compile "$program" ${DEFINES-} --target openmp -o "$folder/$name" > "$folder/log" 2>&1; then
        echo "$name - - - refused: $(head -n 1 "$folder/log")"
        continue
    fi
    make -s -C "$folder/$name" > "$folder/log" 2>&1
    a=
    b=
    for _ in 1 2 3; do
        now=$(took "$folder/original" "$folder/a.txt")
        if [ -z "$a" ] || [ "$now" -lt "$a" ]; then a=$now; fi
        now=$(took "$folder/$name/$name" "$folder/b.txt")
        if [ -z "$b" ] || [ "$now" -lt "$b" ]; then b=$now; fi
    done
    equal=no
    if cmp -s "$folder/a.txt" "$folder/b.txt"; then equal=yes; fi
    awk -v n="$name" -v a="$a" -v b="$b" -v e="$equal" 'BEGIN { printf "%s %.3f %.3f %.2f %s\n", n, a / 1e6, b / 1e6, a / b, e }'
done
