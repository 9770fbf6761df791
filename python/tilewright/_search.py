"""Searching the parameters of a Python function or of a command, and files of trials."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence

from . import _tilewright
from ._arguments import number, whole
from ._command import command
from ._display import table
from .errors import Infeasible, WrongInput

FORMATS = {".csv": "csv", ".cache.json": "kernel-tuner", ".json": "t4"}
"""Formats of files by how their names end; the first one that fits."""

MOST_LEVELS = 1 << 20
"""Levels that a parameter may have."""

INVALIDITY = {
    "correct": "ok",
    "constraints": "invalid",
    "compile": "compile-error",
    "runtime": "run-error",
    "correctness": "wrong-result",
    "timeout": "timeout",
}
"""How trials ended, by the words of T4."""


@dataclass(frozen=True)
class Trial:
    """One configuration that was tried: how it ended (`ok`, `invalid`, `run-error`, ...), its metrics, and why it failed."""

    configuration: dict[str, Any]
    status: str
    metrics: dict[str, float]
    message: str


@dataclass(frozen=True)
class SearchResult:
    """What a search found: the best configuration and its value, `None` where every one failed, and all trials in order.
    `metric` is what was minimised; `kernel` and `device` are what a file says of them."""

    best: dict[str, Any] | None
    value: float | None
    trials: tuple[Trial, ...]
    metric: str = "value"
    kernel: str = field(default="", repr=False)
    device: str = field(default="", repr=False)

    def frame(self) -> Any:
        """The trials as a frame of pandas."""
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pandas.DataFrame(
            [{**trial.configuration, "status": trial.status, **trial.metrics} for trial in self.trials]
        )

    def save(self, path: str | os.PathLike[str], *, kernel: str | None = None, device: str | None = None) -> None:
        """Writes the trials into a file: a cache of Kernel Tuner where the name ends in `.cache.json`, T4 in `.json`, or `.csv`.

        Kernel Tuner takes the metric `time` for milliseconds; its simulation mode replays such a file with the same `kernel`.
        """
        name = os.fspath(path)
        for end, file_format in FORMATS.items():
            if name.endswith(end):
                break
        else:
            raise WrongInput(f"{name} ends in none of {', '.join(FORMATS)}, so that the format is not known")
        trials = [(trial.configuration, trial.status, trial.metrics, trial.message) for trial in self.trials]
        if not trials:
            raise WrongInput("there are no trials to write")
        kernel = self.kernel if kernel is None else kernel
        device = self.device if device is None else device
        _tilewright.record(name, file_format, trials, self.metric, kernel, device)

    def _file_in(self, folder: str) -> str:
        path = Path(folder) / "trials.json"
        self.save(path)
        return str(path)

    def _repr_html_(self) -> str:
        best = "every configuration failed"
        if self.best is not None:
            pairs = ", ".join(f"{name} = {value!r}" for name, value in self.best.items())
            best = f"<b>{escape(self.metric)} {self.value:g}</b> at {escape(pairs)}"
        of_least = sorted(self.trials, key=lambda one: (one.status != "ok", one.metrics.get(self.metric, 0)))
        rows = [{**one.configuration, "status": one.status, **one.metrics} for one in of_least]
        return f"<p>{best}, of {len(self.trials)} trials</p>{table(rows)}"


def trials(path: str | os.PathLike[str], *, metric: str | None = None) -> SearchResult:
    """The trials of a file: a cache of Kernel Tuner, T4, CSV, or a store of ours; plain or packed by gzip.

    `metric` is what counts; where none is given, what the file says. Numbers are in the file's units.
    """
    found, kernel, device, all_trials = _tilewright.recorded(os.fspath(path), metric)
    if not all_trials:
        raise WrongInput(f"{os.fspath(path)} has no trials")
    return _result([Trial(*trial) for trial in all_trials], found, kernel, device)


def search(
    function: Callable[[dict[str, Any]], Any] | str,
    space: Mapping[str, Sequence[Any]],
    *,
    budget: int = 50,
    method: str = "surrogate",
    constraints: Sequence[str] = (),
    metric: str = "value",
    time_limit: float | None = None,
    seed: int = 1,
    timeout: float = 60,
) -> SearchResult:
    """Looks for the configuration with the least value of a function, or of a command.

    `function` gets a dict with one value for each parameter of `space` and returns a number, a dict of numbers of which
    `metric` is minimised, or `None` where the configuration is not possible. What it raises is that configuration's
    failure; Ctrl-C ends the search. `method` is one of those of `tilewright search`; `constraints` are expressions such as
    `"block * rows <= 1024"`. At most `budget` configurations are tried, each once, and none is begun after `time_limit` seconds.

    A string is a command for the shell, as `tilewright search --command` takes it: `{name}` stands for a value, and the last
    line of its output is a number, or JSON with metrics. It is ended after `timeout` seconds.
    """
    if not isinstance(function, str) and not callable(function):
        raise WrongInput("a function was expected, or a command")
    budget, seed = whole(budget, "the budget"), whole(seed, "the seed")
    if not 1 <= budget < 2**63:
        raise WrongInput("the budget must be at least 1")
    if not 0 <= seed < 2**64:
        raise WrongInput(f"the seed is {seed}, and has 64 bits and no sign")
    for what, text in (("method", method), ("metric", metric)):
        if not isinstance(text, str):
            raise WrongInput(f"the {what} is {text!r}, and a name was expected")
    time_limit = None if time_limit is None else number(time_limit, "time_limit")
    timeout = number(timeout, "timeout")
    if isinstance(constraints, str):
        raise WrongInput("constraints are a list of expressions", (f"constraints=[{constraints!r}]",))
    constraints = list(constraints) if isinstance(constraints, Iterable) else [constraints]
    if not all(isinstance(one, str) for one in constraints):
        raise WrongInput(f"constraints are a list of expressions, and one of {constraints!r} is no text")
    if not isinstance(space, Mapping) or not all(isinstance(one, Iterable) for one in space.values()):
        raise WrongInput("the space is a mapping of names to the values that each may have", ('{"block": [32, 64]}',))
    if time_limit is not None and not 0 <= time_limit < 1e9:
        raise WrongInput(f"the time limit is {time_limit!r}")
    if not 0 < timeout < 1e9:
        raise WrongInput(f"the timeout is {timeout!r}")
    # The extension tells what has too many levels: no more of them are taken, of which there may be no end.
    some = {str(name): islice(values, MOST_LEVELS + 1) for name, values in space.items()}
    levels = [(name, [_level(name, value) for value in values]) for name, values in some.items()]
    if isinstance(function, str):
        return _search_command(function, levels, budget, method, constraints, metric, time_limit, seed, timeout)
    running = _tilewright.Search(levels, constraints, metric, method, budget, time_limit, seed)
    process = os.getpid()
    while (configuration := running.next()) is not None:
        outcome = _outcome(function, configuration, metric)
        if os.getpid() != process:
            raise Infeasible("the function has forked this process, and the search goes on in the other one")
        running.tell(*outcome)
    tried, best = running.result()
    found = tuple(Trial(*trial) for trial in tried)
    if best is None:
        return SearchResult(None, None, found, metric)
    return SearchResult(found[best].configuration, found[best].metrics[metric], found, metric)


def _outcome(
    function: Callable[[dict[str, Any]], Any], configuration: dict[str, Any], metric: str
) -> tuple[str, dict[str, float], str]:
    """How a configuration ended: what it raises is its failure; what is no `Exception` ends the search."""
    try:
        found = function(configuration)
        if found is None:
            return "invalid", {}, "the function returned None"
        several = found if isinstance(found, Mapping) else {metric: found}
        metrics = {str(name): number(value, str(name)) for name, value in several.items()}
        if metric not in metrics:
            raise ValueError(f"the function returned no {metric!r}")
    except Exception as error:
        return "run-error", {}, f"{type(error).__name__}: {error}"
    for name, value in metrics.items():
        if not isfinite(value):
            return "wrong-result", {}, f"{name} is {value}"
    return "ok", metrics, ""


def _level(name: str, value: Any) -> bool | int | float | str:
    """A value of a parameter as one of Python's own: NumPy's numbers are."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    for plain in (int, float, str):
        # Enumerations and the like are what they are made of.
        if isinstance(value, plain):
            value = plain(value)
            if plain is int and not -(2**63) <= value < 2**63:
                raise WrongInput(f"{value}, a value of {name}, has more than 64 bits")
            return value
    raise WrongInput(f"{value!r}, a value of {name}, is neither a number nor a boolean nor a text")


