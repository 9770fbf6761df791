/* Every way to call the library wrongly is an error with words, and nothing else happens. */
#include <tilewright_adaptive.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int runs, disposed, notes;

static int good(void *argument, void *user)
{
    (void)user;
    ++runs;
    if (argument) *(int *)argument += 1;
    twa_report("joules", 2.5);
    return 0;
}
static int negative(void *argument, void *user) { return (void)argument, (void)user, -7; }
static int own_code(void *argument, void *user) { return (void)argument, (void)user, 9; }
static double feature(const void *argument, void *user) { return (void)user, argument ? *(const int *)argument : 0; }
static double no_number(const void *argument, void *user) { return (void)argument, (void)user, NAN; }
static int never(const void *argument, void *user) { return (void)argument, (void)user, 0; }
static int blocked(void *argument, const double *values, void *user)
{
    (void)user;
    twa_report("steps", fabs(*(int *)argument - values[0]) + values[1]);
    *(int *)argument = (int)values[0];
    return 0;
}
static void *copy(void *user)
{
    int *own = malloc(sizeof *own);
    if (own) *own = *(int *)user;
    return own;
}
static void give_back(void *argument, void *user) { (void)user, free(argument); }
static void *nothing(void *user) { return (void)user, NULL; }
static void *same(void *user) { return user; }
static void count(void *argument, void *user) { (void)argument, (void)user, ++disposed; }
static void told(const char *function, const char *text, void *user)
{
    (void)function, (void)user;
    if (*text) ++notes;
}

#define EXPECT(what) do { if (!(what)) { printf("line %d: %s (%s)\n", __LINE__, #what, twa_error()); return 1; } } while (0)
#define REFUSED(code, words) EXPECT((code) < 0 && strstr(twa_error(), words))

