/* What the kernels of a nested data-parallel program share. */
#ifndef TW_NESTED_RUNTIME_H
#define TW_NESTED_RUNTIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

