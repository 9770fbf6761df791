"""How fast the variants of the benchmarks for learned choices are beside libraries, on this computer.

    cargo bench -p tilewright-variant-benchmarks --bench served --no-run
    python benches/variant_peers.py SERVED [WHAT ..] [--threads N] [--scale F] [--rounds N] [--mkl LIBRARY] [--tbb FOLDER]
                                    [--eigen FOLDER] [--gap FOLDER] [--json FILE]

SERVED is the program that cargo names; WHAT is spmv, solvers, bfs, histogram, sort, transpose (all where left out). Libraries are NumPy,
SciPy, boost-histogram, OpenCV and NetworKit where Python finds them, MKL (--mkl is libmkl_rt), the standard library's sorts over oneTBB
(--tbb is where its include and lib are), Eigen (--eigen has the folder Eigen), the GAP benchmark suite's search (--gap has the folder src).
What is not there is left out, and named. All variants and libraries are called in turn on inputs of all families, small to large; a
round's time is the least of a few calls, and what counts is the median of the rounds. What SciPy, Eigen and our solvers prepare (their
preconditioner) counts; what products prepare does not.

A variant's home inputs are those on which it takes at most a tenth more than the best variant, for there one would pick it; where these
are fewer than six, the six on which it is nearest to the best. Ratios above 1 say that the variant is faster than the library.
"""

import argparse
import contextlib
import ctypes
import importlib
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import warnings

# MKL with the threads of the helpers' OpenMP library, before anything loads it.
os.environ.setdefault("MKL_THREADING_LAYER", "GNU")

import numpy
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

FLAGS = ["-O3", "-march=native", "-fopenmp", "-std=c++17", "-shared", "-fPIC"]
# The largest inputs have so many elements, and families come in turn.
LARGEST = {"spmv": (4_000_000, 6), "solvers": (400_000, 6), "bfs": (4_000_000, 5), "histogram": (10_000_000, 5), "transpose": (10_000_000, 5), "sort": (20_000_000, 8)}
# Shares of that, of the inputs of each turn through the families.
SHARES = (0.02, 0.2, 1.0)
TURNS = {"histogram": 2, "transpose": 2, "solvers": 2}
# Those of our solvers.
TOLERANCE, STEPS = 1e-8, 1000
HOME, FEWEST = 1.1, 6


class Descriptor(ctypes.Structure):
    """matrix_descr of MKL."""

    _fields_ = [("kind", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]


def pointer(array):
    """Where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)


class Served:
    """The program with our variants."""

    def __init__(self, program, threads):
        environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, *words):
        """The answer to a line."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{words}: no answer")
        return json.loads(line)


class Peer:
    """A library on an input: what it does, and what is made ready before each call without being counted."""

    def __init__(self, work, ready=lambda: None, right=lambda: True):
        self.work, self.ready, self.right = work, ready, right

    def run(self, few):
        """The least time of a few calls; None where it has no result."""
        least = math.inf
        for _ in range(few):
            self.ready()
            start = time.perf_counter()
            done = self.work()
            spent = time.perf_counter() - start
            if done is False:
                return None
            least = min(least, spent)
        return least


