"""Searching the parameters of your own function

`search` asks a function as seldom as it can: here, how two loops of a matrix product should be blocked. The function
returns the cost of a configuration, `None` where it is not possible, and may raise: that configuration has failed then. What is
measured here is a count of cache misses of a small simulated cache, so that the answer is the same everywhere; time it
yourself by `time.perf_counter` in the same place.
"""

from collections import OrderedDict

import numpy as np
import picture
import tilewright

SIZE, LINES, POINTS = 32, 32, 8


def misses(choice):
    """Lines that a cache of 32 lines of 8 numbers loads for a blocked product of matrices of 32 x 32 numbers."""
    rows, columns = choice["rows"], choice["columns"]
    cache, count = OrderedDict(), 0
    for top in range(0, SIZE, rows):
        for left in range(0, SIZE, columns):
            for k in range(SIZE):
                for i in range(top, top + rows):
                    own = [(m, r, j // POINTS) for j in range(left, left + columns, POINTS) for m, r in (("b", k), ("c", i))]
                    for line in [("a", i, k // POINTS), *own]:
                        if line in cache:
                            cache.move_to_end(line)
                        else:
                            count += 1
                            cache[line] = True
                            if len(cache) > LINES:
                                cache.popitem(last=False)
    return count


space = {"rows": [1, 2, 4, 8, 16, 32], "columns": [8, 16, 32]}
found = tilewright.search(misses, space, budget=12, constraints=["rows * columns <= 512"])
print(f"best of {len(found.trials)} tries: {found.best}, {found.value:.0f} lines loaded")

# All of them, for the picture: rows down, columns across.
everything = np.array([[misses({"rows": r, "columns": c}) for c in space["columns"]] for r in space["rows"]], float)
assert found.value <= 1.05 * everything.min()
picture.save("custom_search", np.log(everything), scale=40)
