"""What a run is given, checked: every mistake of a caller ends here, with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._arrays import array_of, is_writeable, overlap, points_meet
from ._device_arrays import OnDevice
from ._signature import NAMES, Field, Signature
from .errors import WrongInput

MOST_STEPS = 10**12
MOST_THREADS = 4096
BACKENDS = ("openmp", "cuda", "emulator", "reference")
TILE_BY = ("auto", "model", "measure", "default")


@dataclass(frozen=True)
class Choice:
    """How a run is to be done; the options of `tilewright run`."""

    strategy: str
    tile: str | None
    machine: str | None
    threads: int | None
    tile_by: str
    calibrate: bool
    contract: bool


def choice(
    strategy: Any, tile: Any, machine: Any, threads: Any, tile_by: Any, calibrate: Any, contract: Any
) -> Choice:
    """The options, checked."""
    if tile_by not in TILE_BY:
        raise WrongInput(f"there is no tile_by {tile_by!r}", (f"there are {', '.join(TILE_BY)}",))
    for name, text in (("strategy", strategy), ("machine", machine), ("tile", tile)):
        if not isinstance(text, str) and (text is not None or name == "strategy") and not (name == "tile" and isinstance(text, Mapping)):
            raise WrongInput(f"{name} is {text!r:.200}, and a name was expected")
    if threads is not None:
        threads = whole(threads, "threads")
        if not 1 <= threads <= MOST_THREADS:
            raise WrongInput(f"threads is {threads}, and 1 to {MOST_THREADS} are possible")
    if isinstance(tile, Mapping):
        tile = ",".join(f"{name}={value}" for name, value in tile.items())
    for name, flag in (("calibrate", calibrate), ("contract", contract)):
        if not isinstance(flag, (bool, int)):
            raise WrongInput(f"{name} is {flag!r:.200}, and False or True was expected")
    return Choice(strategy, tile, machine, threads, tile_by, bool(calibrate), bool(contract))


def check_backend(backend: Any) -> None:
    """`None` is the backend of the arrays' place."""
    if backend is not None and backend not in BACKENDS:
        raise WrongInput(f"there is no backend {backend!r}", (f"there are {', '.join(BACKENDS)}",))


@dataclass(frozen=True)
class Given:
    """What a run is given. `arrays` are the fields as the user gives them, `levels` the initial levels of each, oldest first,
    `wanted` those of the result where `out` names them, `values` the parameters in order."""

    steps: int
    shape: tuple[int, ...]
    arrays: dict[str, Any]
    levels: dict[str, list[Any]]
    series: dict[str, Any]
    wanted: dict[str, list[Any]] | None
    values: list[float]

    def on_device(self) -> bool:
        """Whether any array of fields lies on a device."""
        lists = [*self.levels.values(), *([] if self.wanted is None else self.wanted.values())]
        return any(isinstance(one, OnDevice) for arrays in lists for one in arrays)


def given(signature: Signature, arrays: tuple[Any, ...], named: dict[str, Any], steps: Any, out: Any) -> Given:
    """What a run is given in order, by name and as `out`."""
    steps = whole(steps, "steps")
    if steps < 0:
        raise WrongInput(f"steps must not be negative, and is {steps}")
    if steps > MOST_STEPS:
        raise WrongInput(f"{steps} steps are more than {MOST_STEPS}")
    fields = signature.fields
    if len(arrays) > len(fields):
        raise WrongInput(f"{signature.name} has {len(fields)} field(s), and {len(arrays)} arrays were given")
    of_fields = {field.name: array for field, array in zip(fields, arrays)}
    named = dict(named)
    values = [number(named.pop(name, default), parameter(name)) for name, default in signature.parameters.items()]
    of_series: dict[str, Any] = {}
    for name in signature.series:
        if name not in named:
            raise WrongInput(f"the series {name} is missing", (f"{signature.name}.run(..., {name}=array)",))
        of_series[name] = named.pop(name)
    for field in fields:
        if field.name in named:
            if field.name in of_fields:
                raise WrongInput(f"{field.name} was given twice")
            of_fields[field.name] = named.pop(field.name)
        elif field.name not in of_fields:
            raise WrongInput(f"the field {field.name} is missing")
    if named:
        known = [*signature.parameters, *signature.series, *(field.name for field in fields)]
        raise WrongInput(f"{signature.name} has no `{next(iter(named))}`", (f"it has {', '.join(known)}",))
    levels = {field.name: levels_of(signature, field, of_fields[field.name]) for field in fields}
    shape = levels[fields[0].name][0].shape
    for field in fields:
        for array in levels[field.name]:
            if array.shape != shape:
                raise WrongInput(
                    f"{field.name} has shape {array.shape}, and {fields[0].name} has {shape}: all fields have one shape"
                )
    checked = {name: series_of(signature, name, array, steps) for name, array in of_series.items()}
    wanted = None if out is None else outputs(signature, out, levels, checked)
    return Given(steps, shape, of_fields, levels, checked, wanted, values)


