"""What the tiles look like

`analyze` tells what is known of a stencil before it runs: how far a value spreads in a time step (the cone), what a point costs,
and that the tiling is legal, which isl proves for all grid sizes and step counts. `svg=` draws the tiles over time and space.
"""

import tilewright

found = tilewright.analyze("heat1d", tile="st=4,s0=6", svg="tiles.svg")
print(f"{found.flops} flops and {found.bytes} bytes per point; cone {found.cone.to_dict()}")
assert found.legal

# A tile that cannot be is refused, and the message says what can.
try:
    tilewright.analyze("fdtd2d", tile="st=4,s0=6,s1=16")
except tilewright.Infeasible as error:
    print(error)