class Libraries:
    """What is installed."""

    def __init__(self, own, folder):
        self.threads, self.names = own.threads, {"NumPy": numpy.__version__, "SciPy": scipy.__version__}
        self.boost, self.opencv, self.networkit = (self.module(name) for name in ("boost_histogram", "cv2", "networkit"))
        if self.opencv is not None:
            self.opencv.setNumThreads(own.threads)
        if self.networkit is not None:
            self.networkit.setNumberOfThreads(own.threads)
        self.mkl = self.loaded_mkl(own.mkl)
        tbb = [] if own.tbb is None else [f"-I{own.tbb}/include", f"-L{own.tbb}/lib", f"-Wl,-rpath,{own.tbb}/lib"]
        self.tbb = self.helper(folder, "TBB", [*tbb, "-ltbb"], "--tbb")
        self.eigen = self.helper(folder, "EIGEN", [] if own.eigen is None else [f"-I{own.eigen}"], "--eigen")
        self.gap = self.helper(folder, "GAP", [] if own.gap is None else [f"-I{own.gap}/src"], "--gap")
        if self.tbb is not None:
            self.tbb.peers_threads(own.threads)
        if self.eigen is not None:
            self.eigen.peers_system.restype = ctypes.c_void_p
            self.eigen.peers_unknowns.restype = ctypes.POINTER(ctypes.c_double)
            self.eigen.peers_solve.restype = ctypes.c_int64
        if self.gap is not None:
            self.gap.peers_graph.restype = ctypes.c_void_p
            self.gap.peers_search.restype = ctypes.c_int64

    def module(self, name):
        """A module of Python, if it is there."""
        try:
            found = importlib.import_module(name)
        except ImportError:
            print(f"left out: {name} (pip install {name.replace('_', '-')})")
            return None
        self.names[name] = getattr(found, "__version__", "")
        return found

    def loaded_mkl(self, path):
        """MKL with our number of threads."""
        if path is None:
            print("left out: MKL (--mkl)")
            return None
        ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
        mkl = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        mkl.MKL_Set_Num_Threads(self.threads)
        text = ctypes.create_string_buffer(200)
        mkl.MKL_Get_Version_String(text, 200)
        self.names["MKL"] = text.value.decode().strip()
        return mkl

    def helper(self, folder, part, places, option):
        """A part of variant_peers.cpp, if its library is there."""
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "variant_peers.cpp")
        library = os.path.join(folder, f"{part}.so")
        done = subprocess.run(["c++", *FLAGS, f"-DTW_{part}", source, "-o", library, *places], capture_output=True, check=False)
        if done.returncode != 0:
            print(f"left out: {part} (c++ finds no headers or library; {option})")
            return None
        self.names[part] = ""
        return ctypes.CDLL(library)

    def sort(self, read, _):
        """Sorts of a fresh copy."""
        keys, work = read("keys"), read("keys")
        wanted, bits = numpy.sort(keys), keys.itemsize * 8

        def ready():
            work[:] = keys

        def right():
            return numpy.array_equal(work, wanted)

        yield "numpy.sort", Peer(work.sort, ready, right)
        if self.tbb is not None:
            call, n = getattr(self.tbb, f"peers_sort_f{bits}"), ctypes.c_int64(keys.size)
            for way, name in enumerate(("std::sort par_unseq", "tbb::parallel_sort", "std::stable_sort par")):
                yield name, Peer(lambda way=way: call(pointer(work), n, way) and None, ready, right)

    def histogram(self, read, _):
        """Counts of values of 16 bits."""
        values, bins = read("values").astype(numpy.uint16), int(read("shape")[0])
        wanted, found = numpy.bincount(values, minlength=bins), {}

        def peer(name, work):
            def keep():
                found[name] = work()

            return name, Peer(keep, right=lambda: numpy.array_equal(numpy.asarray(found[name]).ravel(), wanted))

        yield peer("numpy.bincount", lambda: numpy.bincount(values, minlength=bins))
        if self.boost is not None:
            axis = self.boost.axis.Integer(0, bins, underflow=False, overflow=False)
            storage = self.boost.storage.Int64
            yield peer("boost-histogram", lambda: self.boost.Histogram(axis, storage=storage()).fill(values, threads=self.threads).view())
        if self.opencv is not None:
            row = values.reshape(1, -1)
            yield peer("OpenCV calcHist", lambda: self.opencv.calcHist([row], [0], None, [bins], [0, bins]))

    def transpose(self, read, _):
        """Transposition of a matrix in its place."""
        if self.mkl is None:
            return
        rows, columns = map(int, read("shape"))
        filled, work = numpy.arange(rows * columns, dtype=numpy.float64), numpy.zeros(rows * columns)
        sizes = [ctypes.c_size_t(own) for own in (rows, columns)]

        def ready():
            work[:] = filled

        def right():
            return numpy.array_equal(work.reshape(columns, rows), filled.reshape(rows, columns).T)

        def call():
            letter = ctypes.c_char
            self.mkl.MKL_Dimatcopy(letter(b"R"), letter(b"T"), *sizes, ctypes.c_double(1), pointer(work), sizes[1], sizes[0])

        yield "MKL dimatcopy", Peer(call, ready, right)

    def bfs(self, read, finish):
        """Searches from all sources."""
        offsets, targets, sources = read("offsets"), read("targets"), read("sources").tolist()
        n = offsets.size - 1
        matrix = scipy.sparse.csr_matrix((numpy.ones(targets.size), targets, offsets.astype(numpy.int32)), (n, n))
        search, found = scipy.sparse.csgraph.breadth_first_order, {}
        wanted = [len(search(matrix, source, True, False)) for source in sources[:3]]

        def every(name, one):
            def work():
                for source in sources:
                    one(source)

            return name, Peer(work, right=lambda: [found[name](source) for source in sources[:3]] == wanted)

        found["SciPy"] = lambda source: len(search(matrix, source, True, False))
        yield every("SciPy", lambda source: search(matrix, source, True, True))
        if self.networkit is not None:
            row = numpy.repeat(numpy.arange(n), numpy.diff(offsets))
            once = row <= targets
            places = (numpy.ones(once.sum()), (row[once], targets[once].astype(row.dtype)))
            lists = self.networkit.graph.GraphFromCoo(places, n=n, weighted=False, directed=False)
            one = lambda source: self.networkit.distance.BFS(lists, source, storePaths=False).run()
            found["NetworKit"] = lambda source: int((numpy.array(one(source).getDistances()) < n).sum())
            yield every("NetworKit", one)
        if self.gap is not None:
            graph = ctypes.c_void_p(self.gap.peers_graph(ctypes.c_int64(n), ctypes.c_int64(targets.size), pointer(offsets), pointer(targets)))
            finish.callback(self.gap.peers_forget_graph, graph)
            found["GAP"] = lambda source: self.gap.peers_search(graph, source)
            yield every("GAP", found["GAP"])

    def spmv(self, read, finish):
        """Products with CSR, and with diagonals where these are few."""
        (rows, columns), x = map(int, read("shape")), read("x")
        value, place, offset = read("values"), read("places"), read("offsets").astype(numpy.int32)
        matrix, y, found = scipy.sparse.csr_matrix((value, place, offset), (rows, columns)), numpy.zeros(rows), {}
        wanted = matrix @ x

        def scipys(name, own):
            def work():
                found[name] = own @ x

            return name, Peer(work, right=lambda: numpy.allclose(found[name], wanted))

        yield scipys("SciPy csr", matrix)
        diagonals = numpy.unique(place - numpy.repeat(numpy.arange(rows, dtype=numpy.int32), numpy.diff(offset)))
        if diagonals.size * rows <= 12 * value.size:
            yield scipys("SciPy dia", matrix.todia())
        if self.mkl is None:
            return
        how, one, zero = Descriptor(20, 0, 0), ctypes.c_double(1), ctypes.c_double(0)
        for name, hints in (("MKL csr", False), ("MKL csr, hints", True)):
            handle = ctypes.c_void_p()
            ends = ctypes.c_void_p(offset.ctypes.data + 4)
            shape = map(ctypes.c_int, (rows, columns))
            made = self.mkl.mkl_sparse_d_create_csr(ctypes.byref(handle), 0, *shape, pointer(offset), ends, pointer(place), pointer(value))
            assert made == 0, f"MKL: {made}"
            finish.callback(self.mkl.mkl_sparse_destroy, handle)
            if hints:
                self.mkl.mkl_sparse_set_mv_hint(handle, 10, how, 1000)
                self.mkl.mkl_sparse_optimize(handle)
            call = lambda handle=handle: self.mkl.mkl_sparse_d_mv(10, one, handle, how, pointer(x), zero, pointer(y)) and None
            yield name, Peer(call, right=lambda: numpy.allclose(y, wanted))

    def solvers(self, read, finish):
        """Conjugate gradients and BiCGSTAB to our tolerance; what is prepared counts."""
        n, right = int(read("shape")[0]), read("right")
        value, place, offset = read("values"), read("places"), read("offsets").astype(numpy.int32)
        matrix, found = scipy.sparse.csr_matrix((value, place, offset), (n, n)), {}
        solves = lambda x: numpy.linalg.norm(right - matrix @ x) <= 100 * TOLERANCE * numpy.linalg.norm(right)

        def scipys(name, solver, steps):
            def work():
                inverse = scipy.sparse.diags_array(1 / matrix.diagonal(), format="csr")
                found[name], wrong = solver(matrix, right, rtol=TOLERANCE, atol=0, maxiter=steps, M=inverse)
                return wrong == 0 and bool(solves(found[name]))

            return f"SciPy {name}, Jacobi", Peer(work)

        yield scipys("cg", scipy.sparse.linalg.cg, STEPS)
        yield scipys("bicgstab", scipy.sparse.linalg.bicgstab, STEPS // 2)
        if self.eigen is not None:
            system = ctypes.c_void_p(self.eigen.peers_system(ctypes.c_int64(n), *map(pointer, (offset, place, value, right))))
            finish.callback(self.eigen.peers_forget, system)
            names = ("cg, diagonal", "cg, incomplete Cholesky", "bicgstab, diagonal", "bicgstab, incomplete LU")
            for way, name in enumerate(names):

                def work(way=way):
                    steps = self.eigen.peers_solve(system, way, ctypes.c_double(TOLERANCE), ctypes.c_int64(STEPS if way < 2 else STEPS // 2))
                    return steps >= 0 and bool(solves(numpy.ctypeslib.as_array(self.eigen.peers_unknowns(system), (n,))))

                yield f"Eigen {name}", Peer(work)


class Bench:
    """What is measured, and what came of it."""

    def __init__(self, own, folder):
        self.own, self.folder, self.found = own, folder, []
        self.served, self.libraries = Served(own.served, own.threads), Libraries(own, folder)

    def one(self, what, index, largest):
        """All variants and libraries on one input."""
        folder = os.path.join(self.folder, "input")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        about = self.served.ask("input", what, index, largest, folder)
        read = lambda name: numpy.load(os.path.join(folder, f"{name}.npy"))
        with contextlib.ExitStack() as finish:
            peers = dict(getattr(self.libraries, what)(read, finish))
            runs = {name: peer.run for name, peer in peers.items()}
            runs |= {name: lambda few, name=name: self.variant(what, name, few) for name in about["variants"]}
            first = {name: run(1) for name, run in runs.items()}
            for name in [name for name, own in first.items() if own is None]:
                del runs[name]
            for name, peer in peers.items():
                assert name not in runs or peer.right(), f"{what}, {about['name']}: {name} has another result"
            few = 1 if not runs else max(1, min(5, int(0.05 / min(first[name] for name in runs))))
            times, order = {name: [] for name in runs}, list(runs.items())
            for _ in range(self.own.rounds):
                random.shuffle(order)
                for name, run in order:
                    # Threads that wait for more work have gone to sleep.
                    time.sleep(0.003)
                    spent = run(few)
                    times[name].append(math.inf if spent is None else spent)
        seconds = {name: statistics.median(own) for name, own in times.items()}
        seconds = {name: own for name, own in seconds.items() if math.isfinite(own)}
        sizes = {name: int(read(name).size) for name in ("keys", "values", "targets") if os.path.exists(os.path.join(folder, f"{name}.npy"))}
        self.found.append(
            {
                "benchmark": what,
                "input": about["name"],
                "family": about["family"],
                "largest": largest,
                "size": next(iter(sizes.values()), 0) or int(numpy.prod(read("shape"))),
                "variants": {name: seconds[name] for name in about["variants"] if name in seconds},
                "libraries": {name: seconds[name] for name in peers if name in seconds},
            }
        )
        listed = "  ".join(f"{name} {own * 1e3:.3f}" for name, own in seconds.items())
        print(f"{what:10} {about['name']:28} {self.found[-1]['size']:9}  ms: {listed}", flush=True)

    def variant(self, what, name, few):
        """The seconds of a variant of ours; None where it has no result."""
        spent = self.served.ask("run", name, 1 if what == "spmv" else few)
        if spent["failed"] is not None:
            return None
        return spent["each"] if what == "spmv" else spent["once"] + spent["each"]

    def inputs(self, what):
        """Numbers and largest sizes of the inputs."""
        largest, families = LARGEST[what]
        turns = TURNS.get(what, 1)
        for turn in range(turns * len(SHARES)):
            for at in range(families):
                yield turn * families + at, int(largest * self.own.scale * SHARES[turn // turns])


def homes(found, variant):
    """The inputs on which a variant would be picked."""
    slower = lambda own: own["variants"][variant] / min(own["variants"].values())
    ran = sorted((own for own in found if variant in own["variants"]), key=slower)
    return [own for at, own in enumerate(ran) if slower(own) <= HOME or at < FEWEST]


def ratios(found):
    """For each variant and library: on how many home inputs both ran, the geometric mean, the least ratio and its input."""
    for what in dict.fromkeys(own["benchmark"] for own in found):
        here = [own for own in found if own["benchmark"] == what]
        for variant in dict.fromkeys(name for own in here for name in own["variants"]):
            home = homes(here, variant)
            for library in dict.fromkeys(name for own in home for name in own["libraries"]):
                # A solver is compared with the same method.
                if what == "solvers" and f" {variant.split('-')[0]}," not in library:
                    continue
                both = [(own["libraries"][library] / own["variants"][variant], own) for own in home if library in own["libraries"]]
                least, where = min(both, key=lambda own: own[0])
                yield {
                    "benchmark": what,
                    "variant": variant,
                    "library": library,
                    "inputs": len(both),
                    "geometric_mean": round(math.exp(statistics.fmean(math.log(ratio) for ratio, _ in both)), 3),
                    "least": round(least, 3),
                    "where": f"{where['input']} of {where['size']}",
                }


def main():
    """Prints a line for each input, and one for each variant and library."""
    parser = argparse.ArgumentParser()
    parser.add_argument("served")
    parser.add_argument("what", nargs="*", default=list(LARGEST))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--scale", type=float, default=1.0, help="of the largest sizes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mkl", help="libmkl_rt")
    parser.add_argument("--tbb", help="where oneTBB's include and lib are")
    parser.add_argument("--eigen", help="where Eigen's headers are")
    parser.add_argument("--gap", help="where the GAP benchmark suite is")
    parser.add_argument("--json", help="a file for the times")
    own = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.environ["OMP_NUM_THREADS"] = str(own.threads)
    random.seed(5)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(own, folder)
        report = {"machine": bench.served.ask("machine"), "threads": own.threads, "libraries": bench.libraries.names}
        for what in own.what:
            for index, largest in bench.inputs(what):
                bench.one(what, index, largest)
            report |= {"ratios": list(ratios(bench.found)), "inputs": bench.found}
            if own.json is not None:
                with open(own.json, "w", encoding="utf-8") as file:
                    json.dump(report, file, indent=1)
    for row in report["ratios"]:
        mean, least = row["geometric_mean"], row["least"]
        print(f"{row['benchmark']:10} {row['variant']:22} {row['library']:30} {mean:6.2f}  least {least:5.2f}  {row['inputs']:2} inputs; {row['where']}")


if __name__ == "__main__":
    main()
