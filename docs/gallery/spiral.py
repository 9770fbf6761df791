"""Spirals in an excitable medium

FitzHugh and Nagumo's equations: a fast field that fires and a slow one that lets it rest, as in heart muscle. A front that is
broken rolls up into a spiral. Parameters are keywords of `run` with the defaults of the function; numbers of the module
become constants.
"""

import numpy as np
import picture
import tilewright

DT = 0.1


@tilewright.stencil
def excitable(t, i, j, u: tilewright.f32, v, spread=1.0, threshold=0.1, slow=0.01, rest=0.5):
    """R. FitzHugh, Biophysical Journal 1 (1961)."""
    lap = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j]
    fire = u[t, i, j] * (1 - u[t, i, j]) * (u[t, i, j] - threshold) - v[t, i, j]
    u[t+1, i, j] = u[t, i, j] + DT * (spread * lap + fire)
    v[t+1, i, j] = v[t, i, j] + DT * slow * (rest * u[t, i, j] - v[t, i, j])


shape = (220, 220)
u, v = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
u[:, 60:80] = 1.0
v[110:, 30:200] = 0.0
v[:, :60] = 0.2
v[110:, :] = 0.2

state = excitable.run(u, v, steps=6000)

assert np.isfinite(state.u).all()
picture.save("spiral", state.u, low=-0.3, high=1.0, scale=2)
