#ifndef @GUARD@
#define @GUARD@

#ifdef __cplusplus
extern "C" {
#endif

/* Variants. */
enum {
@VARIANTS@
};

/* Features, in the order in which their values are given. */
enum {
@FEATURES@
};

/* The variant that is right for every input. */
#define @PREFIX@_DEFAULT @DEFAULT@

/* Names as they were in training; a null pointer for what is none. */
const char *@PREFIX@_variant_name(int variant);
const char *@PREFIX@_feature_name(int feature);

/* The best variant for these features; the default where a value is not finite. */
int @PREFIX@_choose(const double *features);

/* The best variant that is allowed, finally the default; `allowed` says of a variant whether it may be run. */
int @PREFIX@_choose_allowed(const double *features, int (*allowed)(int variant, void *data), void *data);

/* Writes the variants that the model knows to `order`, the best first, and returns their number: none where a value is not
   finite. `order` has room for all variants. */
int @PREFIX@_rank(const double *features, int *order);

#ifdef __cplusplus
}
#endif

#endif
