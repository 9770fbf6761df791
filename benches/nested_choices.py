"""What choices among implementations are worth on data that they were not made with, on this computer.

    python benches/nested_choices.py TILEWRIGHT [PROGRAM ..] [--threads N] [--scale F] [--rounds N] [--json FILE]

PROGRAM is spmv, spmm, pagerank, batched_dot, softmax, reduction, scan (all where left out). For each, `TILEWRIGHT nested compile --adaptive`
measures implementations on some uses and writes a library that chooses at each call. Then its choice, each implementation that it keeps,
and each one (`h0` and so on) that a library keeps which was made with the other uses themselves are called in turn on these other uses: other
lengths, other rows, and kinds of rows of which none was measured. Which implementation is the best is what half of the rounds say, times
are those of the other half; a choice's time has the choosing in it. NumPy and SciPy are needed.
"""

import argparse
import ctypes
import json
import os
import subprocess
import tempfile
import time

import numpy
import scipy.sparse

from nested_peers import FLAGS, Report, Slot, of_lengths


def rows_of(kind, rows, chance):
    """A matrix of this kind in CSR form."""
    lengths = {
        "diagonal": lambda: numpy.ones(rows, numpy.int64),
        "few": lambda: chance.poisson(5, rows),
        "many": lambda: chance.poisson(40, rows),
        "skewed": lambda: numpy.minimum((chance.pareto(1.2, rows) * 3).astype(numpy.int64), rows // 2),
        "one long": lambda: numpy.where(numpy.arange(rows) == rows // 3, 8 * rows, 0),
        "long first": lambda: numpy.where(numpy.arange(rows) < rows // 64, 400, 3),
        "half empty": lambda: chance.poisson(12, rows) * chance.integers(0, 2, rows),
        "some long": lambda: numpy.where(chance.random(rows) < 0.01, 300, 2),
    }
    return of_lengths(lengths[kind](), rows, chance)


def sparse(extra):
    """Uses of a program of compressed rows: the first kinds are measured, all are held out, with other numbers of rows."""
    measured = ["diagonal", "few", "many", "skewed", "one long", "long first"]

    def uses(held_out, scale, chance):
        for kind in measured + (["half empty", "some long"] if held_out else []):
            for rows in (6_000, 120_000) if held_out else (3_000, 30_000, 200_000):
                matrix = rows_of(kind, int(rows * scale), chance)
                yield f"{kind}, {matrix.shape[0]} rows", kind not in measured, extra(matrix, chance)

    return uses


def csr(matrix, *names):
    """The arrays of a matrix by the names of their inputs."""
    arrays = [matrix.data, matrix.indices.astype(numpy.int32), matrix.indptr.astype(numpy.int64)]
    return dict(zip(names, arrays))


def split_of(column, inputs, held, known):
    """Uses of a program whose arrays are split into tiles of a length that is a parameter."""

    def uses(held_out, scale, chance):
        for count in (5_000, 90_000, 1_500_000) if held_out else (2_000, 40_000, 400_000, 3_000_000):
            for length in held if held_out else known:
                whole = max(1, int(count * scale) // length) * length
                given = {name: chance.random(whole) for name in inputs}
                yield f"{whole} elements, {column} {length}", False, {**given, column: length}

    return uses


PROGRAMS = {
    "spmv": sparse(lambda m, c: {**csr(m, "nonzeros", "columns", "offsets"), "x": c.random(m.shape[1])}),
    "spmm": sparse(lambda m, c: {**csr(m, "nonzeros", "columns", "offsets"), "dense": c.random(8 * m.shape[1])}),
    "pagerank": sparse(lambda m, c: {**csr(m, "weights", "sources", "offsets"), "rounds": 10}),
    "batched_dot": split_of("length", ["a", "b"], [5, 24, 700], [2, 8, 64, 1000]),
    "softmax": split_of("columns", ["x"], [6, 50, 900], [4, 16, 128, 2000]),
    "reduction": split_of("tile", ["s"], [20_000, 100_000], [4_096, 65_536]),
    "scan": split_of("tile", ["s"], [3_000, 30_000], [1_024, 16_384]),
}


class Library:
    """A library that chooses, built and loaded."""

    def __init__(self, tilewright, name, folder, uses, threads):
        listed = []
        for place, (what, _, given) in enumerate(uses):
            arrays = []
            for own, value in given.items():
                if isinstance(value, numpy.ndarray):
                    path = f"{place}-{own}.npy"
                    numpy.save(os.path.join(folder, path), value)
                    arrays.append(f"{own}={path}")
            numbers = [f"{own}={value}" for own, value in given.items() if not isinstance(value, numpy.ndarray)]
            listed.append(f"[[inputs]]\nname = {json.dumps(what)}\ninput = {json.dumps(arrays)}\nparam = {json.dumps(numbers)}\n")
        path, out = os.path.join(folder, "uses.toml"), os.path.join(folder, "out")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"threads = {threads}\n" + "\n".join(listed))
        command = [tilewright, "nested", "compile", name, "--adaptive", path, "-o", out]
        self.said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)
        symbol = next(own[:-9] for own in os.listdir(out) if own.endswith("_choice.h"))
        sources = [os.path.join(out, own) for own in os.listdir(out) if own.startswith(symbol) and own.endswith(".c")]
        library = os.path.join(out, "library.so")
        subprocess.run(["cc", *FLAGS, "-std=gnu11", *sources, "-lm", "-o", library], check=True)
        loaded = ctypes.CDLL(library)
        self.choice, self.variant = getattr(loaded, symbol), getattr(loaded, f"{symbol}_variant")
        count = sum(own.startswith(f"{symbol}_v") and own.endswith(".c") for own in os.listdir(out))
        self.implementations = [getattr(loaded, f"{symbol}_v{number}") for number in range(count)]
        self.inputs = list(given_by(os.path.join(out, "main.c")))

    def slots(self, given):
        """The slots of a use, and what has to live as long."""
        slots, alive = (Slot * 256)(), []
        for name, kind, place, number in self.inputs:
            array = numpy.ascontiguousarray(given.get(name, [number]), dtype=numpy.dtype(kind)).reshape(-1)
            alive.append(array)
            slots[place] = Slot(array.ctypes.data, array.size, 0)
        return slots, alive


def given_by(path):
    """Name, NumPy's kind, slot, and the number where none is given, of each input and parameter."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("given[] = {") :].split("};")[0].splitlines()[1:]
    for line in table:
        parts = [part.strip().strip('"') for part in line.strip(" {},").split(",")]
        if parts[0] not in ("", "NULL"):
            yield parts[0], parts[1], int(parts[4]), float(parts[6])


def timed(calls, rounds):
    """The times of each call, in turn, behind two rounds that do not count; short ones are repeated for two milliseconds."""
    times, repeat = [[] for _ in calls], 1
    for turn in range(rounds + 2):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            wrong = sum(call() for _ in range(repeat))
            took = (time.perf_counter() - start) / repeat
            assert wrong == 0
            if turn >= 2:
                times[place].append(took)
            elif turn == 1 and place == 0:
                repeat = max(1, int(0.002 / took))
    return times


def median(list_of):
    """The middle one."""
    return sorted(list_of)[len(list_of) // 2]


def made(tilewright, name, uses, threads):
    """A library that chooses, measured with these uses."""
    with tempfile.TemporaryDirectory() as folder:
        return Library(tilewright, name, folder, uses, threads)


def study(tilewright, name, scale, rounds, threads):
    """What the choices of a program are worth."""
    library, exhaustive = (
        made(tilewright, name, list(PROGRAMS[name](held_out, scale, numpy.random.default_rng(seed))), threads)
        for held_out, seed in [(False, 7), (True, 8)]
    )
    implementations = [*library.implementations, *exhaustive.implementations]
    names = [f"v{place}" for place in range(len(library.implementations))]
    names += [f"h{place}" for place in range(len(exhaustive.implementations))]
    report, found = Report(), []
    for what, unseen, given in PROGRAMS[name](True, scale, numpy.random.default_rng(8)):
        # Slots of their own: results of an earlier call are used again.
        calls, alive = [], []
        for call in [*implementations, library.choice]:
            slots, own = library.slots(given)
            alive.append((slots, own))
            calls.append(lambda call=call, slots=slots: call(slots, threads, ctypes.byref(report)))
        times = timed(calls, rounds)
        best = min(range(len(implementations)), key=lambda place: median(times[place][::2]))
        least, chosen = median(times[best][1::2]), median(times[-1][1::2])
        first = median(times[0][1::2])
        took = library.variant(alive[0][0], threads)
        one = {"what": what, "unseen": unseen, "best": names[best], "chosen": f"v{took}"}
        found.append({**one, "best_s": least, "chosen_s": chosen, "v0_s": first})
        print(f"{name:12} {what:36} best {names[best]}, chosen v{took}: {least / chosen:.2f} of it, {first / chosen:.2f} times v0", flush=True)
    mean = sum(own["best_s"] / own["chosen_s"] for own in found) / len(found)
    over = numpy.exp(numpy.mean([numpy.log(own["v0_s"] / own["chosen_s"]) for own in found]))
    kept = len(library.implementations), len(exhaustive.implementations)
    print(f"{name:12} {kept[0]} kept, {kept[1]} for these data; {mean:.3f} of the best of all on data held out, {over:.2f} times v0\n", flush=True)
    said = {"said": library.said, "said_of_held_out": exhaustive.said}
    return {"program": name, "kept": kept[0], "of_best": mean, "times_v0": float(over), "uses": found, **said}


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tilewright")
    parser.add_argument("program", nargs="*")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=22)
    parser.add_argument("--json")
    options = parser.parse_args()
    names = options.program or PROGRAMS
    found = [study(options.tilewright, name, options.scale, options.rounds, options.threads) for name in names]
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
