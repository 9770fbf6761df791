#!/usr/bin/env bash
# `run --strategy auto` against each strategy on this computer's CPU, for all shipped stencils or those that are named: rounds
# in turn, the least time of each, and how far auto is behind the best. For an otherwise idle machine; takes half an hour.
# Strategies that refuse a stencil are left out; another failure ends the script.
#
# usage: scripts/auto-check.sh [STENCIL]...     ROUNDS=3 TILEWRIGHT=target/release/tilewright
#        GRIDS="4000000:1000 4000x4000:100 256x256x256:50" extents and steps in one, two and three dimensions
set -euo pipefail

cd "$(dirname "$0")/.."
tilewright=${TILEWRIGHT:-target/release/tilewright}
rounds=${ROUNDS:-3}
grids=${GRIDS:-4000000:1000 4000x4000:100 256x256x256:50}
strategies="auto hhc naive time-skewing diamond"
# The choice is made on this computer, not for the machine that tests name.
unset TILEWRIGHT_MACHINE
python3 - "$tilewright" "$rounds" "$strategies" "$grids" "$@" <<'END'
import json, subprocess, sys

command, rounds, strategies, grids = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(), sys.argv[4].split()
wanted = sys.argv[5:]


def call(*arguments):
    done = subprocess.run([command, *arguments, "--json"], capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if not done.stdout or json.loads(done.stdout)["error"]["kind"] != "infeasible":
        sys.exit(f"{' '.join(arguments)}: {done.stdout or done.stderr}")
    return None


far, wrong, seen = [], [], 0
for stencil in call("list")["stencils"]:
    name, dimension = stencil["name"], stencil["dimension"]
    if wanted and name not in wanted:
        continue
    seen += 1
    size, steps = grids[dimension - 1].split(":")
    # Least seconds of each code, and the code that each strategy took: the same one runs as fast under either name.
    least_of, taken, sums = {}, {}, set()
    # The first round chooses sizes, which later ones remember.
    for number in range(rounds + 1):
        for strategy in strategies:
            report = call("run", name, "--size", size, "--steps", steps, "--strategy", strategy)
            if report is None:
                continue
            sums.add(report["checksum"])
            code = f"{report['strategy']} {report['tile_text']}"
            taken[strategy] = code
            if number > 0:
                least_of[code] = min(report["seconds"], least_of.get(code, float("inf")))
    behind = least_of[taken["auto"]] / min(least_of.values())
    far += [name] if behind > 1.05 else []
    wrong += [name] if len(sums) != 1 else []
    print(f"{name} {size} {steps} steps: auto {behind:.3f} of the best{'' if len(sums) == 1 else '  RESULTS DIFFER'}")
    for strategy, code in sorted(taken.items(), key=lambda item: least_of[item[1]]):
        print(f"    {strategy:14} {least_of[code]:9.4f} s  {code}", flush=True)
if seen == 0:
    sys.exit(f"no shipped stencil is called {' or '.join(wanted)}")
print(f"auto is more than 5 % behind the best for: {', '.join(far) or 'none'}")
sys.exit(f"results differ for: {', '.join(wrong)}" if wrong else 0)
END
