
/* Elsewhere nothing runs that uses vectors. */
#if !defined(TW_WIDE)
#define TW_WIDE 0
#define TW_HALVES 0
typedef double tw_f64x8;
typedef float tw_f32x8;
#define TW_ALL_F64(x) (x)
#define TW_ALL_F32(x) (x)
#define TW_GATHERED_F64(from, at) (from)[*(at)]
#define TW_GATHERED_F32(from, at) (from)[*(at)]
#define TW_INSIDE_F64(from, at, length, out) (from)[*(at)]
#define TW_LOADED_F64(at) (*(at))
#define TW_LOADED_F32(at) (*(at))
#define TW_STORE_F64(to, lanes) (*(to) = (lanes))
#define TW_STORE_F32(to, lanes) (*(to) = (lanes))
#endif
#if !TW_HALVES
#define TW_INSIDE_RUNS_F64(from, at, length, out) TW_INSIDE_F64(from, at, length, out)
#define TW_BEGINS_WITH_RUN(indices, from, to, all) ((void)(from), (void)(to), false)
#define TW_REST_F64(sum, lanes, count) ((void)(lanes), (void)(count), (sum))
#endif
#ifndef TW_APART
#define TW_APART 0
#define TW_INSIDE_APART_F64(from, at, length, out) TW_INSIDE_F64(from, at, length, out)
#endif
/* Rows are added up one by one, if not all lanes at once. */
#if !TW_WIDE || TW_HALVES
#define TW_FIRST(count) ((unsigned)(count))
#define TW_LOADED_PART_F64(at, in) TW_LOADED_F64(at)
#define TW_GATHERED_PART_F64(from, at, in) TW_GATHERED_F64(from, at)
#define TW_INSIDE_PART_F64(from, at, length, out, in) TW_INSIDE_F64(from, at, length, out)
#define TW_KEPT_F64(lanes, in) ((void)(in), (lanes))
#endif
#if !TW_HALVES
#define TW_SUM_F64(lanes) ((void)(lanes), 0.0)
#define TW_ADD_F64(a, b) ((a) + (b))
#define TW_SUB_F64(a, b) ((a) - (b))
#define TW_MUL_F64(a, b) ((a) * (b))
#define TW_DIV_F64(a, b) ((a) / (b))
#define TW_NEG_F64(a) (-(a))
#endif
#define TW_ADD_F32(a, b) ((a) + (b))
#define TW_SUB_F32(a, b) ((a) - (b))
#define TW_MUL_F32(a, b) ((a) * (b))
#define TW_DIV_F32(a, b) ((a) / (b))
#define TW_NEG_F32(a) (-(a))
