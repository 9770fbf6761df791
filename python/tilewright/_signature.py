"""What a stencil computes on: fields, series and parameters."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Mapping

f32 = "f32"
"""Single precision, as the annotation of a field."""
f64 = "f64"
"""Double precision, as the annotation of a field."""

NAMES = {"f32": "float32", "f64": "float64"}
"""NumPy's names of the types."""


@dataclass(frozen=True)
class Field:
    """A field of a stencil: its name, its type, how many time levels a run starts from (0 for a coefficient, which is read
    only) and how many are stored."""

    name: str
    dtype: str
    levels: int
    slots: int


@dataclass(frozen=True)
class Signature:
    """What a run is given. `series_more` are the values that a series has beside one for each step."""

    name: str
    indices: tuple[str, ...]
    fields: tuple[Field, ...]
    series: Mapping[str, str]
    series_more: Mapping[str, int]
    parameters: Mapping[str, float]

    @staticmethod
    def of(native: Any) -> Signature:
        """That of a program of the extension."""
        return Signature(
            native.name,
            tuple(native.indices),
            tuple(Field(*one) for one in native.fields),
            MappingProxyType({name: dtype for name, dtype, _ in native.series}),
            MappingProxyType({name: more for name, _, more in native.series}),
            MappingProxyType(dict(native.parameters)),
        )

    @cached_property
    def state(self) -> tuple[Field, ...]:
        """The fields that change."""
        return tuple(field for field in self.fields if field.levels)

    @cached_property
    def result(self) -> Any:
        """The named tuple of the newest values of the fields that change."""
        return named_results(tuple(field.name for field in self.state))


def named_results(names: tuple[str, ...]) -> Any:
    """A named tuple for results of these names, which pickle finds again."""
    # What it is depends on the names, and no checker of types follows it.
    make: Any = namedtuple
    made = make("Fields", names, rename=True)
    made.__reduce__ = lambda one: (_again, (names, *one))
    return made


def _again(names: tuple[str, ...], *values: Any) -> Any:
    return named_results(names)(*values)
