"""Programs on nested sequences: on arrays of NumPy, and `tilewright nested ACTION` as functions of the same names, with the same
options and results.

    softmax = tilewright.nested_program("softmax")
    shares = softmax.run(x=np.random.rand(64), columns=16)
    tilewright.nested.analyze("spmv").frame("computations")

Manual: docs/nested.md of the project.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._arguments import encodable, number
from ._command import command
from ._reports import Report
from ._signature import named_results
from .errors import WrongInput


class NestedAnalysis(Report):
    """What `analyze` found: the computations with their schedules and the size of their spaces."""

    program: str
    computations: list[Report]
    fused: list[str]
    temporaries: list[str]
    traffic: list[Report]


class NestedCompilation(Report):
    """What `compile` wrote."""

    program: str
    target: str
    mode: str
    files: list[str]
    implementations: list[str]
    temporaries: list[str]


class NestedRun(Report):
    """What `run` computed from files, and how long it took."""

    program: str
    backend: str
    mode: str
    threads: int
    seconds: float | None
    seconds_all: list[float]
    bytes: int | None
    results: list[Report]
    verified: bool | None
    difference: float | None
    implementations: list[str]


class NestedTuning(Report):
    """What `tune` measured, the best first."""

    program: str
    computation: str
    expression: str
    candidates: int
    evaluated: int
    best: Report
    default: Report
    measured: list[Report]


class ShippedProgram(Report):
    """A shipped program."""

    name: str
    description: str
    lines: int

    def _file_in(self, folder: str) -> str:
        return self.name


def analyze(program: Any, **options: Any) -> NestedAnalysis:
    """Computations and their schedules: `tilewright nested analyze`."""
    return NestedAnalysis(command("nested", "analyze", program, **options).to_dict())


def compile(program: Any, output: Any, **options: Any) -> NestedCompilation:
    """C or CUDA for projects, written into the folder `output`: `tilewright nested compile`."""
    return NestedCompilation(command("nested", "compile", program, output=output, **options).to_dict())


def run(program: Any, **options: Any) -> NestedRun:
    """Runs a program on arrays of files: `tilewright nested run`. On arrays in memory, `NestedProgram.run`."""
    return NestedRun(command("nested", "run", program, **options).to_dict())


def tune(program: Any, **options: Any) -> NestedTuning:
    """Measures implementations, and says which is the best: `tilewright nested tune`."""
    return NestedTuning(command("nested", "tune", program, **options).to_dict())


def programs() -> list[ShippedProgram]:
    """The shipped programs."""
    return [ShippedProgram(one.to_dict()) for one in command("nested", "list").programs]


class NestedProgram:
    """A program on nested sequences, made by `tilewright.nested_program`.

    `given` are the names of its inputs and parameters, `results` those of the arrays that a run returns: one for each member
    of a result's elements, and `NAME_rows`, where each row begins, for rows.
    """

    def __init__(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.nested"
            path.write_text(text, encoding="utf-8")
            found = command("nested", "format", path)
        self.name: str = found.program
        self.text: str = found.source
        self.given: tuple[str, ...] = tuple(found.given)
        self.results: tuple[str, ...] = tuple(found.results)
        self._returned = named_results(self.results)

    def __reduce__(self) -> tuple[Any, ...]:
        return NestedProgram, (self.text,)

    def __repr__(self) -> str:
        return f"<tilewright nested program {self.name}({', '.join(self.given)}) -> {', '.join(self.results)}>"

    def run(self, *, given: Mapping[str, Any] | None = None, **named: Any) -> Any:
        """Computes the results of inputs and parameters, which are given by name; a single result as an array, several as a named
        tuple. What else is named are options of the command `tilewright nested run`; `given` is for names that are options, too.

        Inputs are arrays of NumPy of their own types, which are not converted, or numbers. They pass through files, so that this
        is for programs that compute for longer than that takes; `compile` makes a library that works on arrays where they lie.

        Raises `WrongInput` for what is missing or of another type or shape.
        """
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            data = self._data(folder, given, named)
            files = {name: Path(folder) / f"result-{name}.npy" for name in self.results}
            run(self, **named, **data, output=[f"{name}={path}" for name, path in files.items()])
            found = [np.load(path) for path in files.values()]
        return found[0] if len(found) == 1 else self._returned(*found)

    def analyze(self, **options: Any) -> NestedAnalysis:
        """Its computations and their schedules: `tilewright nested analyze`."""
        return analyze(self, **options)

    def compile(self, output: str | os.PathLike[str], **options: Any) -> NestedCompilation:
        """C or CUDA for projects, written into the folder `output`: `tilewright nested compile`."""
        return compile(self, output, **options)

    def tune(self, *, given: Mapping[str, Any] | None = None, **named: Any) -> NestedTuning:
        """Measures implementations on inputs and parameters, given as to `run`: `tilewright nested tune`."""
        with tempfile.TemporaryDirectory() as folder:
            return tune(self, **self._data(folder, given, named), **named)

    def _data(self, folder: str, given: Mapping[str, Any] | None, named: dict[str, Any]) -> dict[str, list[str]]:
        """The options that name inputs and parameters, which are taken out of `named`."""
        import numpy as np

        if not isinstance(given, Mapping | None):
            raise WrongInput("given is a mapping of names to arrays and numbers")
        values = {name: named.pop(name) for name in self.given if name in named} | dict(given or {})
        for name in values:
            if name not in self.given:
                raise WrongInput(f"{self.name} has no `{name}`", (f"it has {', '.join(self.given)}",))
        for name in ("input", "param", "output"):
            if name in named:
                raise WrongInput(f"{name} is made of what is given by name", (f"{self.name}.run({self.given[0]}=...)",))
        inputs, parameters = [], []
        for name, value in values.items():
            if isinstance(value, np.ma.MaskedArray):
                raise WrongInput(f"{name} is a masked array, whose mask no program knows", ("pass its .filled(...)",))
            if isinstance(value, (list, tuple)) or value is None:
                raise WrongInput(f"{name} is a {type(value).__qualname__}; an array or a number was expected")
            if isinstance(value, np.ndarray) and value.dtype.hasobject:
                raise WrongInput(f"{name} has elements of {value.dtype}")
            if isinstance(value, np.ndarray) and value.ndim:
                path = Path(folder) / f"{name}.npy"
                np.save(path, value)
                inputs.append(f"{name}={path}")
            else:
                parameters.append(f"{name}={_number_text(value, name)}")
        return {"input": inputs, "param": parameters}

    def _file_in(self, folder: str) -> str:
        path = Path(folder) / f"{self.name}.nested"
        path.write_text(self.text, encoding="utf-8")
        return str(path)


def _number_text(value: Any, name: str) -> str:
    """A number as the command reads it: with all its digits, whole ones as such."""
    if getattr(value, "dtype", None) == bool or isinstance(value, bool):
        return str(bool(value)).lower()
    found = number(value, name)
    if hasattr(value, "__index__"):
        if not -(2**63) <= value < 2**64:
            raise WrongInput(f"{name} is {value}, which has more than 64 bits")
        return str(int(value))
    return repr(found)


def nested_program(spec: str | os.PathLike[str] | None = None, *, text: str | None = None) -> NestedProgram:
    """A program on nested sequences: a shipped one by its name, a `.nested` file by its path, or a text.

        softmax = tilewright.nested_program("softmax")
        shares = softmax.run(x=np.random.rand(64), columns=16)

    Raises `ProgramError` or `WrongInput` where the program has mistakes.
    """
    if (spec is None) == (text is None):
        raise WrongInput("either a text or a name was expected")
    if text is None:
        text = command("nested", "format", os.fspath(spec)).source  # type: ignore[arg-type]
    return NestedProgram(encodable(text))
