#!/usr/bin/env bash
# `run --strategy auto` against each strategy on this computer's CPU, for all shipped stencils or those that are named, by name
# or as files: rounds in turn, the least time of each, and how far auto is behind the best. For an otherwise idle machine; takes half an hour.
# Strategies that refuse a stencil are left out; another failure ends the script.
#
# usage: scripts/auto-check.sh [STENCIL | FILE.stencil]...     ROUNDS=3 TILEWRIGHT=target/release/tilewright
#        GRIDS="4000000:1000 4000x4000:100 256x256x256:50" extents and steps in one, two and three dimensions
set -euo pipefail

# Files are those of the folder in which this is called.
named=()
for one in "$@"; do
    case $one in
    *.stencil) named+=("$(realpath "$one")") ;;
    *) named+=("$one") ;;
    esac
done
cd "$(dirname "$0")/.."
tilewright=${TILEWRIGHT:-target/release/tilewright}
rounds=${ROUNDS:-5}
grids=${GRIDS:-4000000:1000 4000x4000:100 256x256x256:50}
strategies="auto hhc naive time-skewing diamond overlapped"
# The choice is made on this computer, not for the machine that tests name.
unset TILEWRIGHT_MACHINE
python3 - "$tilewright" "$rounds" "$strategies" "$grids" ${named[@]+"${named[@]}"} <<'END'
import json, re, statistics, subprocess, sys

command, rounds, strategies, grids = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), sys.argv[4].split()
wanted = sys.argv[5:]


def call(*arguments):
    done = subprocess.run([command, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if not done.stdout or json.loads(done.stdout)["error"]["kind"] != "infeasible":
        sys.exit(f"{' '.join(arguments)}: {done.stdout or done.stderr}")
    return None


def dimension_of(path):
    with open(path, encoding="utf-8") as file:
        head = re.search(r"^\s*stencil\s+\w+\s*\(([^)]*)\)", file.read(), re.M)
    return head[1].count(",") if head else sys.exit(f"{path} holds no stencil")


shipped = {stencil["name"]: stencil["dimension"] for stencil in call("list")["stencils"]}
unknown = [name for name in wanted if name not in shipped and not name.endswith(".stencil")]
if unknown:
    sys.exit(f"no shipped stencil is called {' or '.join(unknown)}")
far, wrong = [], []
for name in wanted or shipped:
    dimension = shipped.get(name) or dimension_of(name)
    size, steps = grids[dimension - 1].split(":")
    # Seconds of each code, and the code that each strategy took: the same one runs as fast under either name.
    seconds_of, taken, sums = {}, {}, set()
    # The first round chooses sizes, which later ones remember.
    for number in range(3 * rounds + 1):
        if number > rounds:
            best = min(map(statistics.median, seconds_of.values()))
            near = {code for code, all_of in seconds_of.items() if statistics.median(all_of) <= 1.25 * best}
            near.add(taken["auto"])
            if len(near) < 2:
                break
        for strategy in strategies:
            # Who shares its code with auto, or is far behind, has run often enough.
            if number > rounds and (taken.get(strategy) not in near or strategy != "auto" and taken[strategy] == taken["auto"]):
                continue
            report = call("run", name, "--size", size, "--steps", steps, "--strategy", strategy)
            if report is None:
                continue
            sums.add(report["checksum"])
            code = f"{report['strategy']} {report['tile_text']}"
            taken[strategy] = code
            if number > 0:
                seconds_of.setdefault(code, []).append(report["seconds"])
    median_of = {code: statistics.median(all_of) for code, all_of in seconds_of.items()}
    behind = median_of[taken["auto"]] / min(median_of.values())
    least = min(seconds_of[taken["auto"]]) / min(map(min, seconds_of.values()))
    far += [name] if behind > 1.05 else []
    wrong += [name] if len(sums) != 1 else []
    print(
        f"{name} {size} {steps} steps: auto {behind:.3f} of the best, by least times {least:.3f}"
        f"{'' if len(sums) == 1 else '  RESULTS DIFFER'}"
    )
    for strategy, code in sorted(taken.items(), key=lambda item: median_of[item[1]]):
        times = f"{median_of[code]:9.4f} s (least {min(seconds_of[code]):.4f} of {len(seconds_of[code])})"
        print(f"    {strategy:14} {times}  {code}", flush=True)
print(f"auto is more than 5 % behind the best for: {', '.join(far) or 'none'}")
sys.exit(f"results differ for: {', '.join(wrong)}" if wrong else 0)
END
