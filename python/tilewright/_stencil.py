"""Stencils that run on arrays: of NumPy, or on a device."""

from __future__ import annotations

import os
import threading
import warnings
from collections import namedtuple
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import _devices, _tilewright
from ._devices import OnDevice
from .errors import Infeasible, WrongInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

f32 = "f32"
"""Single precision, as the annotation of a field."""
f64 = "f64"
"""Double precision, as the annotation of a field."""

MOST_STEPS = 10**12
BACKENDS = ("openmp", "cuda", "emulator", "reference")
TILE_BY = ("auto", "model", "measure", "default")
# New arrays of at most so many bytes have no gaps.
SMALL = 1 << 20
# Arrays of so many bytes are copied by several threads.
PARALLEL_COPY = 1 << 23
NAMES = {"f32": "float32", "f64": "float64"}

# OpenMP's threads do not survive a fork, and what waits for them waits for ever.
_parallel_calls = 0
_forked_after_parallel_calls = False


def _after_fork() -> None:
    global _forked_after_parallel_calls
    _forked_after_parallel_calls = _forked_after_parallel_calls or _parallel_calls > 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class Field:
    """A field of a stencil: its name, its type, how many time levels a run starts from (0 for a coefficient, which is read
    only) and how many are stored."""

    name: str
    dtype: str
    levels: int
    slots: int


@dataclass(frozen=True)
class RunInfo:
    """How the last run of this thread was done: what was chosen, and which arrays were copied, and why."""

    backend: str
    strategy: str | None
    tile: str | None
    notes: tuple[str, ...]
    copied: tuple[str, ...]


