// Elements are vectors of four numbers: an attribute makes another type of `double`.
typedef double four __attribute__((vector_size(32)));
static four a[40], b[40];

int main(void)
{
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < 39; i++) b[i] = a[i - 1] + a[i + 1];
        for (int i = 1; i < 39; i++) a[i] = b[i];
    }
    return 0;
}
