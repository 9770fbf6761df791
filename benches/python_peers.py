"""heat2d in single precision as a user of NumPy would run it, beside what that user would pick instead, on this computer.

    python benches/python_peers.py [--grid 4096x4096]... [--steps 100] [--rounds 5] [--threads 2] [--json FILE]

Needs NumPy and tilewright; Numba and Devito join where they are installed. The contestants take turns, each round runs each one
once, warm; medians count. Results are compared: with the same bits where nothing may contract or reorder, else to 1e-4.
"""

import argparse
import gc
import importlib
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

A = B = 0.125


def tilewright_new(u, steps, threads):
    """A new array for the result."""
    import tilewright

    heat = tilewright.stencil("heat2d")
    return lambda: heat.run(u, steps=steps, a=A, b=B, threads=threads), heat


def tilewright_out(u, steps, threads):
    """The result over the start, which is put back outside of the time."""
    import tilewright

    heat = tilewright.stencil("heat2d")
    own = heat.empty(u.shape)

    def run():
        own[...] = u
        begin = time.perf_counter()
        heat.run(own, steps=steps, a=A, b=B, threads=threads, out=own)
        return own, time.perf_counter() - begin

    return run, heat


def numba(u, steps, threads, **options):
    """Parallel rows."""
    import numba as nb
    import numpy as np

    nb.set_num_threads(threads)
    a, b, two = np.float32(A), np.float32(B), np.float32(2)

    @nb.njit(parallel=True, **options)
    def sweep(u, v):
        for i in nb.prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = (
                    u[i, j]
                    + a * (u[i - 1, j] - two * u[i, j] + u[i + 1, j])
                    + b * (u[i, j - 1] - two * u[i, j] + u[i, j + 1])
                )

    first, second = np.empty_like(u), np.empty_like(u)

    def run():
        first[...] = u
        second[...] = u
        one, other = first, second
        begin = time.perf_counter()
        for _ in range(steps):
            sweep(one, other)
            one, other = other, one
        return one, time.perf_counter() - begin

    return run, None


def numba_fast(u, steps, threads):
    """The same, free to contract and reorder."""
    return numba(u, steps, threads, fastmath=True)


def devito(u, steps, threads):
    """Its own C with OpenMP, blocks chosen by its autotuner; the edges are its halo."""
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import devito as dv

    dv.configuration["language"] = "openmp"
    dv.configuration["log-level"] = "ERROR"
    dv.configuration["autotuning"] = "aggressive"
    grid = dv.Grid(shape=tuple(extent - 2 for extent in u.shape), dtype=u.dtype.type)
    x, y = grid.dimensions
    # A step of 1, so that shifts by a spacing are shifts by a point.
    f = dv.TimeFunction(name="f", grid=grid, space_order=2, time_order=1)
    halo = f._size_halo[1].left
    dx, dy = x.spacing, y.spacing
    west, east = f.subs(x, x - dx), f.subs(x, x + dx)
    south, north = f.subs(y, y - dy), f.subs(y, y + dy)
    value = f + A * (west - 2 * f + east) + B * (south - 2 * f + north)
    operator = dv.Operator([dv.Eq(f.forward, value)])
    cut = (slice(halo - 1, -(halo - 1) or None),) * 2

    def run():
        for level in range(2):
            f.data_with_halo[level][cut] = u
        begin = time.perf_counter()
        operator.apply(time_m=0, time_M=steps - 1)
        took = time.perf_counter() - begin
        return f.data_with_halo[steps % 2][cut], took

    return run, None


def numpy_slices(u, steps, threads):
    """Whole-array expressions; a tenth of the steps, and the time multiplied."""
    import numpy as np

    a, b, two = np.float32(A), np.float32(B), np.float32(2)
    few = max(1, steps // 10)

    def run():
        begin = time.perf_counter()
        old = u
        for _ in range(few):
            new, c = old.copy(), old[1:-1, 1:-1]
            new[1:-1, 1:-1] = (
                c
                + a * (old[:-2, 1:-1] - two * c + old[2:, 1:-1])
                + b * (old[1:-1, :-2] - two * c + old[1:-1, 2:])
            )
            old = new
        return None, (time.perf_counter() - begin) * steps / few

    return run, None


CONTESTANTS = {
    "tilewright": tilewright_new,
    "tilewright, out=": tilewright_out,
    "numba": numba,
    "numba, fastmath": numba_fast,
    "devito": devito,
    "numpy": numpy_slices,
}


def timed(run):
    """A result and its seconds; who must prepare something times itself."""
    begin = time.perf_counter()
    found = run()
    took = time.perf_counter() - begin
    return found if isinstance(found, tuple) else (found, took)


def of_grid(shape, steps, rounds, threads, only):
    """All contestants on one grid."""
    import numpy as np

    u = np.random.default_rng(1).random(shape, dtype=np.float32)
    runs, found, wanted = {}, {}, None
    for name, make in CONTESTANTS.items():
        if only and name not in only:
            continue
        try:
            begin = time.perf_counter()
            run, stencil = make(u, steps, threads)
            result, _ = timed(run)
            first = time.perf_counter() - begin
        except ImportError as error:
            print(f"{name}: left out: {error}", flush=True)
            continue
        runs[name] = run
        found[name] = {"first_call_s": first, "seconds": []}
        if stencil is not None:
            found[name] |= {"strategy": stencil.last.strategy, "tile": stencil.last.tile}
        if result is not None:
            wanted = np.array(result) if wanted is None else wanted
            exact = name in ("tilewright, out=", "numba")
            found[name]["same_bits"] = bool(np.array_equal(result, wanted))
            if np.abs(result - wanted).max() > 1e-4 or (exact and not found[name]["same_bits"]):
                sys.exit(f"{name} computes something else")
        print(f"{name:18} first call {first:8.3f} s", flush=True)
        del result
    for _ in range(rounds):
        for name, run in runs.items():
            gc.collect()
            found[name]["seconds"].append(timed(run)[1])
    points = (shape[0] - 2) * (shape[1] - 2) * steps
    for own in found.values():
        own["median_s"] = statistics.median(own["seconds"])
        own["gpoints_per_s"] = points / own["median_s"] / 1e9
    ours = found["tilewright"]["median_s"]
    for name, own in found.items():
        own["times_tilewright"] = own["median_s"] / ours
        low, high = min(own["seconds"]), max(own["seconds"])
        print(
            f"{'x'.join(map(str, shape)):12} {name:18} {own['median_s']:8.3f} s ({low:.3f} to {high:.3f}) "
            f"{own['gpoints_per_s']:7.2f} Gpoints/s, {own['times_tilewright']:6.2f} of tilewright's time",
            flush=True,
        )
    return {"size": list(shape), "steps": steps, "contestants": found}


def processor():
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def version(package):
    """Its version, as it says itself, where it is installed."""
    try:
        return str(importlib.import_module(package).__version__)
    except ImportError:
        return None


def main():
    """Runs all grids."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grid", action="append")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", action="append", help="a contestant; may be repeated")
    parser.add_argument("--json")
    own = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(own.threads)
    grids = [tuple(int(extent) for extent in one.split("x")) for one in own.grid or ["4096x4096"]]
    before = os.getloadavg()
    results = [of_grid(grid, own.steps, own.rounds, own.threads, own.only) for grid in grids]
    document = {
        "machine": processor(),
        "processors": os.cpu_count(),
        "threads": own.threads,
        "load_before": before,
        "load_after": os.getloadavg(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("tilewright", "numpy", "numba", "llvmlite", "devito")},
        "rounds": own.rounds,
        "grids": results,
    }
    if own.json:
        Path(own.json).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
