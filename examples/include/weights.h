/* Weights of the stencil in prog.c. */
#define CENTRE 0.5
#define SIDE 0.125
