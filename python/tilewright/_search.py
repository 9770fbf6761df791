"""Searching the parameters of a Python function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from . import _tilewright
from .errors import WrongInput


@dataclass(frozen=True)
class Trial:
    """One configuration that was tried: how it ended (`ok`, `invalid`, `run-error`, ...), its metrics, and why it failed."""

    configuration: dict[str, Any]
    status: str
    metrics: dict[str, float]
    message: str


@dataclass(frozen=True)
class SearchResult:
    """What a search found: the best configuration and its value, `None` where every one failed, and all trials in order."""

    best: dict[str, Any] | None
    value: float | None
    trials: tuple[Trial, ...]

    def frame(self) -> Any:
        """The trials as a frame of pandas."""
        import pandas

        return pandas.DataFrame(
            [{**trial.configuration, "status": trial.status, **trial.metrics} for trial in self.trials]
        )


def search(
    function: Callable[[dict[str, Any]], Any],
    space: Mapping[str, Sequence[Any]],
    *,
    budget: int = 50,
    method: str = "surrogate",
    constraints: Sequence[str] = (),
    metric: str = "value",
    time_limit: float | None = None,
    seed: int = 1,
) -> SearchResult:
    """Looks for the configuration with the least value of `function`.

    `function` gets a dict with one value for each parameter of `space` and returns a number, a dict of numbers of which
    `metric` is minimised, or `None` where the configuration is not possible. What it raises is that configuration's
    failure; Ctrl-C ends the search. `method` is one of those of `tilewright search`; `constraints` are expressions such as
    `"block * rows <= 1024"`. At most `budget` configurations are tried, each once.
    """
    if not callable(function):
        raise WrongInput("a function was expected")
    if budget < 1:
        raise WrongInput("the budget must be at least 1")
    levels = [(str(name), list(values)) for name, values in space.items()]
    trials, best = _tilewright.search(
        function, levels, list(constraints), metric, method, int(budget), time_limit, int(seed)
    )
    found = tuple(Trial(*trial) for trial in trials)
    if best is None:
        return SearchResult(None, None, found)
    return SearchResult(found[best].configuration, found[best].metrics[metric], found)
