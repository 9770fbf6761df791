/* Tilewright: code variants chosen at run time.
 *
 * One function, several correct variants, and a learned model that picks one of them for the input at hand
 * (S. Muralidharan, "Abstractions and strategies for adaptive programming", University of Utah, 2016, chapter 2).
 *
 * Handles are freed by their maker. Texts are UTF-8. Functions that return int return 0 or more, or an error below 0, and
 * those that return a pointer return NULL for an error; twa_error() says it in words. Nothing here prints or ends the
 * process. A function that is built may be called by any number of threads at once, each with an argument of its own.
 *
 * Functions of yours that are called from here must return: no longjmp out of them, and no C++ exception
 * (tilewright_adaptive.hpp catches these and throws them again).
 */
#ifndef TILEWRIGHT_ADAPTIVE_H
#define TILEWRIGHT_ADAPTIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TWA_VERSION "0.1.0"

/* Arguments that make no sense; a file that cannot be used; a request that these data cannot serve; a mistake of this
 * library; a variant that returned a negative number. */
#define TWA_REQUEST (-1)
#define TWA_FILE (-2)
#define TWA_INFEASIBLE (-3)
#define TWA_INTERNAL (-4)
#define TWA_VARIANT (-5)

/* What a variant may return in place of 0: it cannot do this input; its result is wrong or did not converge. Whatever else is
 * above 0 is a failure of its own. A call returns it to its caller; in a tuning it is data. */
#define TWA_CANNOT 65
#define TWA_WRONG 67

/* The version of the library; TWA_VERSION is that of the header. */
const char *twa_version(void);
/* What went wrong in this thread last, and what to do. It stands until the next error. */
const char *twa_error(void);

/* ---- A context: what functions with variants share ---- */

typedef struct twa_context twa_context;

/* models: the folder of models, in which that of the function `sort` is sort.model.json; or NULL. TILEWRIGHT_VARIANT in the
 * environment forces variants: `radix`, or `sort=radix,sum=plain` for single functions. */
twa_context *twa_context_new(const char *models);
/* Functions that were made with it go on. */
void twa_context_free(twa_context *context);
/* Forces variants by this text in place of the environment's. */
int twa_context_force(const twa_context *context, const char *forced);
/* Has faults told, each once: a model that is missing or of another function, a feature that is no finite number. */
int twa_context_on_note(const twa_context *context,
                        void (*told)(const char *function, const char *text, void *user), void *user);
/* Has every decision told, by the thread that decides. reason: model, next-best, no-model, no-features, none-allowed, forced or
 * cached. */
int twa_context_on_decision(const twa_context *context,
                            void (*told)(const char *function, const char *variant, const char *reason,
                                         const double *features, size_t count, void *user),
                            void *user);

/* ---- A function with variants ---- */

typedef struct twa_function twa_function;

/* All functions of yours get the argument of the call and the pointer `user` that was given with them. */
typedef int (*twa_run)(void *argument, void *user);
typedef double (*twa_feature)(const void *argument, void *user);
typedef int (*twa_constraint)(const void *argument, void *user);
typedef uint64_t (*twa_shape)(const void *argument, void *user);

/* Contexts are looked at now: what is changed in one later changes nothing here. */
twa_function *twa_function_new(const twa_context *context, const char *name);
void twa_function_free(twa_function *function);
/* All variants do the same, each in its way. */
int twa_function_variant(const twa_function *function, const char *name, twa_run run, void *user);
/* A variant with parameters, up to 16. A tuning searches their values, and the model says them with the variant; without a model
 * it runs with those of `start`. levels: the values that a parameter can have, count of them; start: one of these. condition (or
 * NULL): an expression over the parameters that must hold, such as "block * unroll <= 256". run gets the values in the order of
 * the parameters. What is pointed at may go away after the call. */
typedef struct twa_parameter {
    const char *name;
    const double *levels;
    size_t count;
    double start;
} twa_parameter;
typedef int (*twa_run_with)(void *argument, const double *values, void *user);
int twa_function_tunable(const twa_function *function, const char *name, const twa_parameter *parameters, size_t count,
                         const char *condition, twa_run_with run, void *user);
