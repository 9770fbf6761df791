#!/usr/bin/env bash
# `run --strategy auto` against each strategy on this computer's CPU, for all shipped stencils or those that are named: rounds
# in turn, the least time of each, and how far auto is behind the best. For an otherwise idle machine; takes half an hour.
#
# usage: scripts/auto-check.sh [STENCIL]...     ROUNDS=3 TILEWRIGHT=target/release/tilewright
set -euo pipefail

cd "$(dirname "$0")/.."
tilewright=${TILEWRIGHT:-target/release/tilewright}
rounds=${ROUNDS:-3}
strategies="auto hhc naive time-skewing diamond"
# The choice is made on this computer, not for the machine that tests name.
unset TILEWRIGHT_MACHINE
python3 - "$tilewright" "$rounds" "$strategies" "$@" <<'END'
import json, subprocess, sys

command, rounds, strategies, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
GRIDS = {1: ("4000000", "1000"), 2: ("4000x4000", "100"), 3: ("256x256x256", "50")}


def call(*arguments):
    done = subprocess.run([command, *arguments, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


far = []
for stencil in call("list")["stencils"]:
    name, dimension = stencil["name"], stencil["dimension"]
    if wanted and name not in wanted:
        continue
    size, steps = GRIDS[dimension]
    best, sums = {}, set()
    # The first round chooses sizes, which later ones remember.
    for number in range(rounds + 1):
        for strategy in strategies:
            report = call("run", name, "--size", size, "--steps", steps, "--strategy", strategy)
            if report is None:
                continue
            sums.add(report["checksum"])
            if number > 0 and report["seconds"] < best.get(strategy, (float("inf"),))[0]:
                best[strategy] = (report["seconds"], report["strategy"], report["tile_text"])
    least = min(seconds for seconds, *_ in best.values())
    behind = best["auto"][0] / least
    far += [name] if behind > 1.05 else []
    print(f"{name} {size} {steps} steps: auto {behind:.3f} of the best{'' if len(sums) == 1 else '  RESULTS DIFFER'}")
    for strategy, (seconds, taken, tile) in sorted(best.items(), key=lambda item: item[1][0]):
        print(f"    {strategy:14} {seconds:9.4f} s  {taken} {tile}", flush=True)
print(f"auto is more than 5 % behind the best for: {', '.join(far) or 'none'}")
END
