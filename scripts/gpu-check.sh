#!/bin/sh
# Checks and measures Tilewright on an NVIDIA GPU. For anybody who has one.
#
#   scripts/gpu-check.sh            everything: about half an hour
#   scripts/gpu-check.sh --quick    three stencils, smaller grids: a few minutes
#   scripts/gpu-check.sh --prebuilt DIR    with DIR/tilewright and DIR/cuda_device, where there is no Rust
#
# Every shipped stencil and strategy is run at awkward sizes in f32 and f64 and compared bit for bit with the
# reference, on all processors side by side; then `hhc`, `naive` and the strategy that keeps rows in registers
# (`warp-pipeline`, `streaming`) are timed on large grids; compute-sanitizer looks at some runs where it is installed; the
# cost models are calibrated and compared with measured tiles. Everything goes into one file,
# benches/results/gpu-NAME-DATE.json, the calibrated machine into machines/measured/NAME.toml, and a summary to the
# screen: rates, those that the model predicts, and those that counted machine code does not exceed (`inspect`; with
# scripts/get-nvdisasm.sh, or with counts made elsewhere of the same stencil, type, strategy, size and tile, as
# DIR/counts/*.json).
#
# TW_TIMEOUT is the most seconds that a run may take (300). Exit code 1: a verification failed; 3: no GPU.
set -eu

cd "$(dirname "$0")/.."
quick=0
prebuilt=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=1 ;;
        --prebuilt) if [ $# -gt 1 ]; then prebuilt=$2; shift; else quick=usage; fi ;;
        *) prebuilt=; quick=usage ;;
    esac
    shift || break
done
if [ "$quick" = usage ]; then echo "usage: scripts/gpu-check.sh [--quick] [--prebuilt DIR]" >&2; exit 2; fi
limit=${TW_TIMEOUT:-300}

