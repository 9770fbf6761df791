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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ._stencil import Stencil
from .errors import Internal, of_kind


class Report(Mapping[str, Any]):
    """What a command found: a mapping with the keys of its JSON document, which are attributes, too."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return _seen(self._data[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_data" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{self._data.get('schema', 'the report')} has no `{name}`") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __getstate__(self) -> dict[str, Any]:
        return self._data

    def __setstate__(self, data: dict[str, Any]) -> None:
        self._data = data

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return self._data

    def frame(self, key: str | None = None) -> Any:
        """The list of records under `key` as a frame of pandas; without a key the only such list."""
        import pandas

        if key is None:
            lists = [name for name, value in self._data.items() if _is_table(value)]
            if len(lists) != 1:
                raise KeyError(f"name one of the tables {lists}")
            key = lists[0]
        return pandas.json_normalize(self._data[key])

    def __repr__(self) -> str:
        return f"Report({json.dumps(self._data, indent=2)})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th>{escape(str(key))}</th><td>{escape(_short(value))}</td></tr>" for key, value in self._data.items()
        )
        return f"<table>{rows}</table>"


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:197] + "..."


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return Report(value)
    if isinstance(value, list):
        return [_seen(one) for one in value]
    return value


def command(name: str, *positional: Any, **options: Any) -> Report:
    """Runs `tilewright NAME POSITIONAL... --OPTION VALUE...` and returns its JSON document.

    Underscores of options are hyphens; `True` is an option without a value, `False` and `None` leave it out; a list gives
    it several times; a tuple of integers is a size, a mapping `name=value` pairs.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [name, *(_word(one, folder) for one in positional)]
        for key, value in options.items():
            option = "--" + key.rstrip("_").replace("_", "-")
            for one in value if isinstance(value, list) else [value]:
                if one is True:
                    words.append(option)
                elif one is not None and one is not False:
                    words += [option, _word(one, folder)]
        return _run([*words, "--json"])


class Drawing:
    """A drawing in SVG, which notebooks show."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it into a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<drawing, {len(self.svg)} bytes of SVG>"


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
        path.write_text(value.text)
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


def analyze(spec: Any, **options: Any) -> Report:
    """Dependences, cone and counts of a stencil: `tilewright analyze`."""
    return command("analyze", spec, **options)


def compile(spec: Any, output: Any, **options: Any) -> Report:
    """C or CUDA for projects, written into the folder `output`: `tilewright compile`."""
    return command("compile", spec, output=output, **options)


def predict(spec: Any, **options: Any) -> Report:
    """Time and energy of a tile on a machine by the models: `tilewright predict`."""
    return command("predict", spec, **options)


def tune(spec: Any, **options: Any) -> Report:
    """The best tile for a machine: `tilewright tune`."""
    return command("tune", spec, **options)


def calibrate(**options: Any) -> Report:
    """Measures this machine: `tilewright calibrate`."""
    return command("calibrate", **options)


def validate(spec: Any, **options: Any) -> Report:
    """Predictions beside measured runs: `tilewright validate`."""
    return command("validate", spec, **options)


def codesign(study: Any, **options: Any) -> Report:
    """A sweep of architectures: `tilewright codesign`."""
    return command("codesign", study, **options)


def pareto(results: Any, **options: Any) -> Report:
    """The front of a sweep: `tilewright pareto`."""
    return command("pareto", results, **options)


def explain(trials: Any, **options: Any) -> Report:
    """Which parameters matter in recorded trials: `tilewright explain`."""
    return command("explain", trials, **options)


def machines() -> list[Report]:
    """The shipped machines."""
    return command("list").machines


def stencils() -> list[Report]:
    """The shipped stencils."""
    return command("list").stencils
