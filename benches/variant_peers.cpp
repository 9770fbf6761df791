// What variant_peers.py compares with, beside Python's libraries. Each part is compiled by itself, where its library is found:
// oneTBB (TW_TBB), Eigen (TW_EIGEN), the GAP benchmark suite's search (TW_GAP).
#include <cstdint>

#if defined(TW_TBB)
#include <algorithm>
#include <execution>
#include <tbb/global_control.h>
#include <tbb/parallel_sort.h>

template <class Key> static void sorted(Key *keys, int64_t n, int way)
{
    if (way == 0) std::sort(std::execution::par_unseq, keys, keys + n);
    if (way == 1) tbb::parallel_sort(keys, keys + n);
    if (way == 2) std::stable_sort(std::execution::par, keys, keys + n);
}

extern "C" {
static tbb::global_control *control;
void peers_threads(int count)
{
    control = new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
}
void peers_sort_f32(float *keys, int64_t n, int way) { sorted(keys, n, way); }
void peers_sort_f64(double *keys, int64_t n, int way) { sorted(keys, n, way); }
}
#endif

#if defined(TW_EIGEN)
#include <Eigen/Sparse>

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct System {
    Matrix a;
    Eigen::VectorXd b, x;
};

// Steps, or -1 where it did not converge.
template <class Solver> static int64_t solved(System &own, double tolerance, int64_t most)
{
    Solver solver;
    solver.setTolerance(tolerance);
    solver.setMaxIterations(most);
    solver.compute(own.a);
    if (solver.info() != Eigen::Success) return -1;
    own.x = solver.solve(own.b);
    return solver.info() == Eigen::Success && own.x.allFinite() ? solver.iterations() : -1;
}

extern "C" {
void *peers_system(int64_t n, int *offsets, int *places, double *values, double *right)
{
    System *own = new System;
    own->a = Eigen::Map<const Matrix>(n, n, offsets[n], offsets, places, values);
    own->b = Eigen::Map<Eigen::VectorXd>(right, n);
    own->x = Eigen::VectorXd::Zero(n);
    return own;
}
void peers_forget(void *system) { delete static_cast<System *>(system); }
double *peers_unknowns(void *system) { return static_cast<System *>(system)->x.data(); }
int64_t peers_solve(void *system, int way, double tolerance, int64_t most)
{
    System &own = *static_cast<System *>(system);
    constexpr int both = Eigen::Lower | Eigen::Upper;
    switch (way) {
    case 0: return solved<Eigen::ConjugateGradient<Matrix, both>>(own, tolerance, most);
    case 1: return solved<Eigen::ConjugateGradient<Matrix, both, Eigen::IncompleteCholesky<double>>>(own, tolerance, most);
    case 2: return solved<Eigen::BiCGSTAB<Matrix>>(own, tolerance, most);
    default: return solved<Eigen::BiCGSTAB<Matrix, Eigen::IncompleteLUT<double>>>(own, tolerance, most);
    }
}
}
#endif

#if defined(TW_GAP)
#define main search_of_a_file
#include "bfs.cc"
#undef main

extern "C" {
// Takes a graph whose edges lead both ways; it belongs to the caller.
void *peers_graph(int64_t vertices, int64_t edges, const int64_t *offsets, const int32_t *targets)
{
    NodeID *ends = new NodeID[edges];
    NodeID **index = new NodeID *[vertices + 1];
    for (int64_t at = 0; at < edges; ++at) ends[at] = targets[at];
    for (int64_t at = 0; at <= vertices; ++at) index[at] = ends + offsets[at];
    return new Graph(vertices, index, ends);
}
void peers_forget_graph(void *graph) { delete static_cast<Graph *>(graph); }
// Vertices that were reached.
int64_t peers_search(void *graph, int32_t source)
{
    pvector<NodeID> parent = DOBFS(*static_cast<Graph *>(graph), source);
    int64_t reached = 0;
    for (NodeID own : parent) reached += own >= 0;
    return reached;
}
}
#endif
