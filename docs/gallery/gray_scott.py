"""Patterns that grow: Gray and Scott's reaction

Two substances spread at different speeds and react: `u` feeds `v`, and `v` decays. Two fields, two statements, each reading
both fields. Several fields come back as a named tuple, which can be given to the next run.
"""

import numpy as np
import picture
import tilewright


@tilewright.stencil
def gray_scott(t, i, j, u: tilewright.f32, v, feed=0.037, kill=0.06):
    """J. E. Pearson, "Complex patterns in a simple system", Science 261 (1993)."""
    lap_u = u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j]
    lap_v = v[t, i-1, j] + v[t, i+1, j] + v[t, i, j-1] + v[t, i, j+1] - 4 * v[t, i, j]
    reaction = u[t, i, j] * v[t, i, j] * v[t, i, j]
    u[t+1, i, j] = u[t, i, j] + 0.16 * lap_u - reaction + feed * (1 - u[t, i, j])
    v[t+1, i, j] = v[t, i, j] + 0.08 * lap_v + reaction - (feed + kill) * v[t, i, j]


u = np.ones((200, 200), np.float32)
v = np.zeros((200, 200), np.float32)
for row, column in [(60, 60), (90, 140), (140, 100), (150, 40)]:
    u[row-5:row+5, column-5:column+5] = 0.5
    v[row-5:row+5, column-5:column+5] = 0.25

state = gray_scott.run(u, v, steps=4000)

assert 0.1 < state.v.max() < 1
picture.save("gray_scott", state.v, low=0, high=0.35, colours="sea", scale=2)