int main(int argc, char **argv)
{
    int number = 3;
    const char *why = NULL;
    twa_context *context;
    twa_function *f;
    twa_fixed *fixed;
    twa_tuning *tuning;
    twa_tuned tuned;

    EXPECT(argc == 2 && *twa_error() == 0 && strcmp(twa_version(), TWA_VERSION) == 0);
    EXPECT(!twa_context_new("\xff\xfe") && strstr(twa_error(), "UTF-8"));
    EXPECT((context = twa_context_new(argv[1])) != NULL);
    EXPECT(twa_context_on_note(context, told, NULL) == 0);
    EXPECT(!twa_function_new(NULL, "f") && strstr(twa_error(), "NULL"));
    EXPECT(!twa_function_new(context, NULL) && strstr(twa_error(), "name"));

    EXPECT((f = twa_function_new(context, "f")) != NULL);
    REFUSED(twa_function_call(f, &number), "not built");
    REFUSED(twa_function_build(f), "variant");
    REFUSED(twa_function_variant(f, "a", good, NULL), "built");
    REFUSED(twa_function_call(f, &number), "not built");
    twa_function_free(f);

    EXPECT((f = twa_function_new(context, "f")) != NULL);
    EXPECT(twa_function_variant(f, "good", good, NULL) == 0);
    EXPECT(twa_function_variant(f, "negative", negative, NULL) == 0);
    EXPECT(twa_function_variant(f, "own code", own_code, NULL) == 0);
    EXPECT(twa_function_feature(f, "n", feature, NULL) == 0);
    EXPECT(twa_function_constraint(f, "negative", never, NULL) == 0);
    EXPECT(twa_function_parallel(f, 1, 1) == 0);
    EXPECT(twa_function_build(f) == 0 && twa_function_build(f) == 0);
    EXPECT(notes == 1); /* There is no model. */
    EXPECT(twa_function_call(f, &number) == 0 && number == 4);
    EXPECT(twa_function_choose(f, &number, &why) == 0 && strcmp(why, "no-model") == 0);
    REFUSED(twa_function_run(f, 1, &number), "returned -7");
    EXPECT(twa_function_run(f, 1, &number) == TWA_VARIANT);
    EXPECT(twa_function_run(f, 2, &number) == 9);
    REFUSED(twa_function_run(f, 3, &number), "no variant 3");
    REFUSED(twa_function_run(f, -1, &number), "no variant -1");
    EXPECT(!twa_function_variant_name(f, 3) && strcmp(twa_function_variant_name(f, 2), "own code") == 0);
    REFUSED(twa_function_call(NULL, &number), "NULL");
    EXPECT((fixed = twa_function_fix_inputs(f, &number)) != NULL && twa_fixed_call(fixed) == 0 && number == 5);
    EXPECT((fixed = twa_function_fix_inputs(f, &number)) != NULL);
    twa_fixed_free(fixed);
    REFUSED(twa_fixed_call(NULL), "NULL");
    twa_report("nothing listens", 1);
    twa_report(NULL, 1);

    EXPECT((tuning = twa_tuning_new(f)) != NULL);
    twa_function_free(f);
    twa_context_free(context);
    REFUSED(twa_tuning_run(tuning, NULL, &tuned), "no input");
    REFUSED(twa_tuning_set(tuning, "clasifier", "tree"), "`classifier`");
    REFUSED(twa_tuning_set(tuning, "classifier", "magic"), "magic");
    REFUSED(twa_tuning_set(tuning, "repeat", "-1"), "whole number");
    REFUSED(twa_tuning_set(tuning, "calls", "nan"), "number");
    REFUSED(twa_tuning_set(tuning, "limit", "1e300"), "seconds");
    EXPECT(twa_tuning_set(tuning, "classifier", "tree") == 0 && twa_tuning_set(tuning, "metric", "joules") == 0);
    EXPECT(twa_tuning_input(tuning, "none", NULL, 0, nothing, count, NULL) == 0);
    REFUSED(twa_tuning_run(tuning, NULL, &tuned), "no input");
    EXPECT(disposed == 0);
    EXPECT(twa_tuning_input(tuning, "some", "family", 0, same, count, &number) == 0);
    EXPECT(twa_tuning_run(tuning, NULL, &tuned) == 0);
    EXPECT(disposed > 0 && tuned.labelled == 2 && tuned.tested == 0 && isnan(tuned.performance));
    EXPECT(twa_tuning_input(tuning, "some", NULL, 0, same, count, &number) == 0);
    REFUSED(twa_tuning_run(tuning, NULL, &tuned), "two inputs");
    twa_tuning_free(tuning);

    /* The model is used, and a feature without a value means the default. */
    EXPECT((context = twa_context_new(argv[1])) != NULL && (f = twa_function_new(context, "f")) != NULL);
    EXPECT(twa_function_variant(f, "good", good, NULL) == 0 && twa_function_variant(f, "negative", negative, NULL) == 0);
    EXPECT(twa_function_variant(f, "own code", own_code, NULL) == 0 && twa_function_default(f, "own code") == 0);
    EXPECT(twa_function_feature(f, "n", no_number, NULL) == 0 && twa_function_build(f) == 0);
    EXPECT(twa_function_choose(f, &number, &why) == 2 && strcmp(why, "no-features") == 0);
    twa_function_free(f);
    EXPECT(twa_context_force(context, "f=good") == 0 && (f = twa_function_new(context, "f")) != NULL);
    EXPECT(twa_function_variant(f, "own code", own_code, NULL) == 0 && twa_function_variant(f, "good", good, NULL) == 0);
    EXPECT(twa_function_build(f) == 0 && twa_function_choose(f, &number, &why) == 1 && strcmp(why, "forced") == 0);
    twa_function_free(f);
    twa_function_free(NULL);
    twa_context_free(context);

    /* Parameters: wrong ones leave the function as it was; a tuning finds values, and calls get them. */
    {
        static const double blocks[] = {4, 8, 16, 32}, unrolls[] = {0.5, 1, 2};
        static int inputs[] = {4, 8, 16, 32};
        static const char *names[] = {"4", "8", "16", "32"};
        twa_parameter parameters[] = {{"block", blocks, 4, 16}, {"unroll", unrolls, 3, 2}};
        int i;

        EXPECT((context = twa_context_new(argv[1])) != NULL && (f = twa_function_new(context, "g")) != NULL);
        REFUSED(twa_function_tunable(f, "blocked", NULL, 2, NULL, blocked, NULL), "parameters");
        REFUSED(twa_function_tunable(f, "blocked", parameters, 17, NULL, blocked, NULL), "parameters");
        REFUSED(twa_function_tunable(f, "blocked", parameters, 2, "block > c", blocked, NULL), "c");
        REFUSED(twa_function_tunable(f, "blocked", parameters, 2, "block < 16", blocked, NULL), "condition");
        parameters[0].start = 5;
        REFUSED(twa_function_tunable(f, "blocked", parameters, 2, NULL, blocked, NULL), "block");
        parameters[0].start = NAN;
        REFUSED(twa_function_tunable(f, "blocked", parameters, 2, NULL, blocked, NULL), "block");
        parameters[0].start = 16;
        parameters[1].count = 0;
        REFUSED(twa_function_tunable(f, "blocked", parameters, 2, NULL, blocked, NULL), "levels");
        parameters[1].count = 3;
        for (i = 0; i < 2; ++i) {
            EXPECT(twa_function_tunable(f, "blocked", parameters, 2, "block * unroll >= 4", blocked, NULL) == 0);
            EXPECT(twa_function_feature(f, "n", feature, NULL) == 0 && twa_function_build(f) == 0);
            if (i == 1) break;
            number = 9;
            EXPECT(twa_function_call(f, &number) == 0 && number == 16);
            EXPECT((tuning = twa_tuning_new(f)) != NULL);
            REFUSED(twa_tuning_set(tuning, "levels", "both"), "multilevel");
            EXPECT(twa_tuning_set(tuning, "classifier", "tree") == 0 && twa_tuning_set(tuning, "metric", "steps + 1") == 0);
            EXPECT(twa_tuning_set(tuning, "classes", "n; n + 1") == 0 && twa_tuning_set(tuning, "budget", "12") == 0);
            for (number = 0; number < 4; ++number)
                EXPECT(twa_tuning_input(tuning, names[number], NULL, 0, copy, give_back, &inputs[number]) == 0);
            EXPECT(twa_tuning_run(tuning, NULL, &tuned) == 0 && tuned.labelled == 4);
            twa_tuning_free(tuning);
            twa_function_free(f);
            EXPECT((f = twa_function_new(context, "g")) != NULL);
        }
        /* The values are those that the name of the chosen instance says, of which there are several. */
        number = 32;
        EXPECT((i = twa_function_choose(f, &number, &why)) >= 0 && strcmp(why, "model") == 0);
        EXPECT(sscanf(twa_function_variant_name(f, i), "blocked{block=%d, unroll=", &i) == 1);
        EXPECT(twa_function_call(f, &number) == 0 && number == i && twa_function_variant_name(f, 1) != NULL);
        twa_function_free(f);
        twa_context_free(context);
    }
    return 0;
}
