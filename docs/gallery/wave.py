"""A wave from a source, through two media

The wave equation reads two time levels, so a run takes two arrays, oldest first. The source is a *series*: one number for each
time step, a Ricker wavelet here, and a coefficient says at which point it acts. A second coefficient is the speed of the
wave: in the lower third it is faster, so that the front is broken there and partly thrown back.
"""

import numpy as np
import picture
import tilewright


@tilewright.stencil
def wave(t, i, j, u: tilewright.f32, speed, place, signal):
    """The wave equation with a source: speed is (c dt / dx) squared."""
    lap = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j]
    u[t+1, i, j] = 2 * u[t, i, j] - u[t-1, i, j] + speed[i, j] * lap + place[i, j] * signal[t]


shape, steps = (240, 320), 330
speed = np.full(shape, 0.15, np.float32)
speed[160:] = 0.45
place = np.zeros(shape, np.float32)
place[100, 160] = 1.0
# The second derivative of a bell, 40 steps wide.
x = ((np.arange(steps) - 40) / 12.0) ** 2
signal = ((1 - 2 * x) * np.exp(-x)).astype(np.float32)

rest = np.zeros(shape, np.float32)
before, now = wave.run((rest, rest), speed, place, signal=signal, steps=steps)

assert np.isfinite(now).all() and abs(now).max() > 0.01
picture.save("wave", now, low=-0.25, high=0.25, colours="both", scale=2)
