struct field { double **data; int ghosts; };
static inline double get(struct field *f, int i, int j)
{
    return f->data[i + f->ghosts][j + f->ghosts];
}
static inline void set(struct field *f, int i, int j, double value)
{
    f->data[i + f->ghosts][j + f->ghosts] = value;
}
