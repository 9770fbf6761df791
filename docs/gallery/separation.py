"""Oil and water on a torus

Cahn and Hilliard's equation: two fluids that were mixed separate, and drops grow at the cost of smaller ones. With `boundary periodic` the
left edge is the right one's neighbour and the upper edge the lower one's: nothing flows out, and no place is special.
"""

import numpy as np
import picture
import tilewright

separation = tilewright.stencil(text="""
// J. W. Cahn and J. E. Hilliard, Journal of Chemical Physics 28 (1958).
stencil separation(t, i, j) {
    field u: f64;
    field energy: f64;
    param width = 0.5;
    param dt = 0.02;
    boundary periodic;
    energy[t+1, i, j] = u[t, i, j] * u[t, i, j] * u[t, i, j] - u[t, i, j]
        - width * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j]);
    u[t+1, i, j] = u[t, i, j] + dt * (energy[t+1, i-1, j] + energy[t+1, i+1, j]
        + energy[t+1, i, j-1] + energy[t+1, i, j+1] - 4 * energy[t+1, i, j]);
}
""")

start = np.random.default_rng(7).normal(-0.2, 0.05, (120, 180))
mixed = separation.run(start, np.zeros_like(start), steps=10_000)

# As much of each fluid as before; and a torus has no first row.
assert abs(mixed.u.mean() - start.mean()) < 1e-12
moved = np.roll(start, (40, 70), (0, 1))
again = separation.run(moved, np.zeros_like(start), steps=200)
assert np.array_equal(again.u, np.roll(separation.run(start, np.zeros_like(start), steps=200).u, (40, 70), (0, 1)))
picture.save("separation", mixed.u, low=-1.1, high=1.1, colours="sea", scale=3)
