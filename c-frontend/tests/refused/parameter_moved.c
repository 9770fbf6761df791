double u[200], v[200];
static void step(double *to, const double *from, int n)
{
    for (to++; n > 2; n--)
        *to++ = *from++;
}
int main(void)
{
    for (int t = 0; t < 9; t++) {
        step(v, u, 200);
        for (int i = 0; i < 200; i++)
            u[i] = v[i];
    }
    return u[7] > 0;
}
