double a[80], b[80];
void relax(double k)
{
    for (int n = 0; n < 100; n++) {
        if (n == 50) k *= 0.5;
        for (int i = 1; i < 79; i++)
            b[i] = a[i] + k * (a[i - 1] - 2 * a[i] + a[i + 1]);
        for (int i = 1; i < 79; i++)
            a[i] = b[i];
    }
}
