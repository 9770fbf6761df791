"""Choosing a GPU for a workload

`codesign` asks which hardware would be best for given stencils, each with its best tiles on each design, and answers with the
exact optimum of its model; `pareto` finds the designs that no other beats in both area and speed, and draws them.
"""

from pathlib import Path

import tilewright

Path("workload.toml").write_text("""
name = "two"
description = "Two stencils on small GPUs, 200 to 260 mm2"
family = "maxwell"
objective = "gflops"
[budget]
area_low_mm2 = 200
area_high_mm2 = 260
[hardware]
n_sm = { from = 4, to = 16, step = 2 }
n_v = [64, 128, 256]
m_sm_kb = [24, 48, 96]
[[stencil]]
spec = "heat2d"
sizes = ["2048x2048"]
steps = [512]
[[stencil]]
spec = "fdtd2d"
sizes = ["1024x1024"]
steps = [512]
""")

study = tilewright.codesign("workload.toml", output="study", what_if="none")
best = study.best
print(f"best of {study.evaluated} designs: {best.n_sm} SM of {best.n_v} lanes and {best.m_sm_kb} kB, {best.area_mm2:.0f} mm2")

front = tilewright.pareto("study/designs.csv", x="area_mm2", y="gflops", svg="choosing_a_gpu.svg")
print(f"keys of the front: {', '.join(front)}")
assert 200 <= best.area_mm2 <= 260
