void run(int n, double a[n], double b[n])
{
    int k = 0;
    while (1 < 2) {
        k++;
        if (a[0] > 1.00) {
            for (int i = 1; i < n - 1; i++) b[i] = 0.5 * (a[i - 1] + a[i + 1]);
            for (int i = 1; i < n - 1; i++) a[i] = b[i];
        }
        if (k == 100) break;
    }
}
