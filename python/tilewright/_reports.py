"""What commands find, as objects: the keys of their JSON documents are attributes, and the most used ones have types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ._display import Drawing, is_table, pairs


class Report(Mapping[str, Any]):
    """What a command found: a mapping with the keys of its JSON document, which are attributes, too.

    `drawing` is what the command draws with `--svg`, where it draws; notebooks show it above the values.
    """

    def __init__(self, data: dict[str, Any], drawing: Drawing | None = None) -> None:
        self._data = data
        self.drawing = drawing

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

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return self._data

    def frame(self, key: str | None = None) -> Any:
        """The list of records under `key` as a frame of pandas; without a key the only such list."""
        import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

        if key is None:
            lists = [name for name, value in self._data.items() if is_table(value)]
            if len(lists) != 1:
                raise KeyError(f"name one of the tables {lists}")
            key = lists[0]
        return pandas.json_normalize(self._data[key])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({json.dumps(self._data, indent=2)})"

    def _repr_html_(self) -> str:
        drawn = self.drawing._repr_html_() if self.drawing else ""
        return drawn + pairs(self._data)


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return Report(value)
    if isinstance(value, list):
        return [_seen(one) for one in value]
    return value


class Analysis(Report):
    """What `analyze` found; it draws the tiles."""

    stencil: str
    description: str
    dimension: int
    statements: int
    flops: int
    bytes: int
    intensity: float
    dependences: list[Report]
    strategy: str
    tile: Report
    tile_text: str
    legal: bool


class Compilation(Report):
    """What `compile` wrote."""

    directory: str
    files: list[str]
    chosen_by: str
    notes: list[str]


class Prediction(Report):
    """What `predict` found; it draws where the time goes."""

    stencil: str
    machine: str
    strategy: str
    tile: Report
    tile_text: str
    size: list[int]
    steps: int
    seconds: float
    joules: float | None
    watts: float | None
    gstencil_per_s: float
    feasible: bool
    constraints: list[Report]
    notes: list[str]


class Tuning(Report):
    """What `tune` found."""

    stencil: str
    machine: str
    strategy: str
    tile: Report
    tile_text: str
    size: list[int]
    steps: int
    seconds: float
    joules: float | None
    watts: float | None
    objective: str
    value: float
    optimal: bool
    bound: float | None
    evaluated: int
    candidates: int
    elapsed_s: float


class Calibration(Report):
    """What `calibrate` measured."""

    file: str
    backend: str
    machine: str
    stencils: list[Report]
    elapsed_s: float
    notes: list[str]


class Validation(Report):
    """What `validate` found."""

    stencil: str
    machine: str
    backend: str
    size: list[int]
    steps: int
    tiles: list[Report]
    fit: Report
    notes: list[str]


class Codesign(Report):
    """What `codesign` found."""

    elapsed_s: float
    files: list[str]


class Front(Report):
    """What `pareto` found; it draws the rows and the front."""

    rows: int
    pareto: list[Report]
    dominated: int
    knee: Report | None
    skipped: list[Report]


class Explanation(Report):
    """What `explain` found; it draws the tree."""

    title: str
    trials: int
    metric: str
    leaves: int


class Machine(Report):
    """A shipped machine; commands take it as `machine`."""

    name: str
    description: str

    def _file_in(self, folder: str) -> str:
        return self.name


class ShippedStencil(Report):
    """A shipped stencil; commands take it as a stencil."""

    name: str
    dimension: int
    fields: list[str]
    coefficients: list[str]
    parameters: list[str]
    statements: int
    description: str

    def _file_in(self, folder: str) -> str:
        return self.name