def levels_of(signature: Signature, field: Field, array: Any) -> list[Any]:
    """The levels of a field, oldest first."""
    count = max(field.levels, 1)
    if isinstance(array, (tuple, list)):
        all_levels = list(array)
        if len(all_levels) != count:
            raise WrongInput(f"{field.name} has {count} initial level(s), and {len(all_levels)} were given")
    elif count > 1:
        whole_array = array_of(array, field.name)
        if whole_array.ndim != len(signature.indices) + 1 or whole_array.shape[0] != count:
            raise WrongInput(
                f"{field.name} starts from {count} levels: a tuple of {count} arrays, or one of shape "
                f"({count}, {', '.join('n' + str(d) for d in range(len(signature.indices)))}); "
                f"this one has shape {whole_array.shape}"
            )
        all_levels = [whole_array[number] for number in range(count)]
    else:
        all_levels = [array]
    return [_level(signature, field, one) for one in all_levels]


def _level(signature: Signature, field: Field, given: Any) -> Any:
    array, wanted, name = array_of(given, field.name), NAMES[field.dtype], field.name
    if array.dtype != wanted:
        load = f", or load the stencil with dtype={str(array.dtype)!r}" if array.dtype in NAMES.values() else ""
        raise WrongInput(
            f"{name} has elements of {array.dtype}, and {signature.name} computes in {wanted}",
            (f"convert it: {name}.astype({wanted!r}){load}",),
        )
    if array.ndim != len(signature.indices):
        raise WrongInput(
            f"{name} has {array.ndim} dimension(s), and {signature.name} has {len(signature.indices)} "
            f"({', '.join(signature.indices)})"
        )
    return array


def series_of(signature: Signature, name: str, given: Any, steps: int) -> Any:
    """The values of a series, one after the other."""
    import numpy as np

    array, wanted = array_of(given, name), NAMES[signature.series[name]]
    if array.dtype != wanted:
        raise WrongInput(f"{name} has elements of {array.dtype}, and is a series of {wanted}")
    length = steps + signature.series_more[name]
    if array.ndim != 1 or array.shape[0] < length:
        raise WrongInput(f"{steps} steps need {length} values of the series {name}, and it has shape {array.shape}")
    return array if isinstance(array, OnDevice) else np.ascontiguousarray(array)


def outputs(
    signature: Signature, out: Any, levels: dict[str, list[Any]], series: dict[str, Any]
) -> dict[str, list[Any]]:
    """The arrays that `out` names, level by level."""
    names = [field.name for field in signature.state]
    shape = levels[signature.fields[0].name][0].shape
    per_field = (out,) if len(names) == 1 and not isinstance(out, Mapping) else out
    if isinstance(per_field, Mapping) and set(per_field) == set(names):
        per_field = [per_field[name] for name in names]
    if not isinstance(per_field, (tuple, list)) or len(per_field) != len(names):
        raise WrongInput(f"out has the form of the result: one entry for each of {names}")
    found: dict[str, list[Any]] = {}
    all_arrays: list[Any] = []
    for field, own in zip(signature.state, per_field):
        arrays = levels_of(signature, field, own)
        for array in arrays:
            if array.shape != shape:
                raise WrongInput(f"out has shape {array.shape}, and {field.name} has {shape}")
            if not is_writeable(array):
                raise WrongInput(f"the array for {field.name} in out is read-only")
            if 0 not in shape and points_meet(array):
                raise WrongInput(f"the points of the array for {field.name} in out lie upon each other")
            if any(overlap(array, other) for other in all_arrays):
                raise WrongInput("two arrays of out overlap")
            all_arrays.append(array)
        found[field.name] = arrays
    for field in signature.fields:
        if not field.levels and any(overlap(array, levels[field.name][0]) for array in all_arrays):
            raise WrongInput(f"out overlaps the coefficient {field.name}")
    for name, values in series.items():
        if any(overlap(array, values) for array in all_arrays):
            raise WrongInput(f"out overlaps the series {name}")
    return found


def parameter(name: str) -> str:
    """What a message calls a parameter."""
    return f"the parameter {name}"


def whole(value: Any, name: str) -> int:
    """A whole number of Python's own."""
    try:
        return int(type(value).__index__(value))
    except (AttributeError, TypeError):
        raise WrongInput(f"{name} is {value!r:.200}, and must be a whole number") from None


def number(value: Any, name: str) -> float:
    """A number as one of Python's. Of NumPy's numbers and arrays, those of one real number."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    single = getattr(value, "shape", ()) == () and (kind is None or kind in "fiub")
    try:
        if not single or isinstance(value, (str, bytes, bytearray)) or not hasattr(value, "__float__"):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise WrongInput(f"{name} is {value!r:.200}, and must be a number") from None


def encodable(text: Any) -> str:
    """A text that is one: Python's may have halves of letters."""
    if not isinstance(text, str):
        raise WrongInput(f"a text was expected, and is a {type(text).__qualname__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise WrongInput(f"{text!r:.80} is no text in UTF-8") from None
    return text
