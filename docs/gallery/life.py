"""Conway's Life

A stencil may decide: a conditional expression compares the number of neighbours with whole numbers, which floating point holds
exactly. The cells beyond the edge are dead for ever. Two glider guns shoot at each other.
"""

import numpy as np
import picture
import tilewright


@tilewright.stencil
def life(t, i, j, cell: tilewright.f32):
    """M. Gardner, "Mathematical Games", Scientific American 223 (1970)."""
    near = (
        cell[t, i-1, j-1] + cell[t, i-1, j] + cell[t, i-1, j+1] + cell[t, i, j-1]
        + cell[t, i, j+1] + cell[t, i+1, j-1] + cell[t, i+1, j] + cell[t, i+1, j+1]
    )
    cell[t+1, i, j] = 1 if near == 3 or (near == 2 and cell[t, i, j] == 1) else 0


GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""
gun = np.array([[one == "O" for one in line] for line in GUN.split()], np.float32)
cells = np.zeros((100, 160), np.float32)
cells[10:19, 10:46] = gun
cells[10:19, 114:150] = gun[:, ::-1]

# A glider leaves every 30 generations; four of one gun's weigh 20 cells more than a period before.
after = life.run(cells, steps=150)
one_more = life.run(after, steps=30)

assert set(np.unique(one_more)) == {0, 1}
assert one_more.sum() - after.sum() == 10
picture.save("life", one_more, colours="grey", scale=4)
