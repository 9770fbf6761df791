"""What a call from Python costs beside the compiled code: the import, a call on a tiny grid, and memory on a large one.

    python benches/python_calls.py [--grid 8192x8192] [--json FILE]

Each number is that of a process of its own. A call on a grid of 8 x 8 points computes for less than a microsecond, so that its time is
what the package adds; memory is the greatest resident set beyond that before the call, in arrays of the grid's size.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

IMPORT = """
import sys, time
begin = time.perf_counter()
import tilewright
print((time.perf_counter() - begin) * 1e3)
"""

CALL = """
import sys, time
import numpy as np
import tilewright
heat = tilewright.stencil("heat2d")
u = np.zeros((8, 8), np.float32)
out = u.copy()
how = {how}
heat.run(u, steps=1, **how)
times = []
for _ in range(30):
    begin = time.perf_counter()
    for _ in range(2000):
        heat.run(u, steps=1, **how)
    times.append((time.perf_counter() - begin) / 2000 * 1e6)
print(sorted(times)[len(times) // 2])
"""

MEMORY = """
import re, sys
import numpy as np
import tilewright

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

heat = tilewright.stencil("heat2d")
# The code for the shape is there before: the arrays count, and not the compiler's choice.
u = np.ones({shape}, np.float32)
how = dict(strategy="naive", tile_by="model", machine="zen4")
heat.run(np.ones((64, 64), np.float32), steps=2, **how)
before = peak()
after = heat.run(u, steps={steps}, out={out}, **how)
print((peak() - before) / u.nbytes)
"""


def said(text, times=1):
    """The median of what a script prints."""
    runs = [float(subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout) for _ in range(times)]
    return statistics.median(runs)


def main():
    """Prints and writes all numbers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grid", default="8192x8192")
    parser.add_argument("--json")
    own = parser.parse_args()
    shape = tuple(int(extent) for extent in own.grid.split("x"))
    plain = "dict(strategy='naive', tile_by='model', machine='zen4', threads=1"
    found = {
        "import_ms": said(IMPORT, 7),
        "call_us": {
            "new arrays": said(CALL.replace("{how}", plain + ")")),
            "out=": said(CALL.replace("{how}", plain + ", out=out)")),
            "out= and parameters": said(CALL.replace("{how}", plain + ", out=out, a=0.1, b=0.1)")),
        },
        "memory_in_arrays": {
            f"{name}, {steps} steps": said(
                MEMORY.replace("{shape}", str(shape)).replace("{out}", out).replace("{steps}", str(steps))
            )
            for name, out in (("new arrays", "None"), ("out=u", "u"))
            for steps in (2, 3)
        },
    }
    print(json.dumps(found, indent=1))
    if own.json:
        Path(own.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
