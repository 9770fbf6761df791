"""The commands of `tilewright` as functions: same names, same options, same results."""

from __future__ import annotations

from typing import Any

from ._command import command, drawn
from ._reports import (
    Analysis,
    Calibration,
    Codesign,
    Compilation,
    Explanation,
    Front,
    Machine,
    Prediction,
    ShippedStencil,
    Tuning,
    Validation,
)


def analyze(spec: Any, **options: Any) -> Analysis:
    """Dependences, cone and counts of a stencil: `tilewright analyze`."""
    return drawn(Analysis, "analyze", spec, **options)


def compile(spec: Any, output: Any, **options: Any) -> Compilation:
    """C or CUDA for projects, written into the folder `output`: `tilewright compile`."""
    return Compilation(command("compile", spec, output=output, **options).to_dict())


def predict(spec: Any, **options: Any) -> Prediction:
    """Time and energy of a tile on a machine by the models: `tilewright predict`."""
    return drawn(Prediction, "predict", spec, **options)


def tune(spec: Any, **options: Any) -> Tuning:
    """The best tile for a machine: `tilewright tune`."""
    return Tuning(command("tune", spec, **options).to_dict())


def calibrate(**options: Any) -> Calibration:
    """Measures this machine: `tilewright calibrate`."""
    return Calibration(command("calibrate", **options).to_dict())


def validate(spec: Any, **options: Any) -> Validation:
    """Predictions beside measured runs: `tilewright validate`."""
    return Validation(command("validate", spec, **options).to_dict())


def codesign(study: Any, **options: Any) -> Codesign:
    """A sweep of architectures: `tilewright codesign`."""
    return Codesign(command("codesign", study, **options).to_dict())


def pareto(results: Any, **options: Any) -> Front:
    """The front of a sweep, of trials or of a frame: `tilewright pareto`."""
    return drawn(Front, "pareto", results, **options)


def explain(trials: Any, **options: Any) -> Explanation:
    """Which parameters matter in trials, of a file or of a search: `tilewright explain`."""
    return drawn(Explanation, "explain", trials, **options)


def machines() -> list[Machine]:
    """The shipped machines."""
    return [Machine(one.to_dict()) for one in command("list").machines]


def stencils() -> list[ShippedStencil]:
    """The shipped stencils."""
    return [ShippedStencil(one.to_dict()) for one in command("list").stencils]