say() { echo "gpu-check: $*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Without a driver there is nothing to build for.
if ! have nvidia-smi && [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    say "no NVIDIA GPU here (no nvidia-smi, no /dev/nvidiactl)"
    exit 3
fi

if [ -n "$prebuilt" ]; then
    tilewright=$prebuilt/tilewright
    cuda_device=$prebuilt/cuda_device
else
    make setup >&2
    scripts/get-nvrtc.sh >&2
    say "building"
    cargo build --release --quiet --package tilewright
    cargo build --release --quiet --package tilewright-execution --example cuda_device
    tilewright=${CARGO_TARGET_DIR:-target}/release/tilewright
    cuda_device=${CARGO_TARGET_DIR:-target}/release/examples/cuda_device
fi
for program in "$tilewright" "$cuda_device"; do
    [ -x "$program" ] || { say "$program is missing"; exit 2; }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

limited_to() {
    seconds=$1
    shift
    if have timeout; then timeout "$seconds" "$@"; else "$@"; fi
}
limited() { limited_to "$limit" "$@"; }

if ! "$cuda_device" >"$scratch/device.json" 2>"$scratch/error"; then
    say "$(head -1 "$scratch/error")"
    exit 3
fi

# The value of key $2 in the JSON file $1: a number, a word or a string without quotes in it.
value() {
    tr ',{}' '\n\n\n' <"$1" | sed -n 's/^ *"'"$2"'": *"\{0,1\}\([^"]*\)"\{0,1\} *$/\1/p' | head -1
}

# The same of a string with commas in it, in a file with one key a line.
text() { sed -n 's/^ *"'"$2"'": *"\([^"]*\)",\{0,1\}$/\1/p' "$1" | head -1; }

# A list of the lines of standard input with commas between.
joined() { sed '$!s/$/,/'; }

# Text as a JSON string.
quoted() { printf '"'; tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g' | tr -d '\000-\037'; printf '"'; }

device_name=$(value "$scratch/device.json" name)
bandwidth=$(value "$scratch/device.json" bytes_per_second)
say "$device_name: copies $(awk "BEGIN { printf \"%.0f\", ${bandwidth:-0} / 1e9 }") GB/s"

# Runs `tilewright run` with the arguments after the first; the JSON document, or what went wrong, becomes one
# line of $scratch/$1.json. The document alone is left in $scratch/run.json.
run() {
    list=$1
    shift
    code=0
    limited "$tilewright" run "$@" --backend cuda --json >"$scratch/run.json" 2>"$scratch/run.err" || code=$?
    printf '{"arguments": %s, "exit_code": %d, ' "$(printf '%s' "$*" | quoted)" "$code" >>"$scratch/$list.json"
    if [ "$code" = 124 ]; then
        printf '"error": "more than %s seconds"}\n' "$limit" >>"$scratch/$list.json"
    elif [ -s "$scratch/run.json" ]; then
        printf '"result": %s}\n' "$(tr -d '\n' <"$scratch/run.json")" >>"$scratch/$list.json"
    else
        printf '"error": %s}\n' "$(tail -5 "$scratch/run.err" | quoted)" >>"$scratch/$list.json"
    fi
    return "$code"
}

all=$(ls stencils | sed -n 's/\.stencil$//p')
if [ "$quick" = 1 ]; then
    checked='jacobi1d heat2d heat3d'
    timed=$checked
    size1=16777216; size2=4096x4096; size3=256x256x256; steps=64; repeat=3
else
    checked=$all
    timed=$all
    size1=268435456; size2=16384x16384; size3=512x512x512; steps=128; repeat=5
fi

# The dimension of a stencil: its indices besides the time index.
dimension() {
    sed -n 's/^stencil *[A-Za-z0-9_]*(\([^)]*\)).*/\1/p' "stencils/$1.stencil" | tr -cd , | wc -c | tr -d ' '
}

# 1. Verification. What a strategy does not take is no failure.
cat >"$scratch/verify.sh" <<'END'
# verify.sh SCRATCH LIMIT TILEWRIGHT STENCIL SIZE STRATEGY TYPE: one line of JSON in a file of its own
scratch=$1 limit=$2 tilewright=$3
shift 3
name=$1-$2-$3-$4
code=0
stop=; if command -v timeout >/dev/null 2>&1; then stop="timeout $limit"; fi
$stop "$tilewright" run "$1" --size "$2" --steps 13 --strategy "$3" --dtype "$4" --backend cuda --verify --json \
    >"$scratch/$name.run" 2>"$scratch/$name.err" || code=$?
if grep -q '"verified": *true' "$scratch/$name.run" && [ "$code" = 0 ]; then result=verified
elif grep -q '^limitation: strategy' "$scratch/$name.err"; then result=refused
else
    result=FAILED
    echo "gpu-check: FAILED: $*: $(tail -1 "$scratch/$name.err")" >&2
fi
checksum=$(sed -n 's/^ *"checksum": *"\([^"]*\)".*/\1/p' "$scratch/$name.run")
printf '{"stencil": "%s", "size": "%s", "strategy": "%s", "dtype": "%s", "result": "%s", "checksum": "%s"}\n' \
    "$1" "$2" "$3" "$4" "$result" "$checksum" >"$scratch/$name.verified"
rm -f "$scratch/$name.run" "$scratch/$name.err"
END
for stencil in $checked; do
    case $(dimension "$stencil") in
        1) sizes='61 1009 4097' ;;
        2) sizes='61x77 509x1401' ;;
        *) sizes='37x23x41 67x101x97' ;;
    esac
    for strategy in hhc naive overlapped pipeline-toy warp-pipeline streaming; do
        for dtype in f32 f64; do
            for size in $sizes; do echo "$stencil $size $strategy $dtype"; done
        done
    done