def _search_command(
    line: str,
    levels: list[tuple[str, list[Any]]],
    budget: int,
    method: str,
    constraints: Sequence[str],
    metric: str,
    time_limit: float | None,
    seed: int,
    timeout: float,
) -> SearchResult:
    types = {bool: "bool", int: "int", float: "float", str: "string"}
    listed = [{"Name": name, "Type": types[type(own[0])] if own else "int", "Values": own} for name, own in levels]
    with tempfile.TemporaryDirectory() as folder:
        space, file = Path(folder) / "space.json", Path(folder) / "trials.json"
        problem = {"General": {"BenchmarkName": "command"}, "ConfigurationSpace": {"TuningParameters": listed}}
        space.write_text(json.dumps(problem), encoding="utf-8")
        report = command(
            "search",
            space=space,
            command=line,
            budget=budget,
            method=method,
            where=list(constraints),
            response=None if metric == "value" else metric,
            time_limit=None if time_limit is None else max(1, round(time_limit)),
            seed=seed,
            timeout=max(1, round(timeout)),
            export=file,
        )
        document = json.loads(file.read_text(encoding="utf-8"))
    found = [_of_t4(result, [name for name, _ in levels]) for result in document["results"]]
    return _result(found, report["response"], line, document["metadata"]["device"])


def _of_t4(result: dict[str, Any], names: list[str]) -> Trial:
    """A result as the command writes it; what failed has a text in place of a number."""
    metrics = {one["name"]: one["value"] for one in result["measurements"] if not isinstance(one["value"], str)}
    message = "".join(one["value"] for one in result["measurements"] if isinstance(one["value"], str))
    configuration = {name: result["configuration"][name] for name in names}
    return Trial(configuration, INVALIDITY[result["invalidity"]], metrics, message)


def _result(found: list[Trial], metric: str, kernel: str, device: str) -> SearchResult:
    good = [trial for trial in found if trial.status == "ok" and metric in trial.metrics]
    if not good:
        return SearchResult(None, None, tuple(found), metric, kernel, device)
    best = min(good, key=lambda trial: trial.metrics[metric])
    return SearchResult(best.configuration, best.metrics[metric], tuple(found), metric, kernel, device)
