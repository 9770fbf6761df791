/* Functions of the step keep arrays and numbers of their own from call to call. */
#include <stdio.h>
#define N 30
#define M 22
#define NEXT(i) next[i]
#define TWICE(next) (2 * (next))
typedef double real;
struct kept { real next; };
static struct kept kept = { 0.25 };
static real u[M][N], v[N], w[N];
void before_it_is_written(int more);

static void spread(void)
{
    static double next[M][N];
    for (int i = 1; i < M - 1; i++)
        for (int j = 1; j < N - 1; j++)
            next[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (int i = 1; i < M - 1; i++)
        for (int j = 1; j < N - 1; j++)
            u[i][j] = next[i][j];
}

/* One array for two calls, with a number that never changes. */
static void into(real *from, real *to)
{
    static double next[N];
    static const double half = 0.5;
    for (int i = 1; i < N - 1; i++)
        NEXT(i) = TWICE(0.125) * (from[i - 1] + 2 * from[i] + from[i + 1]);
    for (int i = 1; i < N - 1; i++)
        to[i] += half * NEXT(i) - 0.25 * to[i];
}

static void member(void)
{
    static real next[N];
    for (int i = 0; i < N; i++)
        next[i] = kept.next * v[i];
    for (int i = 0; i < N; i++)
        w[i] += next[i];
}

static void show(void)
{
    static int shown;
    shown++;
    for (int i = 0; i < N; i++)
        printf("%d %a %a\n", shown, v[i], w[i]);
}

int main(void)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            u[i][j] = (i * 7 + j * 3) % 11;
    for (int i = 0; i < N; i++) {
        v[i] = i % 7;
        w[i] = i % 5;
    }
    for (int t = 0; t < 19; t++)
        spread();
    for (int t = 0; t < 13; t++) {
        static int seen;
        static double before[N];
        for (int i = 1; i < N - 1; i++)
            before[i] = v[i - 1] - v[i + 1];
        for (int i = 1; i < N - 1; i++)
            v[i] += 0.125 * before[i];
        if (++seen % 6 == 0)
            printf("seen %d\n", seen);
    }
    for (int t = 0; t < 12; t++) {
        into(v, w);
        into(w, v);
    }
    member();
    for (int again = 0; again < 2; again++) {
        for (int t = 0; t < 11; t++)
            before_it_is_written(1);
        show();
    }
    before_it_is_written(0);
    show();
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            printf("%a\n", u[i][j]);
    return 0;
}

/* What a call leaves is what the next one finds, also behind the time loop. */
void before_it_is_written(int more)
{
    static double old[N] = { 1, 2 };
    static double tmp[N] = { [3] = 2, [N - 2] = 1 };
    for (int i = 2; i < N - 2; i++)
        tmp[i] = 1.5 * v[i] - 0.5 * old[i] + 0.1 * (v[i - 1] - 2 * v[i] + v[i + 1]) * more;
    for (int i = 0; i < N; i++)
        old[i] = v[i];
    for (int i = 1; i < N - 1; i++)
        v[i] = 0.5 * (tmp[i] + tmp[i + 1]);
}
