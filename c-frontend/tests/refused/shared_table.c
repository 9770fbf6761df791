void setup(void);
int left[2] = { -1, 1 };
static double u[2][90];
int main(void)
{
    setup();
    for (int t = 0; t < 9; t++)
        for (int i = 1; i < 89; i++)
            u[(t + 1) % 2][i] = u[t % 2][i + left[0]] + u[t % 2][i + left[1]];
    return u[1][7] > 0;
}
