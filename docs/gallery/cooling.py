"""A cooling block, in three dimensions

Three space indices are the most. `empty` and `zeros` of a stencil make arrays whose rows begin where caches like it, and `out=`
lets a run work on your own arrays: here one array is all that there is, and the run takes one more while it lasts.
"""

import numpy as np
import picture
import tilewright

heat = tilewright.stencil("heat3d")
block = heat.zeros((48, 96, 96))
block[8:-8, 16:-16, 16:-16] = 1.0
block[20:28] = 0.0

heat.run(block, steps=60, out=block)

print(heat.last.copied or "nothing was copied")
assert 0 <= block.min() and block.max() <= 1
# Four slices from above to the middle.
picture.save("cooling", np.hstack([block[depth] for depth in (4, 12, 18, 24)]), low=0, high=1, scale=2)
