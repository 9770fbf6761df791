/* A tree: a feature that is at most its threshold goes on at `below`, else at `above`; a leaf has -1 and its variants. */
static const int node_feature[] = {@FEATURE@};
static const double node_at_most[] = {@AT_MOST@};
static const int node_below[] = {@BELOW@};
static const int node_above[] = {@ABOVE@};
/* Of leaves: where their variants begin and end. */
static const int leaf_from[] = {@FROM@};
static const int leaf_to[] = {@TO@};
static const int leaf_variant[] = {@LEAF_VARIANTS@};
static const double leaf_share[] = {@SHARES@};

static int rank(const double *features, int *order, double *scores)
{
    int at = 0, count = 0, k;
    while (node_feature[at] >= 0) {
        at = features[node_feature[at]] <= node_at_most[at] ? node_below[at] : node_above[at];
    }
    for (k = leaf_from[at]; k < leaf_to[at]; ++k) {
        count = put(count, order, scores, leaf_variant[k], leaf_share[k]);
    }
    return count;
}

