/* Forests of pairs of variants: where a feature is at most its value the next node follows, else that of `above`; a leaf has
   -1 and the share of the pair's first variant. */
#define CLASSES @CLASSES@
#define PAIRS @PAIRS@

static const int classes[] = {@CLASS_LIST@};
static const int pair_first[] = {@FIRST@};
static const int pair_second[] = {@SECOND@};
/* Trees of each pair, and the first node of each tree. */
static const int pair_trees[] = {@TREES@};
static const int tree_root[] = {@ROOTS@};
static const int node_feature[] = {@FEATURE@};
static const double node_value[] = {@VALUE@};
/* Counted from the root. */
static const int node_above[] = {@ABOVE@};

static int rank(const double *features, int *order, double *scores)
{
    double sums[VARIANTS] = {0.0};
    int tree = 0, count = 0, pair, k;
    for (pair = 0; pair < PAIRS; ++pair) {
        double sum = 0.0, share;
        for (k = 0; k < pair_trees[pair]; ++k, ++tree) {
            int root = tree_root[tree], at = root;
            while (node_feature[at] >= 0) {
                at = features[node_feature[at]] <= node_value[at] ? at + 1 : root + node_above[at];
            }
            sum += node_value[at];
        }
        share = sum / (double)pair_trees[pair];
        sums[pair_first[pair]] += share;
        sums[pair_second[pair]] += 1.0 - share;
    }
    for (k = 0; k < CLASSES; ++k) {
        count = put(count, order, scores, classes[k], sums[classes[k]]);
    }
    return count;
}

