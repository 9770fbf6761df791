struct image { int width; double *points; };
static void blurred(struct image *to, const struct image *from)
{
    for (int i = 1; i < from->width - 1; i++)
        to->points[i] = (from->points[i - 1] + from->points[i + 1]) / 2;
}
void run(struct image *a, struct image *b, int steps)
{
    for (int t = 0; t < steps; t++) {
        blurred(b, a);
        struct image *held = a;
        a = b;
        b = held;
    }
}
