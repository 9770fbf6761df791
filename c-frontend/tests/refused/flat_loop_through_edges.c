// The sweep goes through the first and the last column, too, whose neighbours lie in other rows.
static double u[40 * 50];

void relax(int columns, int rows, double omega)
{
    for (int t = 0; t < 20; t++)
        for (int k = columns + 1; k < columns * rows - columns - 1; k++)
            u[k] += omega * (0.25 * (u[k + columns] + u[k - columns] + u[k + 1] + u[k - 1]) - u[k]);
}

int main(void)
{
    relax(40, 50, 1.5);
    return 0;
}
