"""Choosing among implementations by their inputs: `tilewright adaptive ACTION` as functions of the same names, with the same
options and results.

    trained = tilewright.adaptive.train("runs.csv", output="sort.model.json", hold_out=0.5)
    trained.test.performance.mean
    tilewright.adaptive.predict("sort.model.json", values={"n": 20000}).choices[0].variant

Manual: docs/adaptive.md of the project.
"""

from __future__ import annotations

from typing import Any

from ._command import command
from ._reports import Report


class Training(Report):
    """What `train` learned; `tree` is the model where it is one, `test` what it is worth on held-out inputs."""

    name: str
    file: str
    classifier: str
    description: str
    tree: str
    metric: str
    maximize: bool
    inputs: int
    labelled: int
    measured: int
    features: list[str]
    variants: list[str]
    best: list[int]
    cross_validated: float | None
    accuracy: float
    steps: list[Report]
    cut_short: bool
    parameters: Report | None
    worth: list[Report]
    test: Report | None


class Transfer(Report):
    """What `transfer` learned for a machine from others, or what that is worth (`leave_out=True`)."""

    name: str
    target: str | None
    file: str | None
    description: str
    sources: list[str]
    features: list[str] | None
    similarity: list[float]
    left_out: list[Report] | None
    restricted: list[Report]
    variants: list[str]


class Profiles(Report):
    """What `profile` counted."""

    code_for: str
    file: str
    profiles: int
    metrics: list[str]
    proxies: list[str]
    kernels: list[Report]


class Choices(Report):
    """What `predict` chose, input by input."""

    name: str
    features: list[str]
    choices: list[Report]
    notes: list[str]


class Evaluation(Report):
    """What a model is worth on the inputs of `report`, against exhaustive search and the best single variant."""

    name: str
    description: str
    trained_on: int
    measured: int
    inputs: int
    performance: Report
    net: Report
    accuracy: float
    best_single: str
    best_single_performance: float
    gap_closed: float | None
    variants: list[Report]


class Clocks(Report):
    """What `clocks` learned: two models, and what the pairs that they choose are worth on held-out inputs."""

    name: str
    file: str
    frequency_file: str
    models: list[str]
    clocks: str | None
    metric: str
    inputs: int
    measured: int
    frequencies: list[int]
    variants: list[str]
    test: Report | None


class MachineFeatures(Report):
    """The features of a machine, which its file has."""

    file: str
    machine: str
    features: Report
    kept: list[str]


class Emission(Report):
    """What `emit` wrote."""

    name: str
    description: str
    files: list[str]


def train(source: Any, *, output: Any, **options: Any) -> Training:
    """Measures the variants on training inputs, and trains a model that chooses: `tilewright adaptive train`.

    `source` is a description of commands, a table (CSV, or a frame of pandas), or the folder of an ASlib scenario.
    """
    return Training(command("adaptive", "train", source, output=output, **options).to_dict())


def transfer(fleet: Any, **options: Any) -> Transfer:
    """Trains a model for a machine from what was measured on others: `tilewright adaptive transfer`."""
    return Transfer(command("adaptive", "transfer", fleet, **options).to_dict())


def profile(spec: Any = None, *, output: Any, **options: Any) -> Profiles:
    """Counts what the code of variants issues: `tilewright adaptive profile`. Without a stencil, `object` or `proxies` are given."""
    given = [] if spec is None else [spec]
    return Profiles(command("adaptive", "profile", *given, output=output, **options).to_dict())


def clocks(source: Any, *, output: Any, frequency_output: Any, **options: Any) -> Clocks:
    """Trains two models that together choose a variant and a clock frequency: `tilewright adaptive clocks`."""
    given = {"output": output, "frequency_output": frequency_output, **options}
    return Clocks(command("adaptive", "clocks", source, **given).to_dict())


def machine(*, output: Any, **options: Any) -> MachineFeatures:
    """Measures the features of this machine, and keeps them in a machine file: `tilewright adaptive machine`."""
    return MachineFeatures(command("adaptive", "machine", output=output, **options).to_dict())


def predict(model: Any, *inputs: Any, **options: Any) -> Choices:
    """Which variant a model chooses, for `values` of the features or for the inputs of a `source`: `tilewright adaptive predict`."""
    return Choices(command("adaptive", "predict", model, *inputs, **options).to_dict())


def report(model: Any, source: Any, **options: Any) -> Evaluation:
    """Compares a model's choices with exhaustive search and the best single variant: `tilewright adaptive report`."""
    return Evaluation(command("adaptive", "report", model, source, **options).to_dict())


def emit(model: Any, *, output: Any, **options: Any) -> Emission:
    """Writes a model as plain C into the folder `output`: `tilewright adaptive emit`."""
    return Emission(command("adaptive", "emit", model, output=output, **options).to_dict())
