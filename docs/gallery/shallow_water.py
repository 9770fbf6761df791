"""Shallow water: a dam breaks

Height and flow of water over an even ground, by the scheme of Lax and Friedrichs: three fields that all read each other. The
functions of the language (`sqrt`, `min`, ..) are at hand; a division is one, too. Pillars stand in the water: a coefficient
is 0 where nothing flows.
"""

import numpy as np
import picture
import tilewright

GRAVITY = 9.81


@tilewright.stencil
def shallow_water(t, i, j, h: tilewright.f64, p, q, open, r=0.02):
    """Conservation of mass and momentum; p and q are height times speed along i and j, r is dt / (2 dx)."""
    h[t+1, i, j] = 0.25 * (h[t, i-1, j] + h[t, i+1, j] + h[t, i, j-1] + h[t, i, j+1]) - r * (
        p[t, i+1, j] - p[t, i-1, j] + q[t, i, j+1] - q[t, i, j-1]
    )
    p[t+1, i, j] = open[i, j] * (
        0.25 * (p[t, i-1, j] + p[t, i+1, j] + p[t, i, j-1] + p[t, i, j+1])
        - r * (p[t, i+1, j] * p[t, i+1, j] / h[t, i+1, j] + 0.5 * GRAVITY * h[t, i+1, j] * h[t, i+1, j]
               - p[t, i-1, j] * p[t, i-1, j] / h[t, i-1, j] - 0.5 * GRAVITY * h[t, i-1, j] * h[t, i-1, j]
               + p[t, i, j+1] * q[t, i, j+1] / h[t, i, j+1] - p[t, i, j-1] * q[t, i, j-1] / h[t, i, j-1])
    )
    q[t+1, i, j] = open[i, j] * (
        0.25 * (q[t, i-1, j] + q[t, i+1, j] + q[t, i, j-1] + q[t, i, j+1])
        - r * (q[t, i, j+1] * q[t, i, j+1] / h[t, i, j+1] + 0.5 * GRAVITY * h[t, i, j+1] * h[t, i, j+1]
               - q[t, i, j-1] * q[t, i, j-1] / h[t, i, j-1] - 0.5 * GRAVITY * h[t, i, j-1] * h[t, i, j-1]
               + p[t, i+1, j] * q[t, i+1, j] / h[t, i+1, j] - p[t, i-1, j] * q[t, i-1, j] / h[t, i-1, j])
    )


shape = (160, 320)
h = np.ones(shape)
h[:, :90] = 2.0
p, q = np.zeros((2, *shape))
free = np.ones(shape)
for row, column in [(40, 170), (80, 200), (120, 170)]:
    free[row-8:row+8, column-8:column+8] = 0.0

water = shallow_water.run(h, p, q, free, steps=500)

# The bore has passed the pillars, and no water is higher than the lake was.
assert 0.5 < water.h.min() and water.h.max() < 2.01
picture.save("shallow_water", water.h, low=0.9, high=1.8, colours="sea", scale=2)
