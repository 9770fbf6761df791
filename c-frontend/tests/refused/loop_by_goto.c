double a[100], b[100];

void run(int steps)
{
    int t = 0;
again:
    for (int i = 1; i < 99; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < 99; i++) a[i] = b[i];
    if (++t < steps) goto again;
}
