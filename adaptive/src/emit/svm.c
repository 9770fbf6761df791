/* Support vectors with a radial basis function; a vote of all pairs of classes, as in LIBSVM. */
#define CLASSES @CLASSES@
#define PAIRS (CLASSES * (CLASSES - 1) / 2)

static const double gamma_ = @GAMMA@;
static const double ranges[][2] = {@RANGES@};
static const int classes[] = {@CLASS_LIST@};
static const int counts[] = {@COUNTS@};
static const double vectors[][ALL_FEATURES > 0 ? ALL_FEATURES : 1] = {
@VECTORS@
};
static const double coefficients[][CLASSES > 1 ? CLASSES - 1 : 1] = {
@COEFFICIENTS@
};
static const double rho[] = {@RHO@};

/* e^x for x <= 0. */
static double own_exp(double x)
{
    static const double even[] = {@EVEN@};
    static const double odd[] = {@ODD@};
    union { double number; unsigned long long bits; } shifted, power;
    double n, r, square, a = 0.0, b = 0.0;
    int k;
    if (x >= 0.0) {
        return 1.0;
    }
    if (x != x || x < @LEAST@) {
        return 0.0;
    }
    shifted.number = x * @LOG2_E@ + @ROUNDER@;
    n = shifted.number - @ROUNDER@;
    r = (x - n * @LN2_HIGH@) - n * @LN2_LOW@;
    square = r * r;
    for (k = 6; k >= 0; --k) {
        a = a * square + even[k];
        b = b * square + odd[k];
    }
    power.bits = (shifted.bits + 1023u) << 52;
    return (a + r * b) * power.number;
}

static int pair_of(int first, int second)
{
    return first * (2 * CLASSES - first - 1) / 2 + second - first - 1;
}

static int rank(const double *features, int *order, double *scores)
{
    double point[ALL_FEATURES > 0 ? ALL_FEATURES : 1];
    double decisions[PAIRS > 0 ? PAIRS : 1] = {0.0};
    int votes[CLASSES] = {0};
    int from = 0, count = 0, class_, other, at, k, pair;
    for (k = 0; k < ALL_FEATURES; ++k) {
        double low = ranges[k][0], high = ranges[k][1];
        point[k] = high > low ? 2.0 * ((features[k] - low) / (high - low)) - 1.0 : 0.0;
    }
    for (class_ = 0; class_ < CLASSES; ++class_) {
        for (at = from; at < from + counts[class_]; ++at) {
            double distance = 0.0, kernel;
            for (k = 0; k < ALL_FEATURES; ++k) {
                double difference = vectors[at][k] - point[k];
                distance += difference * difference;
            }
            kernel = own_exp(-gamma_ * distance);
            k = 0;
            for (other = 0; other < CLASSES; ++other) {
                if (other != class_) {
                    pair = class_ < other ? pair_of(class_, other) : pair_of(other, class_);
                    decisions[pair] += coefficients[at][k] * kernel;
                    ++k;
                }
            }
        }
        from += counts[class_];
    }
    pair = 0;
    for (class_ = 0; class_ < CLASSES; ++class_) {
        for (other = class_ + 1; other < CLASSES; ++other, ++pair) {
            ++votes[decisions[pair] - rho[pair] > 0.0 ? class_ : other];
        }
    }
    for (class_ = 0; class_ < CLASSES; ++class_) {
        count = put(count, order, scores, classes[class_], votes[class_]);
    }
    return count;
}

