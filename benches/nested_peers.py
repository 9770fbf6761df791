"""How fast shipped nested programs are beside what a user would pick instead: NumPy and SciPy, on this computer.

    python benches/nested_peers.py TILEWRIGHT [--threads N] [--scale F]

Writes the programs with `TILEWRIGHT nested compile`, builds them with cc, and runs them on files. Medians of several runs, both with their
data in memory; ratios above 1 say that the nested program is faster. SpMV runs on matrices of several kinds.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time

import numpy
import scipy.sparse

REPEAT = 15


def median_of(work):
    """The median time of a call, behind one that is not timed."""
    work()
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times)[REPEAT // 2]


class Program:
    """A shipped program, built in a folder."""

    def __init__(self, tilewright, name, folder, threads):
        self.folder = os.path.join(folder, name)
        subprocess.run([tilewright, "nested", "compile", name, "-o", self.folder], check=True, stdout=subprocess.DEVNULL)
        sources = [os.path.join(self.folder, own) for own in os.listdir(self.folder) if own.endswith(".c")]
        self.main = os.path.join(self.folder, "main")
        flags = ["-O3", "-march=native", "-fopenmp", "-ffp-contract=off", "-std=gnu11"]
        subprocess.run(["cc", *flags, *sources, "-lm", "-o", self.main], check=True)
        self.threads = str(threads)

    def seconds(self, **arrays):
        """The median time of a run; results are checked by the program itself."""
        words = []
        for name, array in arrays.items():
            path = os.path.join(self.folder, f"{name}.npy")
            numpy.save(path, array)
            words.append(f"{name}={path}")
        command = [self.main, "--threads", self.threads, "--repeat", str(REPEAT), *words]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert "DIFFERENT" not in said, said
        return float(re.search(r"median ([0-9.]+)", said).group(1))


def matrices(rows, chance):
    """Matrices of several kinds: name and CSR form."""
    yield "diagonal", scipy.sparse.identity(rows, format="csr")
    for width in (3, 9, 27):
        places = range(-(width // 2), width // 2 + 1)
        yield f"band of {width}", scipy.sparse.diags([chance.random(rows) for _ in places], places, (rows, rows)).tocsr()
    for mean in (4, 16, 64):
        yield f"{mean} in a row by chance", scipy.sparse.random(rows, rows, mean / rows, "csr", random_state=chance)
    lengths = numpy.minimum((chance.pareto(1.2, rows) * 3).astype(numpy.int64), rows // 2)
    yield "rows by a power law", of_lengths(lengths, rows, chance)
    lengths = numpy.zeros(rows, numpy.int64)
    lengths[rows // 2] = 10 * rows
    yield "one long row among empty ones", of_lengths(lengths, rows, chance)
    lengths = numpy.where(numpy.arange(rows) < rows // 64, 512, 2)
    yield "long rows first", of_lengths(lengths, rows, chance)


def of_lengths(lengths, columns, chance):
    """A matrix whose rows have so many numbers; some may be in one place."""
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
    places = chance.integers(0, columns, offsets[-1], dtype=numpy.int32)
    return scipy.sparse.csr_matrix((chance.random(offsets[-1]), places, offsets), (len(lengths), columns))


def main():
    """Prints one line for each comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tilewright")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scale", type=float, default=1.0, help="sizes are multiplied by it")
    own = parser.parse_args()
    chance = numpy.random.default_rng(1)
    ratios = []

    def say(what, nested, peer):
        ratios.append(peer / nested)
        print(f"{what:40} {nested * 1e3:10.3f} ms {peer * 1e3:10.3f} ms {peer / nested:8.2f}", flush=True)

    print(f"{'':40} {'nested':>13} {'peer':>13} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        s = chance.random(int(own.scale * 2e7))
        say("reduction / numpy.sum", Program(own.tilewright, "reduction", folder, own.threads).seconds(s=s), median_of(s.sum))
        scan = Program(own.tilewright, "scan", folder, own.threads).seconds(s=s)
        say("scan / numpy.cumsum", scan, median_of(lambda: numpy.cumsum(s)))
        spmv = Program(own.tilewright, "spmv", folder, own.threads)
        for name, matrix in matrices(int(own.scale * 1e6), chance):
            x = chance.random(matrix.shape[1])
            seconds = spmv.seconds(
                nonzeros=matrix.data.astype(numpy.float64),
                columns=matrix.indices.astype(numpy.int32),
                offsets=matrix.indptr.astype(numpy.int64),
                x=x,
            )
            say(f"spmv / scipy: {name}", seconds, median_of(lambda: matrix @ x))
    print(f"geometric mean {numpy.exp(numpy.log(ratios).mean()):.2f}, least {min(ratios):.2f}")


if __name__ == "__main__":
    main()
