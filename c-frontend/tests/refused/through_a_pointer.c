typedef void (*kernel)(double *, const double *, int);
void run(kernel smooth, double *a, double *b, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        smooth(b, a, n);
        double *held = a;
        a = b;
        b = held;
    }
}
