"""A potential by Gauss and Seidel

What reads `u[t+1, i-1, j]` on the right reads what the *same* sweep has computed before: an update in place, row after row. Half
the sweeps of Jacobi's method bring it as far. Tilewright finds the order that this needs, and tiles it by wavefronts of
parallelograms (strategy `time-skewing`).
"""

import numpy as np
import picture
import tilewright

gauss_seidel = tilewright.stencil(text="""
// The potential between conductors: `hold` is 1 where a conductor keeps its voltage.
stencil gauss_seidel(t, i, j) {
    field u: f64;
    coefficient hold: f64;
    let mean = 0.25 * (u[t+1, i-1, j] + u[t+1, i, j-1] + u[t, i+1, j] + u[t, i, j+1]);
    u[t+1, i, j] = hold[i, j] > 0 ? u[t, i, j] : mean;
}
""")


@tilewright.stencil
def jacobi(t, i, j, u: tilewright.f64, hold):
    mean = 0.25 * (u[t, i-1, j] + u[t, i, j-1] + u[t, i+1, j] + u[t, i, j+1])
    u[t+1, i, j] = u[t, i, j] if hold[i, j] > 0 else mean


u, hold = np.zeros((120, 160)), np.zeros((120, 160))
for rows, columns, voltage in [((30, 90), (50, 54), 1.0), ((30, 90), (106, 110), -1.0)]:
    u[slice(*rows), slice(*columns)] = voltage
    hold[slice(*rows), slice(*columns)] = 1


def residual(u):
    mean = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return float(abs((mean - u[1:-1, 1:-1]) * (hold[1:-1, 1:-1] == 0)).max())


ours, other = gauss_seidel.run(u, hold, steps=500), jacobi.run(u, hold, steps=500)
print(f"residual after 500 sweeps: Gauss-Seidel {residual(ours):.1e}, Jacobi {residual(other):.1e}")
assert residual(ours) < residual(other)
picture.save("potential", ours, low=-1, high=1, colours="both", scale=3)
