/* A header of the user's that a compiler would take for one of the system's. */
#pragma GCC system_header
#include <math.h>
#define INHERITED (M_SQRT2 * inherited)
static const double inherited = M_LN2 * 2;
