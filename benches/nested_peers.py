"""How fast shipped nested programs are beside what a user would pick instead, on this computer.

    python benches/nested_peers.py TILEWRIGHT [WHAT ..] [--threads N] [--scale F] [--mkl LIBRARY] [--tbb FOLDER] [--json FILE]

WHAT is scan, reduction, kmeans, spmv (all where left out). The programs are written by `TILEWRIGHT nested compile`, built with cc, and called
in this process, as are the others, in turn: NumPy, SciPy (one thread), scikit-learn, loops that copy and read, the standard library's
algorithms over oneTBB (--tbb is where its headers and libraries are, as pip's tbb-devel has them), and MKL's plain CSR (--mkl is
libmkl_rt). What is not installed is left out, and named. Medians of calls; ratios above 1 say that the nested program is faster.
"""

import argparse
import ctypes
import json
import os
import random
import re
import subprocess
import tempfile
import time
import warnings

# MKL with the threads of the programs' OpenMP library, before anything loads it.
os.environ.setdefault("MKL_THREADING_LAYER", "GNU")

import numpy
import scipy.sparse

FLAGS = ["-O3", "-march=native", "-fopenmp", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-slp-vectorize", "-shared", "-fPIC"]


class Slot(ctypes.Structure):
    """tw_slot."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_int64), ("capacity", ctypes.c_int64)]


class Report(ctypes.Structure):
    """tw_report."""

    _fields_ = [("check", ctypes.c_int64), ("numbers", ctypes.c_int64 * 2)]


class Descriptor(ctypes.Structure):
    """matrix_descr of MKL."""

    _fields_ = [("kind", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]


def pointer(array):
    """Where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)


class Program:
    """A shipped program, built in a folder and loaded."""

    def __init__(self, tilewright, name, folder, threads):
        own = os.path.join(folder, name)
        subprocess.run([tilewright, "nested", "compile", name, "-o", own], check=True, stdout=subprocess.DEVNULL)
        manifest = [file for file in os.listdir(own) if file.endswith(".h") and file != "tw_nested.h"]
        self.symbol = manifest[0][:-2]
        source, library = os.path.join(own, self.symbol + ".c"), os.path.join(own, "library.so")
        subprocess.run(["cc", *FLAGS, "-std=gnu11", source, "-lm", "-o", library], check=True)
        self.call = getattr(ctypes.CDLL(library), self.symbol)
        with open(source, encoding="utf-8") as text:
            places = re.findall(r"slots\[(\d+)\]|tw_room\(tw, (\d+)", text.read())
        self.slots = (Slot * (1 + max(int(a or b) for a, b in places)))()
        self.report, self.threads, self.given = Report(), threads, []

    def give(self, *arrays):
        """The arrays of the inputs, in the order of the text."""
        self.given = [numpy.ascontiguousarray(array) for array in arrays]
        for slot, array in zip(self.slots, self.given):
            slot.data, slot.length, slot.capacity = array.ctypes.data, array.size, 0

    def run(self):
        """One call."""
        wrong = self.call(self.slots, self.threads, ctypes.byref(self.report))
        assert wrong == 0, f"{self.symbol}: check {self.report.check}"

    def result(self, place, kind=numpy.float64):
        """The array of a slot."""
        slot = self.slots[place]
        size = slot.length * numpy.dtype(kind).itemsize
        return numpy.ctypeslib.as_array((ctypes.c_char * size).from_address(slot.data)).view(kind)


class Peers:
    """The loops of nested_peers.cpp."""

    def __init__(self, folder, tbb, threads):
        library, source = os.path.join(folder, "peers.so"), os.path.join(os.path.dirname(os.path.abspath(__file__)), "nested_peers.cpp")
        command = ["c++", *FLAGS, "-std=c++17", source, "-o", library]
        places = [] if tbb is None else [f"-I{tbb}/include", f"-L{tbb}/lib", f"-Wl,-rpath,{tbb}/lib"]
        self.has_tbb = subprocess.run([*command, "-DTW_TBB", *places, "-ltbb"], capture_output=True, check=False).returncode == 0
        if not self.has_tbb:
            print("left out: oneTBB (c++ finds no headers or library; --tbb)")
            subprocess.run(command, check=True)
        self.library, self.threads = ctypes.CDLL(library), threads
        for name in ("peers_reduce", "peers_read"):
            if hasattr(self.library, name):
                getattr(self.library, name).restype = ctypes.c_double
        if self.has_tbb:
            self.library.peers_threads(threads)


