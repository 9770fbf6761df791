double a[80], b[80];
static void step(void)
{
    static int calls = 0;
    double by = calls % 2 ? 0.25 : 0.5;
    calls++;
    for (int i = 1; i < 79; i++)
        b[i] = by * (a[i - 1] + a[i + 1]);
    for (int i = 1; i < 79; i++)
        a[i] = b[i];
}
void run(void)
{
    for (int n = 0; n < 100; n++)
        step();
}
