"""Heat in a plate

The shipped stencil `heat2d` is the heat equation by explicit Euler. The plate is cold but for two hot bars; its edge keeps
its temperature, because points that no statement computes never change. `run` returns a new array; `heat.last` says which
tile sizes were chosen.
"""

import numpy as np
import picture
import tilewright

heat = tilewright.stencil("heat2d")
plate = np.zeros((200, 300), np.float32)
plate[60:140, 80:95] = 1.0
plate[95:105, 150:250] = 1.0

later = heat.run(plate, steps=400, a=0.2, b=0.2)
print(heat.last)

# Heat only flows: nowhere is it hotter than it was anywhere.
assert 0 <= later.min() and later.max() <= 1
picture.save("heat", np.vstack([plate[::2, ::2], np.sqrt(later[::2, ::2])]), low=0, high=1, scale=2)
