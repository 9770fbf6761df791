/* Forests of pairs of variants: where a feature is at most its value the first of two nodes follows, else the second. A leaf has the
   share of the pair's first variant, and leads to itself: so several trees are walked at once, each as many steps as the deepest of
   them takes, and none waits for another one. */
#define TOGETHER 8
#define CLASSES @CLASSES@
#define PAIRS @PAIRS@

static const int classes[] = {@CLASS_LIST@};
static const int pair_first[] = {@FIRST@};
static const int pair_second[] = {@SECOND@};
/* Trees of each pair; of each tree the first node, and how many steps lead to its deepest leaf. */
static const int pair_trees[] = {@TREES@};
static const int tree_root[] = {@ROOTS@};
static const int tree_steps[] = {@STEPS@};
static const int node_feature[] = {@FEATURE@};
static const double node_value[] = {@VALUE@};
static const int node_next[][2] = {@NEXT@};

static int rank(const double *features, int *order, double *scores)
{
    double sums[VARIANTS] = {0.0};
    int tree = 0, count = 0, pair, k, j;
    for (pair = 0; pair < PAIRS; ++pair) {
        double sum = 0.0, share;
        for (k = 0; k < pair_trees[pair]; k += TOGETHER) {
            int at[TOGETHER], steps = 0, own = pair_trees[pair] - k;
            own = own < TOGETHER ? own : TOGETHER;
            for (j = 0; j < own; ++j, ++tree) {
                at[j] = tree_root[tree];
                steps = tree_steps[tree] > steps ? tree_steps[tree] : steps;
            }
            for (; steps > 0; --steps) {
                for (j = 0; j < own; ++j) {
                    at[j] = node_next[at[j]][!(features[node_feature[at[j]]] <= node_value[at[j]])];
                }
            }
            for (j = 0; j < own; ++j) {
                sum += node_value[at[j]];
            }
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

