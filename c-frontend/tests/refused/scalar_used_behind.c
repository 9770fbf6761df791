/* What points leave in a scalar is wanted behind the loop: by its name, through a pointer, in the next call. */
#include <stdio.h>
double a[50], b[50];
void by_name(int steps)
{
    double left = 0;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 49; i++) {
            left = 0.5 * a[i - 1];
            b[i] = left + 0.5 * a[i + 1];
        }
        for (int i = 1; i < 49; i++) a[i] = b[i];
    }
    printf("%g\n", left);
}
void through_a_pointer(int steps)
{
    double left = 0, *seen = &left;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 49; i++) {
            left = 0.5 * a[i - 1];
            b[i] = left + 0.5 * a[i + 1];
        }
        for (int i = 1; i < 49; i++) a[i] = b[i];
    }
    printf("%g\n", *seen);
}
void in_the_next_call(int steps)
{
    static double left;
    printf("%g\n", left);
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 49; i++) {
            left = 0.5 * a[i - 1];
            b[i] = left + 0.5 * a[i + 1];
        }
        for (int i = 1; i < 49; i++) a[i] = b[i];
    }
}
double of_the_file;
void of_the_file_in_the_next_call(int steps)
{
    printf("%g\n", of_the_file);
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 49; i++) {
            of_the_file = 0.5 * a[i - 1];
            b[i] = of_the_file + 0.5 * a[i + 1];
        }
        for (int i = 1; i < 49; i++) a[i] = b[i];
    }
}
