enum { N = 300 };
double u[N], v[N];

void run(int steps, int both)
{
    double left, right = 0;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++) {
            left = u[i - 1];
            if (both == 1) right = u[i + 1];
            v[i] = 0.5 * (left + right);
        }
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
}
