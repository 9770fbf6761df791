#include "@HEADER@"

/* Choices are those of Tilewright, bit for bit: no product is contracted with a sum. Not for -ffast-math. */
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#define VARIANTS @VARIANT_COUNT@
#define FEATURES @FEATURE_COUNT@
/* With those of the machine that the model is for. */
#define ALL_FEATURES (FEATURES + @CONSTANT_COUNT@)

static const char *const variant_names[] = {@VARIANT_NAMES@};
static const double constants[] = {@CONSTANTS@};
static const char *const feature_names[] = {@FEATURE_NAMES@};

const char *@PREFIX@_variant_name(int variant)
{
    return variant >= 0 && variant < VARIANTS ? variant_names[variant] : 0;
}

const char *@PREFIX@_feature_name(int feature)
{
    return feature >= 0 && feature < FEATURES ? feature_names[feature] : 0;
}

/* Puts a variant behind all that have its score or a greater one. */
static int put(int count, int *order, double *scores, int variant, double score)
{
    int at = count;
    while (at > 0 && scores[at - 1] < score) {
        scores[at] = scores[at - 1];
        order[at] = order[at - 1];
        --at;
    }
    scores[at] = score;
    order[at] = variant;
    return count + 1;
}

@CLASSIFIER@
int @PREFIX@_rank(const double *features, int *order)
{
    double scores[VARIANTS];
    double all[ALL_FEATURES > 0 ? ALL_FEATURES : 1];
    int at;
    for (at = 0; at < FEATURES; ++at) {
        /* Neither infinite nor no number. */
        if (!(features[at] - features[at] == 0.0)) {
            return 0;
        }
        all[at] = features[at];
    }
    for (at = FEATURES; at < ALL_FEATURES; ++at) {
        all[at] = constants[at - FEATURES];
    }
    return rank(all, order, scores);
}

int @PREFIX@_choose(const double *features)
{
    int order[VARIANTS];
    return @PREFIX@_rank(features, order) > 0 ? order[0] : @PREFIX@_DEFAULT;
}

int @PREFIX@_choose_allowed(const double *features, int (*allowed)(int variant, void *data), void *data)
{
    int order[VARIANTS];
    int count = @PREFIX@_rank(features, order);
    int at;
    for (at = 0; at < count; ++at) {
        if (allowed(order[at], data)) {
            return order[at];
        }
    }
    return @PREFIX@_DEFAULT;
}
