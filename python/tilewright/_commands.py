"""The commands of `tilewright` as functions: same names, same options, same results.

Each runs the command in a process of its own, so that Ctrl-C ends it at once and nothing of it stays, and returns what
its `--json` prints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

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
from ._search import SearchResult
from ._stencil import Stencil
from .errors import Internal, WrongInput, of_kind

Found = TypeVar("Found", bound=Report)


def command(name: str, *positional: Any, **options: Any) -> Report:
    """Runs `tilewright NAME POSITIONAL... --OPTION VALUE...` and returns its JSON document.

    Underscores of options are hyphens; `True` is an option without a value, `False` and `None` leave it out; a list gives
    it several times; a tuple of integers is a size, a mapping `name=value` pairs. Stencils, results of searches and frames of
    pandas are passed as files.
    """
    if not name or name.startswith("-"):
        raise WrongInput(f"{name!r} is no command", ("`tilewright --help` lists them",))
    with tempfile.TemporaryDirectory() as folder:
        words = [name, *(_word(one, folder) for one in positional)]
        for key, value in options.items():
            option = "--" + key.rstrip("_").replace("_", "-")
            for one in value if isinstance(value, list) else [value]:
                if one is True:
                    words.append(option)
                elif one is not None and one is not False:
                    words += [option, _word(one, folder)]
        if any("\0" in word for word in words):
            raise WrongInput("no argument of a command can have a zero byte")
        return _run([*words, "--json"])


def _drawn(kind: type[Found], name: str, *positional: Any, **options: Any) -> Found:
    """What a command found, with what it draws, where the caller wants no file of it."""
    if options.get("svg") is not None:
        return kind(command(name, *positional, **options).to_dict())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawing.svg"
        data = command(name, *positional, **{**options, "svg": path}).to_dict()
        # As if nobody had asked for the file.
        if "svg" in data:
            data["svg"] = None
        if "written" in data:
            data["written"] = [one for one in data["written"] if one != str(path)]
        drawing = Drawing(path.read_text(encoding="utf-8")) if path.exists() else None
    return kind(data, drawing)


def draw(name: str, *positional: Any, **options: Any) -> Drawing:
    """What the command `name` draws with `--svg`: `analyze` the tiles, `predict` where the time goes, `explain` a tree, `pareto` a
    front; arguments are those of the command.

        tilewright.draw("analyze", "heat1d", tile="st=4,s0=6")
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawing.svg"
        command(name, *positional, **options, svg=path)
        return Drawing(path.read_text(encoding="utf-8"))


def _word(value: Any, folder: str) -> str:
    if isinstance(value, Stencil):
        kind, what, element = value._reduced[:3]
        if kind == "load" and element is None:
            return what
        path = Path(folder) / f"{value.name}.stencil"
        path.write_text(value.text, encoding="utf-8")
        return str(path)
    if isinstance(value, SearchResult):
        path = Path(folder) / "trials.json"
        value.save(path)
        return str(path)
    if hasattr(value, "to_csv"):
        path = Path(folder) / "frame.csv"
        value.to_csv(path, index=False)
        return str(path)
    if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
        return "x".join(str(one) for one in value)
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _run(words: list[str]) -> Report:
    # The process finds this very package, wherever it was imported from.
    path = os.pathsep.join([str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-m", "tilewright", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        output, said = process.communicate()
    except BaseException:
        process.terminate()
        try:
            process.communicate(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise
    try:
        document = json.loads(output)
    except ValueError:
        raise Internal(f"`tilewright {' '.join(words)}` ended with {process.returncode}: {said.strip()}") from None
    error = document.get("error") if isinstance(document, dict) else None
    if error:
        found = [
            (one.get("code", ""), one.get("message", ""), one.get("line", 0), one.get("column", 0), one.get("file", ""))
            for one in error.get("diagnostics") or []
        ]
        raise of_kind(error.get("kind", "internal"), error.get("message", ""), error.get("hints") or [], found)
    return Report(document)


def analyze(spec: Any, **options: Any) -> Analysis:
    """Dependences, cone and counts of a stencil: `tilewright analyze`."""
    return _drawn(Analysis, "analyze", spec, **options)


def compile(spec: Any, output: Any, **options: Any) -> Compilation:
    """C or CUDA for projects, written into the folder `output`: `tilewright compile`."""
    return Compilation(command("compile", spec, output=output, **options).to_dict())


def predict(spec: Any, **options: Any) -> Prediction:
    """Time and energy of a tile on a machine by the models: `tilewright predict`."""
    return _drawn(Prediction, "predict", spec, **options)


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
    return _drawn(Front, "pareto", results, **options)


def explain(trials: Any, **options: Any) -> Explanation:
    """Which parameters matter in trials, of a file or of a search: `tilewright explain`."""
    return _drawn(Explanation, "explain", trials, **options)


def nested(action: str, *positional: Any, **options: Any) -> Report:
    """Programs on nested sequences: `tilewright nested ACTION`, as in `nested("compile", "scan", output="folder")`."""
    return command("nested", action, *positional, **options)


def adaptive(action: str, *positional: Any, **options: Any) -> Report:
    """Choosing among implementations by their inputs: `tilewright adaptive ACTION`."""
    return command("adaptive", action, *positional, **options)


def machines() -> list[Machine]:
    """The shipped machines."""
    return [Machine(one.to_dict()) for one in command("list").machines]


def stencils() -> list[ShippedStencil]:
    """The shipped stencils."""
    return [ShippedStencil(one.to_dict()) for one in command("list").stencils]