/* The variant that is right for every input; the first one where none is named. */
int twa_function_default(const twa_function *function, const char *variant);
/* A number that says something of the input. Those that the model does not need are not evaluated. */
int twa_function_feature(const twa_function *function, const char *name, twa_feature feature, void *user);
/* Where it returns 0 the variant is not run: the next best that is allowed is, finally the default. */
int twa_function_constraint(const twa_function *function, const char *variant, twa_constraint holds, void *user);
/* Keeps 256 decisions by a number that stands for the shape of the input, on which alone all features depend. */
int twa_function_cached_by(const twa_function *function, twa_shape shape, void *user);
/* Evaluates features, constraints or both on several threads. */
int twa_function_parallel(const twa_function *function, int features, int constraints);
/* Reads the model, and ends the list of variants. A model that is missing or does not fit means the default (on_note). */
int twa_function_build(const twa_function *function);

/* Chooses a variant and runs it; returns what it returned. */
int twa_function_call(const twa_function *function, void *argument);
/* The number of the variant that would run; *reason, where reason is not NULL, becomes why. */
int twa_function_choose(const twa_function *function, const void *argument, const char **reason);
/* Runs a variant, whatever a model or a constraint says. */
int twa_function_run(const twa_function *function, int variant, void *argument);
/* The name of a variant, numbered from 0 as added; NULL where there is none. It stands as long as the function. */
const char *twa_function_variant_name(const twa_function *function, int variant);

/* Begins to evaluate the features on other threads, and returns at once; twa_fixed_call waits for them, chooses, runs and
 * frees. Until then the argument may not change. twa_fixed_free waits and frees without a call. */
typedef struct twa_fixed twa_fixed;
twa_fixed *twa_function_fix_inputs(const twa_function *function, void *argument);
int twa_fixed_call(twa_fixed *fixed);
void twa_fixed_free(twa_fixed *fixed);

/* ---- Tuning: measures variants on your inputs, and writes a model that functions built from then on use ---- */

typedef struct twa_tuning twa_tuning;

typedef struct twa_tuned {
    size_t labelled;        /* inputs for training on which all variants were measured */
    size_t measured;        /* runs of variants that were measured, and not found in the file of trials */
    int cut_short;          /* whether time was over before all inputs were labelled */
    double cross_validated; /* mean performance in cross-validation, 1 for exhaustive search; NaN where there was none */
    size_t tested;          /* inputs of the test that some variant solves */
    double performance;     /* mean performance on them; NaN without any */
    double best_single;     /* that of the variant that alone is the best; NaN without any */
} twa_tuned;

/* The function must be built; it may be freed before the tuning. */
twa_tuning *twa_tuning_new(const twa_function *function);
void twa_tuning_free(twa_tuning *tuning);
/* An input. make makes its argument anew for each use, since variants may change it (NULL: it could not, and no variant does this
 * input); dispose (or NULL) gives it back. family (or NULL) says what it is one of. Where test is not 0 it is not trained on. No two inputs have the same name. */
int twa_tuning_input(const twa_tuning *tuning, const char *name, const char *family, int test,
                     void *(*make)(void *user), void (*dispose)(void *argument, void *user), void *user);
/* Looks at the argument after each run; whatever is not 0 says that the result is wrong. */
int twa_tuning_check(const twa_tuning *tuning, int (*check)(const void *argument, void *user), void *user);
/* Options: classifier (svm, tree, forest, auto), metric (an expression over metrics; seconds), maximize (0, 1), repeat (3),
 * limit (seconds of a run), time-limit (seconds of all), trials (a file that keeps what was measured: what was killed goes on
 * there), source (a version: trials of another one are measured again), seed, folds (5), select-features (0, 1), calls (that one
 * evaluation of the features serves), iter and acc (incremental tuning: so many labels, or this performance on the test). For
 * parameters: levels (restricted: the variant is searched that is the best where searches begin; multilevel: all are), classes
 * (expressions over features with `;` between them: inputs for which they are the same share one search), method (a searcher of
 * `tilewright search`; greedy-restart), budget (runs of one search; 20), keep (instances beside the default; 8). */
int twa_tuning_set(const twa_tuning *tuning, const char *option, const char *value);
/* Measures, trains and writes. file: the model's file, or NULL for the one in the folder of the function's context. tuned may be
 * NULL. */
int twa_tuning_run(const twa_tuning *tuning, const char *file, twa_tuned *tuned);
/* A variant tells a metric of its own (joules, error, iterations). Outside of a tuning it costs nothing and does nothing. */
void twa_report(const char *metric, double value);

#ifdef __cplusplus
}
#endif
#endif
