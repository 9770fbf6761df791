double u[90], v[90];
void run(int n)
{
    for (int t = 0; t < 100; t++) {
        for (int i = 0; i < n; i++) {
            int left;
            if (i == 0)
                left = n - 2;
            else
                left = i - 1;
            v[i] = u[left] + u[i];
        }
        for (int i = 0; i < n; i++)
            u[i] = v[i];
    }
}