done >"$scratch/cases"
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
xargs -P "$processors" -L 1 sh "$scratch/verify.sh" "$scratch" "$limit" "$tilewright" <"$scratch/cases"
cat "$scratch"/*.verified >"$scratch/verified.json"
runs=$(wc -l <"$scratch/cases" | tr -d ' ')
refused=$(grep -c '"refused"' "$scratch/verified.json" || true)
failures=$(($(grep -c '"FAILED"' "$scratch/verified.json" || true) + runs - $(wc -l <"$scratch/verified.json")))
say "$((runs - refused)) runs compared with the reference, $failures failure(s); $refused times a strategy does not take a stencil"

# 2. NVIDIA's own checks of memory, races and barriers.
: >"$scratch/sanitized.json"
if have compute-sanitizer; then
    for tool in memcheck racecheck synccheck; do
        for run in 'jacobi1d --size 1009' 'heat2d --size 61x77' 'heat3d --size 37x23x41'; do
            code=0
            # shellcheck disable=SC2086
            limited compute-sanitizer --tool "$tool" --error-exitcode 9 "$tilewright" run $run --steps 7 \
                --backend cuda --strategy hhc --json >"$scratch/sanitizer" 2>&1 || code=$?
            printf '{"tool": "%s", "arguments": "%s", "exit_code": %d}\n' "$tool" "$run" "$code" >>"$scratch/sanitized.json"
            if [ "$code" = 9 ]; then
                failures=$((failures + 1))
                say "FAILED: compute-sanitizer $tool on $run: $(grep -m1 '=========' "$scratch/sanitizer" || true)"
            fi
        done
    done
else
    say "compute-sanitizer is not installed: skipped"
fi

# 3. Times.
: >"$scratch/timed.json"
: >"$scratch/table"
: >"$scratch/rates"
for stencil in $timed; do
    case $(dimension "$stencil") in
        1) size=$size1; in_registers= ;;
        2) size=$size2; in_registers=warp-pipeline ;;
        *) size=$size3; in_registers=streaming ;;
    esac
    for dtype in f32 f64; do
        rates=
        for strategy in hhc naive $in_registers; do
            if run timed "$stencil" --size "$size" --steps "$steps" --strategy "$strategy" --dtype "$dtype" --repeat "$repeat"; then
                rate=$(value "$scratch/run.json" gstencil_per_s)
                rates="$rates $rate"
                echo "$stencil $dtype $size $strategy $(text "$scratch/run.json" tile_text) $rate" >>"$scratch/rates"
            else
                rates="$rates -"
                # What a strategy does not take is no failure.
                grep -q '^limitation: strategy' "$scratch/run.err" \
                    || say "not timed: $stencil $size $strategy $dtype: $(tail -1 "$scratch/run.err")"
            fi
        done
        [ -n "$in_registers" ] || rates="$rates -"
        echo "$stencil $dtype $size$rates" >>"$scratch/table"
    done
done

# 4. The cost models: this device's constants, and predictions against measured tiles.
short=$(printf '%s' "$device_name" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9' '-' | sed 's/^-//; s/-$//')
: >"$scratch/validated.json"
: >"$scratch/fits"
machine=machines/measured/$short.toml
mkdir -p machines/measured
if limited "$tilewright" calibrate --backend cuda -o "$machine" --json >"$scratch/calibrated.json" 2>"$scratch/run.err"; then
    if [ "$quick" = 1 ]; then models=heat2d; samples=12; else
        models='jacobi2d heat2d laplacian2d gradient2d heat3d laplacian3d'; samples=60
    fi
    for stencil in $models; do
        case $(dimension "$stencil") in 2) size=8192x8192 ;; *) size=$size3 ;; esac
        # Compiling the sample takes longer than running it.
        if limited_to $((4 * limit)) "$tilewright" validate "$stencil" --size "$size" --steps "$steps" --machine "$machine" \
            --backend cuda --samples "$samples" --json >"$scratch/run.json" 2>"$scratch/run.err"; then
            printf '{"result": %s}\n' "$(tr -d '\n' <"$scratch/run.json")" >>"$scratch/validated.json"
            echo "$stencil $(value "$scratch/run.json" rmse_top20) $(value "$scratch/run.json" picked_over_best)" >>"$scratch/fits"
        else
            say "not validated: $stencil: $(tail -1 "$scratch/run.err")"
        fi
    done
else
    say "not calibrated: $(tail -1 "$scratch/run.err")"
    echo null >"$scratch/calibrated.json"
fi

# 5. Beside the rates: what the model predicts, and what counted machine code cannot exceed.
: >"$scratch/bounded.json"
: >"$scratch/bounds"
[ -s "$machine" ] || machine=$(ls machines/*.toml | grep -F "/${short##*nvidia-}" | head -1 || true)
# Counts of the stencil $1, type $2, size $3, strategy $4, tile $5 among those that were brought along.
brought() {
    for counts in "${prebuilt:-/nonexistent}"/counts/*.json; do
        [ -s "$counts" ] || continue
        extents=$(sed -n '/^ *"size": *\[/,/\]/p' "$counts" | tr -cd '0-9\n' | grep . | paste -s -d x -)
        if [ "$(text "$counts" stencil) $(text "$counts" element) $extents $(text "$counts" strategy) $(text "$counts" tile)" \
            = "$1 $2 $3 $4 $5" ]; then
            cp "$counts" "$scratch/counts.json"
            return 0
        fi
    done
    return 1
}
while read -r stencil dtype size strategy tile rate; do
    if ! brought "$stencil" "$dtype" "$size" "$strategy" "$tile"; then
        # shellcheck disable=SC2086
        limited "$tilewright" inspect "$stencil" --size "$size" --steps "$steps" --strategy "$strategy" --dtype "$dtype" \
            --tile "$tile" ${machine:+--machine "$machine"} --json >"$scratch/counts.json" 2>"$scratch/run.err" \
            || : >"$scratch/counts.json"
    fi
    : >"$scratch/predicted.json"
    if [ -n "$machine" ]; then
        limited "$tilewright" predict "$stencil" --size "$size" --steps "$steps" --strategy "$strategy" --dtype "$dtype" \
            --tile "$tile" --machine "$machine" --json >"$scratch/predicted.json" 2>"$scratch/predict.err" || true
    fi
    predicted=$(value "$scratch/predicted.json" gstencil_per_s)
    bound=$(value "$scratch/counts.json" gstencil_per_s)
    resource=$(value "$scratch/counts.json" resource)
    imbalance=$(value "$scratch/counts.json" imbalance)
    printf '{"stencil": "%s", "dtype": "%s", "size": "%s", "strategy": "%s", "tile": "%s", "gstencil_per_s": %s, ' \
        "$stencil" "$dtype" "$size" "$strategy" "$tile" "$rate" >>"$scratch/bounded.json"
    printf '"predicted": %s, "bound": %s, "resource": "%s", "imbalance": %s}\n' \
        "${predicted:-null}" "${bound:-null}" "$resource" "${imbalance:-null}" >>"$scratch/bounded.json"
    echo "$stencil $dtype $strategy $tile $rate ${predicted:--} ${bound:--} ${resource:--} ${imbalance:--}" >>"$scratch/bounds"
done <"$scratch/rates"
[ ! -s "$scratch/bounds" ] || grep -q -v ' - - -$' "$scratch/bounds" \
    || say "nothing is counted: $(tail -1 "$scratch/run.err")"

# 6. One file, published by renaming.
mkdir -p benches/results
file=benches/results/gpu-$short-$(date -u +%Y%m%d).json
temporary=$(mktemp "benches/results/.gpu-check.XXXXXX")
trap 'rm -rf "$scratch" "$temporary"' EXIT
{
    printf '{"date": "%s", "quick": %s, "commit": "%s",\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
        "$([ "$quick" = 1 ] && echo true || echo false)" "$(git rev-parse HEAD 2>/dev/null || echo unknown)"
    printf '"host": %s,\n' "$(uname -srm | quoted)"
    printf '"machine": %s,\n' "$(tr -d '\n' <"$scratch/device.json")"
    printf '"verification": {"runs": %d, "refused": %d, "failures": %d},\n' "$((runs - refused))" "$refused" "$failures"
    printf '"calibration": %s,\n' "$(tr -d '\n' <"$scratch/calibrated.json")"
    for list in verified sanitized validated bounded timed; do
        printf '"%s": [\n' "$list"
        joined <"$scratch/$list.json"
        if [ "$list" = timed ]; then echo ']'; else echo '],'; fi
    done
    echo '}'
} >"$temporary"
chmod 644 "$temporary"
mv "$temporary" "$file"

# 7. The summary.
echo "$device_name, $steps steps, 10^9 points per second"
awk 'BEGIN { printf "%-12s %-5s %-14s %9s %9s %7s %12s\n", "stencil", "type", "size", "hhc", "naive", "ratio", "in registers" }
    function rate(x) { return x == "-" ? "-" : sprintf("%.2f", x) }
    { ratio = ($4 > 0 && $5 > 0) ? sprintf("%.2f", $4 / $5) : "-"
      printf "%-12s %-5s %-14s %9s %9s %7s %12s\n", $1, $2, $3, rate($4), rate($5), ratio, rate($6) }' "$scratch/table"
awk 'BEGIN { printf "%-12s %-5s %-13s %-43s %9s %9s %9s %5s  %s\n", "stencil", "type", "", "tile", "measured", "predicted", "at most", "part", "by" }
    function rate(x) { return x == "-" ? "-" : sprintf("%.0f", x) }
    { part = $7 > 0 ? sprintf("%.2f", $5 / $7) : "-"
      printf "%-12s %-5s %-13s %-43s %9s %9s %9s %5s  %s%s\n", $1, $2, $3, $4, rate($5), rate($6), rate($7), part, $8,
          $9 == "-" ? "" : sprintf(", slowest block %.2f", $9) }' "$scratch/bounds"
while read -r stencil rmse picked; do
    echo "$stencil: model within ${rmse} (RMSE of the best tiles), its choice takes ${picked} times the best of the sample"
done <"$scratch/fits"
echo "$((runs - refused)) runs compared with the reference, $failures failure(s); $file"
[ "$failures" = 0 ]
