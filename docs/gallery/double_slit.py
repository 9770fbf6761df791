"""Maxwell's equations: light at a double slit

Three fields that follow each other in one time step (FDTD, K. S. Yee 1966): the electric field along z reads the magnetic
fields, and these read the *new* electric field, `ez[t+1, ..]`, which the statement above has computed. A wall of metal with
two slits is a coefficient. A series drives the left column.
"""

import numpy as np
import picture
import tilewright


@tilewright.stencil
def fdtd(t, i, j, ez: tilewright.f32, hx, hy, clear, lamp, light):
    """Yee's scheme in two dimensions; the speed of light times dt / dx is 0.5."""
    ez[t+1, i, j] = clear[i, j] * (
        ez[t, i, j] + 0.5 * (hy[t, i, j] - hy[t, i, j-1] - hx[t, i, j] + hx[t, i-1, j]) + lamp[i, j] * light[t]
    )
    hx[t+1, i, j] = hx[t, i, j] - 0.5 * (ez[t+1, i+1, j] - ez[t+1, i, j])
    hy[t+1, i, j] = hy[t, i, j] + 0.5 * (ez[t+1, i, j+1] - ez[t+1, i, j])


shape, steps = (240, 300), 420
clear, lamp = np.ones(shape, np.float32), np.zeros(shape, np.float32)
clear[:, 100:104] = 0
for slit in (95, 145):
    clear[slit-6:slit+6, 100:104] = 1
lamp[2:-2, 20] = 0.2
light = (np.sin(np.arange(steps) * 0.22) * np.minimum(np.arange(steps) / 40, 1)).astype(np.float32)
dark = np.zeros(shape, np.float32)

field = fdtd.run(dark, dark, dark, clear, lamp, light=light, steps=steps)

assert abs(field.ez[:, 100:104]).max() < 2 and abs(field.ez[:, 150:]).max() > 0.05
picture.save("double_slit", field.ez, low=-0.5, high=0.5, colours="both", scale=2)
