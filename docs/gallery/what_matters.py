"""What matters in measured trials

Trials of any tuner, as a table with one row for each configuration, become a regression tree: which parameters matter, how
much, and where the good designs are. Here the table is made by a formula; a real one is what `search --trials` keeps, a Kernel
Tuner cache or a CSV of yours.
"""

from pathlib import Path

import tilewright

rows = ["block,unroll,vector,seconds"]
for block in (16, 32, 64, 128, 256, 512):
    for unroll in (1, 2, 4, 8):
        for vector in (1, 2, 4):
            seconds = 1 + abs(block - 128) / 100 + 0.3 / vector + 0.02 * unroll + (0.8 if block * unroll > 1024 else 0)
            rows.append(f"{block},{unroll},{vector},{seconds}")
Path("trials.csv").write_text("\n".join(rows) + "\n")

found = tilewright.explain("trials.csv", metric="seconds", samples=40, validation=20, draws=3, svg="what_matters.svg")
first = found.splits[0]
print(f"{first.parameter} matters most; the best designs: {found.best_leaf.rules}")
assert first.parameter == "block"