def medians(contestants, rounds):
    """The median time of each, behind two rounds that do not count. In each round all are called, in another order by chance: caches hold
    what the one before has read, and threads wait for work or sleep as that one leaves them."""
    times, order, chance = {name: [] for name in contestants}, list(contestants.items()), random.Random(5)
    for turn in range(rounds + 2):
        chance.shuffle(order)
        for name, work in order:
            start = time.perf_counter()
            work()
            if turn >= 2:
                times[name].append(time.perf_counter() - start)
    return {name: sorted(own)[rounds // 2] for name, own in times.items()}


def aligned(count):
    """Room for so many numbers at a multiple of 64 bytes."""
    raw = numpy.zeros(8 * count + 64, numpy.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + 8 * count].view(numpy.float64)


def matrices(rows, chance):
    """Matrices of several kinds: name, whether rows differ, and CSR form."""
    yield "diagonal", False, scipy.sparse.identity(rows, format="csr")
    for width in (3, 9, 27):
        places = range(-(width // 2), width // 2 + 1)
        yield f"band of {width}", False, scipy.sparse.diags([chance.random(rows) for _ in places], places, (rows, rows)).tocsr()
    for mean in (4, 16, 64):
        yield f"{mean} in a row by chance", True, of_lengths(chance.poisson(mean, rows), rows, chance)
    lengths = numpy.minimum((chance.pareto(1.2, rows) * 3).astype(numpy.int64), rows // 2)
    yield "rows by a power law", True, of_lengths(lengths, rows, chance)
    lengths = numpy.zeros(rows, numpy.int64)
    lengths[rows // 2] = 10 * rows
    yield "one long row among empty ones", True, of_lengths(lengths, rows, chance)
    lengths = numpy.where(numpy.arange(rows) < rows // 64, 512, 2)
    yield "long rows first", True, of_lengths(lengths, rows, chance)


def of_lengths(lengths, columns, chance):
    """A matrix whose rows have so many numbers; some may be in one place."""
    offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
    places = chance.integers(0, columns, offsets[-1], dtype=numpy.int32)
    return scipy.sparse.csr_matrix((chance.random(offsets[-1]), places, offsets), (len(lengths), columns))


class Bench:
    """What is measured, and what came of it."""

    def __init__(self, own, folder):
        self.own, self.folder, self.found = own, folder, {}
        self.peers = Peers(folder, own.tbb, own.threads)

    def program(self, name):
        """A shipped program."""
        return Program(self.own.tilewright, name, self.folder, self.own.threads)

    def say(self, group, what, times):
        """Notes and prints times; the first one is that of the nested program."""
        first = next(iter(times.values()))
        ratios = "  ".join(f"{name} {own / first:.2f}" for name, own in list(times.items())[1:])
        print(f"{group:10} {what:34} {first * 1e6:12.1f} us   {ratios}", flush=True)
        self.found.setdefault(group, []).append({"what": what, "microseconds": {name: round(own * 1e6, 1) for name, own in times.items()}})

    def streams(self, group):
        """A scan or a reduction of sequences that caches hold, and of one that they do not."""
        program, peers, threads = self.program(group), self.peers.library, self.own.threads
        for count in (1 << 17, 1 << 20, int((1 << 26) * self.own.scale)):
            s, y, n = aligned(count), aligned(count), ctypes.c_int64(count)
            s[:] = numpy.random.default_rng(1).random(count)
            program.give(s, numpy.array([16384 if group == "scan" else 65536]))
            if group == "scan":
                others = {
                    "copy past": lambda: peers.peers_copy_past(pointer(s), pointer(y), n, threads),
                    "copy": lambda: peers.peers_copy(pointer(s), pointer(y), n, threads),
                    "numpy": lambda: numpy.cumsum(s, out=y),
                }
                tbb = lambda: peers.peers_scan(pointer(s), pointer(y), n)
            else:
                others = {"read": lambda: peers.peers_read(pointer(s), n, threads), "numpy": s.sum}
                tbb = lambda: peers.peers_reduce(pointer(s), n)
            if self.peers.has_tbb:
                others["oneTBB"] = tbb
            self.say(group, f"{count} numbers", medians({"nested": program.run, **others}, self.own.rounds))

    def kmeans(self):
        """Lloyd's rounds from the same start; 32 components, ten centres."""
        try:
            from sklearn.cluster import KMeans
        except ImportError:
            print("left out: scikit-learn")
            return
        warnings.filterwarnings("ignore")
        program, rounds = self.program("kmeans"), 10
        for count in (2000, 20000, 100000, int(1e6 * self.own.scale)):
            x = numpy.random.default_rng(3).random((count, 32))
            start = x[:10].copy()
            program.give(x.ravel(), start.ravel(), numpy.array([32]), numpy.array([rounds]))
            model = KMeans(n_clusters=10, init=start, n_init=1, max_iter=rounds, tol=0, algorithm="lloyd", copy_x=False)
            times = medians({"nested": program.run, "scikit-learn": lambda: model.fit(x)}, max(3, self.own.rounds // 2))
            differ = numpy.abs(program.result(4).reshape(10, 32) - model.cluster_centers_).max()
            assert differ < 1e-9, f"other centres: {differ}"
            self.say("kmeans", f"{count} points, {model.n_iter_} rounds", times)

    def spmv(self):
        """Matrices of ten kinds, in and out of the caches."""
        program, chance, ratios = self.program("spmv"), numpy.random.default_rng(1), {}
        mkl = None
        if self.own.mkl is None:
            print("left out: MKL (--mkl)")
        else:
            ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
            mkl = ctypes.CDLL(self.own.mkl, mode=ctypes.RTLD_GLOBAL)
            mkl.MKL_Set_Num_Threads(self.own.threads)
        for rows in (3000, 30000, int(300000 * self.own.scale)):
            for name, differ, matrix in matrices(rows, chance):
                value, column = matrix.data.astype(numpy.float64), matrix.indices.astype(numpy.int32)
                x, y, offset = chance.random(rows), numpy.zeros(rows), matrix.indptr.astype(numpy.int32)
                program.give(value, column, matrix.indptr.astype(numpy.int64), x)
                contestants = {"nested": program.run}
                if mkl is not None:
                    handle, how = ctypes.c_void_p(), Descriptor(20, 0, 0)
                    ends = ctypes.c_void_p(offset.ctypes.data + 4)
                    made = mkl.mkl_sparse_d_create_csr(
                        ctypes.byref(handle), 0, rows, rows, pointer(offset), ends, pointer(column), pointer(value)
                    )
                    assert made == 0, f"MKL: {made}"
                    one, zero = ctypes.c_double(1), ctypes.c_double(0)
                    contestants["MKL"] = lambda: mkl.mkl_sparse_d_mv(10, one, handle, how, pointer(x), zero, pointer(y))
                contestants["SciPy"] = lambda: matrix @ x
                times = medians(contestants, self.own.rounds)
                expected = matrix @ x
                assert numpy.allclose(program.result(4), expected), "other results"
                assert mkl is None or numpy.allclose(y, expected), "other results of MKL"
                if mkl is not None:
                    mkl.mkl_sparse_destroy(handle)
                self.say("spmv", f"{name}, {rows} rows", times)
                for peer in list(times)[1:]:
                    ratios.setdefault(peer, []).append((times[peer] / times["nested"], differ))
        for peer, list_of in ratios.items():
            every = numpy.array([ratio for ratio, _ in list_of])
            some = numpy.array([ratio for ratio, differ in list_of if differ])
            means = [float(numpy.exp(numpy.log(own).mean())) for own in (every, some)]
            print(f"spmv       beside {peer}: geometric mean {means[0]:.2f}, rows that differ {means[1]:.2f}, least {every.min():.2f}")
            self.found.setdefault("spmv_ratios", {})[peer] = {
                "geometric_mean": round(means[0], 2),
                "irregular": round(means[1], 2),
                "least": round(float(every.min()), 2),
            }


def main():
    """Prints one line for each comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tilewright")
    parser.add_argument("what", nargs="*", default=["scan", "reduction", "kmeans", "spmv"])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scale", type=float, default=1.0, help="of the largest sizes")
    parser.add_argument("--rounds", type=int, default=9, help="calls that count")
    parser.add_argument("--mkl", help="libmkl_rt")
    parser.add_argument("--tbb", help="where oneTBB's include and lib are")
    parser.add_argument("--json", help="a file for the times")
    own = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(own, folder)
        for what in own.what:
            if what in ("scan", "reduction"):
                bench.streams(what)
            else:
                getattr(bench, what)()
        if own.json is not None:
            with open(own.json, "w", encoding="utf-8") as file:
                json.dump(bench.found, file, indent=1)


if __name__ == "__main__":
    main()
