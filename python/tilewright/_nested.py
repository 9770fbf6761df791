"""Programs on nested sequences that run on arrays of NumPy."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ._commands import command
from ._reports import Report
from ._stencil import _fields
from .errors import WrongInput


class NestedProgram:
    """A program on nested sequences, made by `tilewright.nested_program`.

    `given` are the names of its inputs and parameters, `results` those of the arrays that a run returns: one for each member
    of a result's elements, and `NAME_rows`, where each row begins, for rows.
    """

    def __init__(self, text: str) -> None:
        self._start(text)

    def _start(self, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "program.nested"
            path.write_text(text, encoding="utf-8")
            found = command("nested", "format", path)
        self.name: str = found.program
        self.text: str = found.source
        self.given: tuple[str, ...] = tuple(found.given)
        self.results: tuple[str, ...] = tuple(found.results)
        self._returned = _fields(self.results)

    def __reduce__(self) -> tuple[Any, ...]:
        return NestedProgram, (self.text,)

    def __repr__(self) -> str:
        return f"<tilewright nested program {self.name}({', '.join(self.given)}) -> {', '.join(self.results)}>"

    def run(self, *, given: dict[str, Any] | None = None, **named: Any) -> Any:
        """Computes the results of inputs and parameters, which are given by name; a single result as an array, several as a named
        tuple. What else is named are options of the command `tilewright nested run`; `given` is for names that are options, too.

        Inputs are arrays of NumPy of their own types, which are not converted, or numbers. They pass through files, so that this
        is for programs that compute for longer than that takes; `compile` makes a library that works on arrays where they lie.

        Raises `WrongInput` for what is missing or of another type or shape.
        """
        import numpy as np

        values = {name: named.pop(name) for name in self.given if name in named} | (given or {})
        for name in values:
            if name not in self.given:
                raise WrongInput(f"{self.name} has no `{name}`", (f"it has {', '.join(self.given)}",))
        for name in ("input", "param", "output"):
            if name in named:
                raise WrongInput(f"{name} is made of what is given by name", (f"{self.name}.run({self.given[0]}=...)",))
        with tempfile.TemporaryDirectory() as folder:
            inputs, parameters = [], []
            for name, value in values.items():
                if isinstance(value, np.ma.MaskedArray):
                    raise WrongInput(f"{name} is a masked array, whose mask no program knows", ("pass its .filled(...)",))
                if isinstance(value, np.ndarray) and value.dtype.hasobject:
                    raise WrongInput(f"{name} has elements of {value.dtype}")
                if isinstance(value, np.ndarray) and value.ndim:
                    path = Path(folder) / f"{name}.npy"
                    np.save(path, value)
                    inputs.append(f"{name}={path}")
                elif isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
                    raise WrongInput(f"{name} is a {type(value).__qualname__}; an array or a number was expected")
                else:
                    parameters.append(f"{name}={value}")
            files = {name: Path(folder) / f"result-{name}.npy" for name in self.results}
            outputs = [f"{name}={path}" for name, path in files.items()]
            self._command("run", folder, **named, input=inputs, param=parameters, output=outputs)
            found = [np.load(path) for path in files.values()]
        return found[0] if len(found) == 1 else self._returned(*found)

    def analyze(self, **options: Any) -> Report:
        """Its computations and their schedules: `tilewright nested analyze`."""
        return self._command("analyze", None, **options)

    def compile(self, output: str | os.PathLike[str], **options: Any) -> Report:
        """C or CUDA for projects, written into the folder `output`: `tilewright nested compile`."""
        return self._command("compile", None, **options, output=output)

    def _command(self, action: str, folder: str | None, **options: Any) -> Report:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            path = Path(own) / f"{self.name}.nested"
            path.write_text(self.text, encoding="utf-8")
            return command("nested", action, path, **options)


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
    return NestedProgram(text)
