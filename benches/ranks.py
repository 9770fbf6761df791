#!/usr/bin/env python3
"""Two ranks beside one process with two threads, and messages that come later.

Runs a stencil four ways in turn: one process with two threads; two ranks with one each; two ranks whose messages take half of a band's
computing longer (tests/ranks/shim.c), as they choose, and with --blocking. Prints medians and least seconds, and writes all of them.

python3 benches/ranks.py target/release/tilewright heat3d 512x512x512 144 --rounds 9 --out ranks.json
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

SHIM = Path(__file__).resolve().parent.parent / "tests/ranks/shim.c"


def run(command, environment):
    """The report of a run."""
    own = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **environment}
    done = subprocess.run([*command, "--json"], env=own, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilewright")
    parser.add_argument("stencil")
    parser.add_argument("size")
    parser.add_argument("steps")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    name = [arguments.tilewright, "run", arguments.stencil, "--size", arguments.size, "--steps", arguments.steps]
    ranks = ["mpirun", "-n", "2", "--bind-to", "core", *name, "--threads", "1"]
    with tempfile.TemporaryDirectory() as folder:
        shim = f"{folder}/shim.so"
        subprocess.run(["mpicc", "-O2", "-shared", "-fPIC", str(SHIM), "-o", shim], check=True)
        # What is chosen once is chosen before anything counts.
        run([*name, "--threads", "2"], {})
        first = run(ranks, {})
        each = max(rank["compute_seconds"] for rank in first["ranks"]["each"])
        delay = 0.5 * each / first["ranks"]["sent"]["bands"]
        later = {"LD_PRELOAD": shim, "TW_DELAY": "0.5", "TW_DELAY_ELAPSED": f"{delay:.4f}"}
        ways = {
            "one process, two threads": ([*name, "--threads", "2"], {}),
            "two ranks": (ranks, {}),
            "two ranks, later messages": (ranks, later),
            "two ranks, later messages, --blocking": ([*ranks, "--blocking"], later),
        }
        reports = {way: [] for way in ways}
        for _ in range(arguments.rounds):
            for way, (command, environment) in ways.items():
                reports[way].append(run(command, environment))
    seconds = {way: [report["seconds"] for report in own] for way, own in reports.items()}
    for way, own in seconds.items():
        print(f"{way}: median {statistics.median(own):.3f} s, least {min(own):.3f} s")
    facts = subprocess.run(["lscpu", "-J"], capture_output=True, text=True, check=True)
    machine = {row["field"].rstrip(":"): row["data"] for row in json.loads(facts.stdout)["lscpu"]}
    kept = ("Model name", "CPU family", "Model", "CPU(s)", "L2 cache", "L3 cache", "Hypervisor vendor")
    found = {
        "stencil": arguments.stencil,
        "size": arguments.size,
        "steps": int(arguments.steps),
        "machine": {field: machine[field] for field in kept if field in machine},
        "delay_s": round(delay, 4),
        "tiles": {way: own[0]["tile_text"] for way, own in reports.items()},
        "depth": first["ranks"]["depth"],
        "bands": first["ranks"]["sent"]["bands"],
        "seconds": {way: [round(value, 4) for value in own] for way, own in seconds.items()},
    }
    if arguments.out:
        known = json.loads(arguments.out.read_text()) if arguments.out.exists() else []
        arguments.out.write_text(json.dumps([*known, found], indent=1) + "\n")


if __name__ == "__main__":
    main()
