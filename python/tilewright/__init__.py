"""Tilewright: stencil programs tiled, proved, compiled and run; tuned by exact models and few measurements.

    import numpy as np, tilewright

    heat = tilewright.stencil("heat2d")
    u = np.random.rand(1000, 1000).astype(np.float32)
    u = heat.run(u, steps=100, a=0.1)

Manual: docs/python.md of the project.
"""

from __future__ import annotations

import atexit as _atexit
import sys as _sys

if _sys.version_info < (3, 11):
    raise ImportError("tilewright needs Python 3.11 or later")

# Runs take turns by the lock of Python, and what a decorated function is made of may not change meanwhile.
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError("tilewright needs Python's global lock: start Python with PYTHON_GIL=1, or take a build that has it")


def _is_main_interpreter() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        return bool(interpreters.get_current() == interpreters.get_main())
    return True


# What the extension holds is the process's; other interpreters would share it without a lock.
if not _is_main_interpreter():
    raise ImportError("tilewright works in a process's main interpreter alone; start processes instead")

from . import _tilewright, adaptive, nested
from ._command import command, draw
from ._commands import (
    analyze,
    calibrate,
    codesign,
    compile,
    explain,
    machines,
    pareto,
    predict,
    stencils,
    tune,
    validate,
)
from ._display import Drawing
from ._reports import (
    Analysis,
    Calibration,
    Codesign,
    Compilation,
    Explanation,
    Front,
    Machine,
    Prediction,
    Report,
    ShippedStencil,
    Tuning,
    Validation,
)
from ._search import SearchResult, Trial, search, trials
from ._signature import Field, f32, f64
from ._stencil import RunInfo, Stencil, stencil
from .errors import Diagnostic, Failed, Infeasible, Internal, ProgramError, TilewrightError, WrongInput
from .nested import NestedProgram, nested_program

# Daemon threads may be within long calls when Python ends.
_atexit.register(_tilewright.ending)

__version__: str = _tilewright.version()

__all__ = [
    "Analysis",
    "Calibration",
    "Codesign",
    "Compilation",
    "Diagnostic",
    "Drawing",
    "Explanation",
    "Failed",
    "Field",
    "Front",
    "Infeasible",
    "Internal",
    "Machine",
    "NestedProgram",
    "Prediction",
    "ProgramError",
    "Report",
    "RunInfo",
    "SearchResult",
    "ShippedStencil",
    "Stencil",
    "TilewrightError",
    "Trial",
    "Tuning",
    "Validation",
    "WrongInput",
    "adaptive",
    "analyze",
    "calibrate",
    "codesign",
    "command",
    "compile",
    "draw",
    "explain",
    "f32",
    "f64",
    "machines",
    "nested",
    "nested_program",
    "pareto",
    "predict",
    "search",
    "stencil",
    "stencils",
    "trials",
    "tune",
    "validate",
]