class Stencil:
    """A stencil program.

    Made by `tilewright.stencil`. `run` computes time steps on arrays.
    """

    def __init__(self, native: Any, reduced: tuple[Any, ...]) -> None:
        self._native = native
        self._reduced = reduced
        self._built: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()
        self._local = threading.local()
        self.name: str = native.name
        self.description: str = native.description
        self.indices: tuple[str, ...] = tuple(native.indices)
        self.fields: tuple[Field, ...] = tuple(Field(*one) for one in native.fields)
        self.series: dict[str, str] = {name: dtype for name, dtype, _ in native.series}
        self.parameters: dict[str, float] = dict(native.parameters)
        self.text: str = native.text
        self._series_more = {name: more for name, _, more in native.series}
        state = [field for field in self.fields if field.levels]
        self._simple = len(self.fields) == 1 and state[0].levels == 1 and state[0].slots == 2 and not self.series
        self._values = list(self.parameters.values())
        self._state = state
        self._result = _fields(tuple(field.name for field in state))

    @property
    def dimension(self) -> int:
        """Number of space dimensions, 1 to 3."""
        return len(self.indices)

    @property
    def last(self) -> RunInfo | None:
        """How the last run in this thread was done."""
        return getattr(self._local, "last", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, self._reduced

    def __repr__(self) -> str:
        fields = ", ".join(f"{field.name}: {field.dtype}" for field in self.fields)
        return f"<tilewright stencil {self.name}({', '.join(self.indices)}) on {fields}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<b>{escape(self.name)}</b>: {escape(self.description)}<pre>{escape(self.text)}</pre>"

    # Arrays.

    def empty(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> np.ndarray:
        """An array without values whose rows lie so that they suit the caches; it has gaps between its rows."""
        import numpy as np

        if dtype is None:
            dtype = NAMES[self.fields[0].dtype]
        element = np.dtype(dtype)
        shape = tuple(_whole(extent, "an extent") for extent in shape)
        if not shape or 0 in shape:
            return np.empty(shape, element)
        strides, length = self._native.padded(list(shape))
        # Rows begin at cache lines.
        raw = np.empty(length * element.itemsize + 64, np.uint8)
        start = -raw.ctypes.data % 64
        flat = raw[start : start + length * element.itemsize].view(element)
        return np.lib.stride_tricks.as_strided(flat, shape, [stride * element.itemsize for stride in strides])

    def zeros(self, shape: Sequence[int], dtype: DTypeLike | None = None) -> np.ndarray:
        """`empty`, filled with zeros."""
        array = self.empty(shape, dtype)
        array[...] = 0
        return array

    # Running.

    def run(
        self,
        *arrays: Any,
        steps: int,
        out: Any = None,
        backend: str | None = None,
        strategy: str = "auto",
        tile: str | Mapping[str, int] | None = None,
        threads: int | None = None,
        machine: str | None = None,
        tile_by: str = "auto",
        calibrate: bool = True,
        contract: bool = False,
        **named: Any,
    ) -> Any:
        """Computes `steps` time steps and returns the newest values of all fields that change.

        Fields are given in order, or by name, as arrays of one shape and of their own type; coefficients and series
        likewise, parameters by name. A field that needs several initial levels takes a tuple of arrays, oldest first, or
        one array with the levels along a first axis of its own, and is returned in the same form.

        What is returned are new arrays; their rows may have gaps (see `empty`). With `out`, in the form of the result, the
        result is written there instead; the arrays of `out` may be those that the run starts from. Types are never
        converted: an array of another type is an error. What had to be copied stands in `last.copied`.

        Arrays of CuPy, PyTorch and Numba on a device, and whatever has `__cuda_array_interface__` or `__dlpack__`, are computed
        there, after what their streams were given, and the result is an array of the same library; it is there when the
        call returns. Others than those of the three libraries need `out`.

        Code is compiled at the first call for a shape and kept. `backend` is `openmp`, `cuda`, `emulator` or `reference`, where
        none is given that of the arrays' place: `openmp` or `cuda`. `cuda` copies arrays of NumPy to the first device and back;
        `threads`, `strategy`, `tile`, `machine`, `tile_by` (`auto`, `model`, `measure`, `default`) and `contract` are those
        of the command `tilewright run`.

        Other Python threads run meanwhile. Ctrl-C ends a run within two seconds; the arrays of `out` then hold values after some
        number of steps, and of several levels any may be in any of them. No other thread may write to the arrays during a run.
        """
        import numpy as np

        on_host = backend is None or backend == "openmp"
        if self._simple and on_host and len(arrays) == 1 and tile.__class__ is not dict:
            how = (strategy, tile, machine, threads, tile_by, calibrate, contract, 0)
            found = self._run_again(arrays[0], steps, out, how, named)
            if found is not None:
                return found
        if self._native.is_c:
            raise Infeasible(
                "a C program's loops run on the program's own arrays", ("rewrite it with `tilewright compile prog.c`",)
            )
        if not self._native.fixed_boundary:
            raise Infeasible(
                f"{self.name} has `boundary per_slot`: its edges are what each stored level holds, and a run starts from fewer levels",
                ("leave the boundary out: then edges keep the newest level's values",),
            )
        for given_name, value, choices in (("backend", backend, BACKENDS), ("tile_by", tile_by, TILE_BY)):
            if value not in choices and not (value is None and given_name == "backend"):
                raise WrongInput(f"there is no {given_name} {value!r}", (f"there are {', '.join(choices)}",))
        for given_name, text in (("strategy", strategy), ("machine", machine), ("tile", tile)):
            if not isinstance(text, str) and (text is not None or given_name == "strategy") and not isinstance(text, Mapping):
                raise WrongInput(f"{given_name} is {text!r}, and a name was expected")
        steps = _whole(steps, "steps")
        if steps < 0:
            raise WrongInput(f"steps must not be negative, and is {steps}")
        if steps > MOST_STEPS:
            raise WrongInput(f"{steps} steps are more than {MOST_STEPS}")
        if len(arrays) > len(self.fields):
            raise WrongInput(f"{self.name} has {len(self.fields)} field(s), and {len(arrays)} arrays were given")
        given: dict[str, Any] = {}
        for field, array in zip(self.fields, arrays):
            given[field.name] = array
        values = []
        for name, default in self.parameters.items():
            values.append(_number(named.pop(name, default), name))
        series: dict[str, Any] = {}
        for name in self.series:
            if name not in named:
                raise WrongInput(f"the series {name} is missing", (f"{self.name}.run(..., {name}=array)",))
            series[name] = named.pop(name)
        for field in self.fields:
            if field.name in named:
                if field.name in given:
                    raise WrongInput(f"{field.name} was given twice")
                given[field.name] = named.pop(field.name)
            elif field.name not in given:
                raise WrongInput(f"the field {field.name} is missing")
        if named:
            known = [*self.parameters, *self.series, *(field.name for field in self.fields)]
            raise WrongInput(f"{self.name} has no `{next(iter(named))}`", (f"it has {', '.join(known)}",))
        if threads is not None:
            threads = _whole(threads, "threads")
            if not 1 <= threads <= 4096:
                raise WrongInput(f"threads is {threads}")

        # Levels of each field, oldest first.
        levels = {field.name: self._levels(field, given[field.name]) for field in self.fields}
        first = self.fields[0].name
        shape = levels[first][0].shape
        for field in self.fields:
            for array in levels[field.name]:
                if array.shape != shape:
                    raise WrongInput(
                        f"{field.name} has shape {array.shape}, and {first} has {shape}: all fields have one shape"
                    )
        checked = {name: self._series_of(name, array, steps) for name, array in series.items()}
        wanted = None if out is None else self._outputs(out, given, checked, shape)
        lists = [*levels.values(), *([] if wanted is None else wanted.values())]
        on_device = any(isinstance(one, OnDevice) for arrays in lists for one in arrays)
        if 0 in shape:
            same = {field.name: given[field.name] if on_device else levels[field.name] for field in self._state}
            return self._returned(out, given, same, on_device)
        choice = (strategy, _tile_text(tile), machine, threads, tile_by, calibrate, contract)
        if on_device:
            if backend not in (None, "cuda"):
                raise WrongInput(
                    f"{first} lies on a device, and the backend {backend} computes in the host's memory",
                    ("leave out backend=, or pass an array of NumPy, as by cupy.asnumpy",),
                )
            self._threads(threads, "cuda")
            device, plan = _devices.plan(self, given, levels, checked, wanted, steps)
            built, _ = self._ready("cuda", shape, steps, *choice, device)
            built.run_on_device(plan, list(shape), steps, values, sorted(plan.memory.streams))
            self._local.last = RunInfo("cuda", built.strategy, built.tile, tuple(built.notes), tuple(plan.copied))
            return self._returned(out, given, plan.results, on_device)
        backend = backend or "openmp"
        for name, values_of in checked.items():
            if isinstance(values_of, OnDevice):
                raise WrongInput(f"the series {name} lies on a device, and {first} in the host's memory")

        built, in_place = self._ready(backend, shape, steps, *choice, 0)
        copied: list[str] = []
        if backend == "cuda":
            copied += [f"{field.name}: to the device{' and back' if field.levels else ''}" for field in self.fields]
        strides = self._strides(np, shape, wanted, levels, in_place)
        new: Callable[[Any], Any]
        if strides is None:
            strides = tuple(self._native.padded(list(shape))[0][:-1])

            def new(dtype: Any) -> Any:
                return self.empty(shape, dtype)
        else:

            def new(dtype: Any) -> Any:
                return _like(np, shape, strides, dtype)

        # Which array is which slot: the newest levels after the last step lie in the arrays of the result.
        slots: list[Any] = []
        results: dict[str, list[Any]] = {}
        late: list[tuple[Any, Any]] = []
        places: list[tuple[Any, Any]] = []
        for field in self.fields:
            dtype = np.dtype(NAMES[field.dtype])
            starts = levels[field.name]
            if not field.levels:
                if _strides_of(starts[0]) == strides:
                    slots.append(starts[0])
                else:
                    copied.append(f"{field.name}: its rows lie otherwise than those of the other fields")
                    own = new(dtype)
                    own[...] = starts[0]
                    slots.append(own)
                continue
            of_field: list[Any] = [None] * field.slots
            results[field.name] = []
            for number in range(field.levels):
                slot = (steps + number) % field.slots
                target = None if wanted is None else wanted[field.name][number]
                if target is None or _strides_of(target) != strides:
                    array = new(dtype)
                    if target is not None:
                        copied.append(f"{field.name}: `out` has other strides")
                        late.append((target, array))
                else:
                    array = target
                of_field[slot] = array
                results[field.name].append(array if target is None else target)
            of_field = [new(dtype) if array is None else array for array in of_field]
            places += zip(starts, of_field)
            slots.extend(of_field)
        # What the place of another level, of whatever field, overwrites is kept apart first.
        filled: list[Any] = []
        for number, (start, place) in enumerate(places):
            if not _same(place, start):
                if any(np.may_share_memory(one, start) for one in (*filled, place)):
                    places[number] = start.copy(), place
                filled.append(place)
        for start, place in places:
            if not _same(place, start):
                _copy(np, place, start, threads)
        used = self._threads(threads, backend)
        built.run(slots, list(checked.values()), list(shape), list(strides), steps, values, used)
        for target, array in late:
            target[...] = array
        self._local.last = RunInfo(backend, built.strategy, built.tile, tuple(built.notes), tuple(copied))
        return self._returned(out, given, results, on_device)

    __call__ = run

    def _run_again(self, u: Any, steps: Any, out: Any, how: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The usual case, for small grids in a loop: code that is there already, and two arrays without gaps. Whatever is
        unusual is left to `run`: then this is `None`, and nothing is changed."""
        import numpy as np

        if type(u) is not np.ndarray or type(steps) is not int or steps < 0:
            return None
        # Gaps between the rows of new arrays are for large ones.
        if type(out) is not np.ndarray and (out is not None or u.nbytes > SMALL):
            return None
        try:
            built = self._built.get(("openmp", u.shape, min(max(steps, 1).bit_length(), 10), *how))
        except TypeError:
            # Nothing that a choice can be.
            return None
        if built is None or not built.in_place or _forked_after_parallel_calls:
            return None
        dtype = NAMES[self.fields[0].dtype]
        # Without gaps, aligned, in this machine's order of bytes; `u` may be read-only.
        if not u.flags.c_contiguous or not u.flags.aligned or u.dtype != dtype or 0 in u.shape or 1 in u.shape:
            return None
        if out is None:
            out = np.empty(u.shape, dtype)
        elif not out.flags.carray or u.shape != out.shape or out.dtype != dtype:
            return None
        elif u is not out and np.may_share_memory(u, out):
            return None
        values = self._values
        if named:
            if not named.keys() <= self.parameters.keys():
                return None
            values = [_number(named.get(name, default), name) for name, default in self.parameters.items()]
        other = np.empty(u.shape, dtype)
        slots = [other, out] if steps % 2 else [out, other]
        if slots[0] is not u:
            _copy(np, slots[0], u, how[3])
        item = u.itemsize
        strides = [stride // item for stride in u.strides[:-1]]
        threads = how[3]
        if threads != 1:
            threads = self._threads(threads, "openmp")
        built.run(slots, [], list(u.shape), strides, steps, values, threads)
        self._local.last = RunInfo("openmp", built.strategy, built.tile, tuple(built.notes), ())
        return out

    def _threads(self, threads: int | None, backend: str) -> int | None:
        """How many threads compute."""
        global _parallel_calls
        if backend != "openmp":
            if _forked_after_parallel_calls:
                raise Infeasible(
                    "this process was forked from one that had started threads, which do not exist here",
                    ('start processes by multiprocessing.get_context("spawn")',),
                )
            _parallel_calls += 1
            return threads
        if _forked_after_parallel_calls and threads != 1:
            if threads is not None:
                raise Infeasible(
                    "this process was forked from one that had computed in parallel: only one thread can compute here",
                    ('start processes by multiprocessing.get_context("spawn"), or compute with threads=1',),
                )
            warnings.warn(
                "forked from a process that had computed in parallel: one thread computes", RuntimeWarning, stacklevel=4
            )
            return 1
        if threads != 1:
            _parallel_calls += 1
        return threads

    def _levels(self, field: Field, given: Any) -> list[Any]:
        """The initial levels of a field, checked."""
        count = max(field.levels, 1)
        if isinstance(given, (tuple, list)):
            all_levels = list(given)
            if len(all_levels) != count:
                raise WrongInput(f"{field.name} has {count} initial level(s), and {len(all_levels)} were given")
        elif count > 1:
            array = _array(given, field.name)
            if array.ndim != self.dimension + 1 or array.shape[0] != count:
                raise WrongInput(
                    f"{field.name} starts from {count} levels: a tuple of {count} arrays, or one of shape "
                    f"({count}, {', '.join('n' + str(d) for d in range(self.dimension))}); this one has shape {array.shape}"
                )
            all_levels = [array[number] for number in range(count)]
        else:
            all_levels = [given]
        return [self._checked(field.name, field.dtype, one) for one in all_levels]

    def _checked(self, name: str, dtype: str, given: Any) -> Any:
        array = _array(given, name)
        if array.dtype != NAMES[dtype]:
            load = f", or load the stencil with dtype={str(array.dtype)!r}" if array.dtype in NAMES.values() else ""
            raise WrongInput(
                f"{name} has elements of {array.dtype}, and {self.name} computes in {NAMES[dtype]}",
                (f"convert it: {name}.astype({NAMES[dtype]!r}){load}",),
            )
        if array.ndim != self.dimension:
            raise WrongInput(
                f"{name} has {array.ndim} dimension(s), and {self.name} has {self.dimension} ({', '.join(self.indices)})"
            )
        return array

    def _series_of(self, name: str, given: Any, steps: int) -> Any:
        import numpy as np

        array = _array(given, name)
        if array.dtype != NAMES[self.series[name]]:
            raise WrongInput(f"{name} has elements of {array.dtype}, and is a series of {NAMES[self.series[name]]}")
        length = steps + self._series_more[name]
        if array.ndim != 1 or array.shape[0] < length:
            raise WrongInput(f"{steps} steps need {length} values of the series {name}, and it has shape {array.shape}")
        return array if isinstance(array, OnDevice) else np.ascontiguousarray(array)

    def _outputs(
        self, out: Any, given: dict[str, Any], series: dict[str, Any], shape: tuple[int, ...]
    ) -> dict[str, list[Any]]:
        """The arrays that `out` names, level by level."""
        per_field = (out,) if len(self._state) == 1 else out
        if isinstance(per_field, Mapping):
            per_field = [per_field[field.name] for field in self._state]
        if not isinstance(per_field, (tuple, list)) or len(per_field) != len(self._state):
            raise WrongInput(f"out has the form of the result: one entry for each of {[f.name for f in self._state]}")
        found: dict[str, list[Any]] = {}
        all_arrays: list[Any] = []
        import numpy as np

        for field, own in zip(self._state, per_field):
            arrays = self._levels(field, own)
            for array in arrays:
                if array.shape != shape:
                    raise WrongInput(f"out has shape {array.shape}, and {field.name} has {shape}")
                if not _writeable(array):
                    raise WrongInput(f"the array for {field.name} in out is read-only")
                if 0 not in shape and _points_meet(array):
                    raise WrongInput(f"the points of the array for {field.name} in out lie upon each other")
                if any(_overlap(array, other) for other in all_arrays):
                    raise WrongInput("two arrays of out overlap")
                all_arrays.append(array)
            found[field.name] = arrays
        for field in self.fields:
            if not field.levels:
                for array in all_arrays:
                    if _overlap(array, _array(given[field.name], field.name)):
                        raise WrongInput(f"out overlaps the coefficient {field.name}")
        for name, values in series.items():
            if any(_overlap(array, values) for array in all_arrays):
                raise WrongInput(f"out overlaps the series {name}")
        return found

    def _strides(
        self, np: Any, shape: tuple[int, ...], wanted: Any, levels: dict[str, list[Any]], in_place: bool
    ) -> tuple[int, ...] | None:
        """The strides, in elements, that all arrays of the run have but the innermost; `None` where they may be our own."""
        dense = tuple(int(np.prod(shape[d + 1 :])) for d in range(len(shape) - 1))
        if not in_place:
            return dense
        lists = [] if wanted is None else list(wanted.values())
        lists += [levels[field.name] for field in self.fields if not field.levels]
        for array in (one for arrays in lists for one in arrays):
            strides = _strides_of(array)
            if strides is not None:
                return strides
        return None

    def _ready(
        self, backend: str, shape: tuple[int, ...], steps: int, *how: Any
    ) -> tuple[Any, bool]:
        """The code for a shape, built at the first call."""
        # Other tiles are good where there are few steps.
        key = (backend, shape, min(max(steps, 1).bit_length(), 10), *how)
        built = self._built.get(key)
        if built is None:
            if _forked_after_parallel_calls:
                raise Infeasible(
                    "nothing can be compiled in a process that was forked from one that had started threads",
                    ('start processes by multiprocessing.get_context("spawn")',),
                )
            with self._lock:
                built = self._built.get(key)
                if built is None:
                    built = self._native.build(_Request(list(shape), max(steps, 1), backend, *how))
                    self._built[key] = built
        return built, built.in_place

    def _returned(self, out: Any, given: dict[str, Any], results: dict[str, Any], on_device: bool) -> Any:
        if out is not None:
            return out
        import numpy as np

        found = []
        for field in self._state:
            arrays = results[field.name]
            if on_device:
                # In the form of the result already.
                found.append(arrays)
            elif field.levels == 1:
                found.append(arrays[0])
            elif isinstance(given[field.name], (tuple, list)):
                found.append(tuple(arrays))
            else:
                found.append(np.stack(arrays))
        return found[0] if len(found) == 1 else self._result(*found)


def _fields(names: tuple[str, ...]) -> Any:
    """A named tuple for the newest values of fields of these names, which pickle finds again."""
    # What it is depends on the names, and no checker of types follows it.
    make: Any = namedtuple
    made = make("Fields", names, rename=True)
    made.__reduce__ = lambda one: (_fields_again, (names, *one))
    return made


def _fields_again(names: tuple[str, ...], *values: Any) -> Any:
    return _fields(names)(*values)


class _Request:
    """What is to be built; attributes as the extension reads them."""

    seed = 1

    def __init__(
        self,
        size: list[int],
        steps: int,
        backend: str,
        strategy: str,
        tile: str | None,
        machine: str | None,
        threads: int | None,
        tile_by: str,
        calibrate: bool,
        contract: bool,
        device: int,
    ) -> None:
        self.device = device
        self.size, self.steps, self.backend = size, steps, backend
        self.strategy, self.tile, self.machine, self.threads = strategy, tile, machine, threads
        self.tile_by, self.calibrate, self.contract = tile_by, bool(calibrate), bool(contract)


def _array(given: Any, name: str) -> Any:
    import numpy as np

    if isinstance(given, np.ndarray):
        if isinstance(given, np.ma.MaskedArray):
            raise WrongInput(f"{name} is a masked array, whose mask no stencil knows", (f"pass {name}.filled(...)",))
        return given if given.dtype.isnative else _refuse_bytes(name)
    found = _devices.described(given, name)
    if found is None:
        kind = type(given)
        raise WrongInput(f"{name} is a {kind.__module__}.{kind.__qualname__}; an array was expected")
    return found


def _writeable(array: Any) -> bool:
    return bool(array.writeable if isinstance(array, OnDevice) else array.flags.writeable)


def _points_meet(array: Any) -> bool:
    """Whether two points of an array may be one place: along no order of its dimensions is each stride beyond what lies within."""
    reach = int(array.dtype.itemsize)
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(array.strides, array.shape) if extent > 1):
        if stride < reach:
            return True
        reach += (extent - 1) * stride
    return False


def _overlap(one: Any, other: Any) -> bool:
    """Whether two arrays may share memory; such on different sides never do."""
    import numpy as np

    if isinstance(one, OnDevice) and isinstance(other, OnDevice):
        return one.overlaps(other)
    if isinstance(one, OnDevice) or isinstance(other, OnDevice):
        return False
    return bool(np.may_share_memory(one, other))


def _refuse_bytes(name: str) -> Any:
    raise WrongInput(f"{name} has its bytes in the order of another machine")


def _whole(value: Any, name: str) -> int:
    try:
        return value.__index__()
    except AttributeError:
        raise WrongInput(f"{name} is {value!r}, and must be a whole number") from None


def _number(value: Any, name: str) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise WrongInput(f"the parameter {name} is {value!r}, and must be a number") from None


def _tile_text(tile: str | Mapping[str, int] | None) -> str | None:
    if isinstance(tile, Mapping):
        return ",".join(f"{name}={value}" for name, value in tile.items())
    return tile


def _strides_of(array: Any) -> tuple[int, ...] | None:
    """Strides in elements, but the innermost; `None` where compiled code cannot work on the array where it lies."""
    size = array.itemsize
    span = 1
    # The stride of an extent of one has no meaning, and NumPy gives it any value.
    found = []
    for extent, stride in zip(reversed(array.shape), reversed(array.strides)):
        if extent == 1:
            stride = span * size
        if stride % size or stride < span * size:
            return None
        found.append(stride // size)
        span = (extent - 1) * (stride // size) + span
    if found[0] != 1 or array.ctypes.data % size:
        return None
    if any(extent == 1 for extent in array.shape) and tuple(stride * size for stride in reversed(found)) != array.strides:
        return None
    return tuple(reversed(found[1:]))


def _copy(np: Any, to: Any, start: Any, threads: int | None) -> None:
    """Copies an array that shares no memory with the other one; large ones by several threads."""
    many = start.nbytes >= PARALLEL_COPY and threads != 1 and not _forked_after_parallel_calls
    if not (many and _tilewright.copy(to, start, threads)):
        np.copyto(to, start, casting="no")


def _same(one: Any, other: Any) -> bool:
    """Whether two arrays are the same place."""
    return one is other or (
        one.ctypes.data == other.ctypes.data and one.strides == other.strides and one.shape == other.shape
    )


def _like(np: Any, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """An array with these strides."""
    element = np.dtype(dtype)
    all_strides = (*strides, 1)
    span = sum((extent - 1) * stride for extent, stride in zip(shape, all_strides)) + 1
    flat = np.empty(span, element)
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * element.itemsize for stride in all_strides])


def stencil(
    spec: str | os.PathLike[str] | Callable[..., Any] | None = None, *, text: str | None = None, dtype: Any = None
) -> Any:
    """A stencil: a shipped one by its name, a `.stencil` file by its path, a text of the stencil language, or a decorated
    function.

        heat = tilewright.stencil("heat2d")
        mine = tilewright.stencil("my.stencil")
        mine = tilewright.stencil(text="stencil mine(t, i) { ... }")

        @tilewright.stencil
        def heat(t, i, j, u: tilewright.f32, a=0.125):
            u[t+1, i, j] = u[t, i, j] + a * (u[t, i-1, j] + u[t, i+1, j] + u[t, i, j-1] + u[t, i, j+1] - 4 * u[t, i, j])

    `dtype` (`float32`, `float64`) is the type of all fields instead of their own. A function's fields without annotation have
    that of the first one with an annotation, or `float64`. A function is translated, never called.

    Raises `ProgramError` where the program has mistakes; for a function they are shown in the function.
    """
    element = _element(dtype)
    if text is not None:
        if spec is not None:
            raise WrongInput("either a text or a name was expected")
        return _again("text", _encodable(text), element)
    if spec is None:
        return lambda function: stencil(function, dtype=dtype)
    if callable(spec):
        from ._decorated import translate

        name, found = translate(spec, element)
        return _again("function", "".join(found.parts), element, found.name, found.source, found.origins)
    return _again("load", _encodable(os.fspath(spec)), element)


def _encodable(text: Any) -> str:
    """A text that is one: Python's may have halves of letters."""
    if not isinstance(text, str):
        raise WrongInput(f"a text was expected, and is a {type(text).__qualname__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise WrongInput(f"{text!r:.80} is no text in UTF-8") from None
    return text


def _element(dtype: Any) -> str | None:
    if dtype is None or dtype in ("f32", "f64"):
        return dtype
    import numpy as np

    names = {"float32": "f32", "float64": "f64"}
    try:
        return names[np.dtype(dtype).name]
    except (KeyError, TypeError):
        raise WrongInput(f"there are stencils of float32 and of float64, not of {dtype!r}") from None


def _again(kind: str, what: str, element: str | None, *place: Any) -> Stencil:
    """The stencil that was made so; what pickle calls."""
    if kind == "load":
        native = _tilewright.Program.load(what, element)
    elif kind == "text":
        native = _tilewright.Program.parse("<text>", what, element)
    else:
        name, source, origins = place
        native = _tilewright.Program.parse(name, what, element, source, origins)
    # A file may be another one, or gone, where it is unpickled.
    if kind == "load" and what not in _tilewright.shipped() and not native.is_c:
        return Stencil(native, ("text", native.text, None))
    return Stencil(native, (kind, what, element, *place))
