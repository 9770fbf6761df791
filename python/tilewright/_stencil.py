"""Stencils, and how they are made."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _arguments, _forks, _tilewright
from ._arguments import Choice, Given
from ._arrays import at_cache_line, copy_into, with_strides
from ._device_plan import device_plan
from ._host_plan import HostPlan, common_strides
from ._signature import NAMES, Field, Signature
from .errors import Infeasible, WrongInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike

# New arrays of at most so many bytes have no gaps.
SMALL = 1 << 20


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
        # A handler of signals may come back to it on the same thread.
        self._lock = threading.RLock()
        self._local = threading.local()
        self._signature = Signature.of(native)
        self.name: str = self._signature.name
        self.description: str = native.description
        self.indices: tuple[str, ...] = self._signature.indices
        self.fields: tuple[Field, ...] = self._signature.fields
        self.series: Mapping[str, str] = self._signature.series
        self.parameters: Mapping[str, float] = self._signature.parameters
        self.text: str = native.text
        state = self._signature.state
        self._simple = len(self.fields) == 1 and state[0].levels == 1 and state[0].slots == 2 and not self.series
        self._values = list(self.parameters.values())

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
        if element.hasobject or element.itemsize == 0:
            raise WrongInput(f"an array of {element} is for no stencil")
        if not isinstance(shape, Iterable):
            raise WrongInput(f"the shape is {shape!r}, and one extent for each of {', '.join(self.indices)} was expected")
        shape = tuple(_arguments.whole(extent, "an extent") for extent in shape)
        if not shape or 0 in shape:
            return np.empty(shape, element)
        strides, length = self._native.padded(list(shape))
        return at_cache_line(shape, strides, length, element)

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
        with _forks.CALL:
            simple = self._simple and len(arrays) == 1 and (backend is None or backend == "openmp")
            if simple and tile.__class__ is not dict:
                how = (strategy, tile, machine, threads, tile_by, calibrate, contract, 0)
                found = self._run_again(arrays[0], steps, out, how, named)
                if found is not None:
                    return found
            self._check_that_it_runs()
            _arguments.check_backend(backend)
            choice = _arguments.choice(strategy, tile, machine, threads, tile_by, calibrate, contract)
            given = _arguments.given(self._signature, arrays, named, steps, out)
            if 0 in given.shape:
                same = given.arrays if given.on_device() else given.levels
                return self._returned(out, given, same)
            if given.on_device():
                return self._run_on_device(given, backend, choice, out)
            return self._run_on_host(given, backend or "openmp", choice, out)

    __call__ = run

    def _check_that_it_runs(self) -> None:
        if self._native.is_c:
            raise Infeasible(
                "a C program's loops run on the program's own arrays", ("rewrite it with `tilewright compile prog.c`",)
            )
        if not self._native.fixed_boundary:
            raise Infeasible(
                f"{self.name} has `boundary per_slot`: its edges are what each stored level holds, and a run starts from fewer levels",
                ("leave the boundary out: then edges keep the newest level's values",),
            )

    def _run_on_device(self, given: Given, backend: str | None, choice: Choice, out: Any) -> Any:
        if backend not in (None, "cuda"):
            raise WrongInput(
                f"{self.fields[0].name} lies on a device, and the backend {backend} computes in the host's memory",
                ("leave out backend=, or pass an array of NumPy, as by cupy.asnumpy",),
            )
        _forks.threads_for(choice.threads, "cuda")
        device, plan = device_plan(self._signature, given, self._native.is_periodic)
        built = self._ready("cuda", given, choice, device)
        built.run_on_device(plan, list(given.shape), given.steps, given.values, sorted(plan.memory.streams))
        self._local.last = RunInfo("cuda", built.strategy, built.tile, tuple(built.notes), tuple(plan.copied))
        return self._returned(out, given, plan.results)

    def _run_on_host(self, given: Given, backend: str, choice: Choice, out: Any) -> Any:
        for name, values in given.series.items():
            if not hasattr(values, "ctypes"):
                raise WrongInput(f"the series {name} lies on a device, and {self.fields[0].name} in the host's memory")
        shape = given.shape
        built = self._ready(backend, given, choice, 0)
        strides = common_strides(self._signature, given, built.in_place)
        new: Callable[[Any], Any]
        if strides is None:
            strides = tuple(self._native.padded(list(shape))[0][:-1])

            def new(element: Any) -> Any:
                return self.empty(shape, element)
        else:
            own = strides

            def new(element: Any) -> Any:
                return with_strides(shape, own, element)

        plan = HostPlan(self._signature, given, strides, new)
        plan.fill(choice.threads)
        used = _forks.threads_for(choice.threads, backend)
        built.run(plan.slots, list(given.series.values()), list(shape), list(strides), given.steps, given.values, used)
        plan.finish()
        copied = plan.copied
        if backend == "cuda":
            moved = [f"{field.name}: to the device{' and back' if field.levels else ''}" for field in self.fields]
            copied = [*moved, *copied]
        self._local.last = RunInfo(backend, built.strategy, built.tile, tuple(built.notes), tuple(copied))
        return self._returned(out, given, plan.results)

    def _run_again(self, u: Any, steps: Any, out: Any, how: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The usual case, for small grids in a loop: code that is there already, and two arrays without gaps. Whatever is
        unusual is left to `run`: then this is `None`, and nothing is changed."""
        import numpy as np

        if type(u) is not np.ndarray or type(steps) is not int or steps < 0:
            return None
        threads = how[3]
        # What is equal to a number may be none.
        if threads is not None and type(threads) is not int:
            return None
        # Gaps between the rows of new arrays are for large ones.
        if type(out) is not np.ndarray and (out is not None or u.nbytes > SMALL):
            return None
        try:
            built = self._built.get(("openmp", u.shape, min(max(steps, 1).bit_length(), 10), *how))
        except TypeError:
            # Nothing that a choice can be.
            return None
        if built is None or not built.in_place or _forks.is_forked():
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
            values = [_arguments.number(named.get(name, default), _arguments.parameter(name)) for name, default in self.parameters.items()]
        other = np.empty(u.shape, dtype)
        slots = [other, out] if steps % 2 else [out, other]
        if slots[0] is not u:
            copy_into(slots[0], u, threads)
        item = u.itemsize
        strides = [stride // item for stride in u.strides[:-1]]
        built.run(slots, [], list(u.shape), strides, steps, values, threads)
        self._local.last = RunInfo("openmp", built.strategy, built.tile, tuple(built.notes), ())
        return out

    def _ready(self, backend: str, given: Given, choice: Choice, device: int) -> Any:
        """The code for a shape, built at the first call."""
        shape, steps = given.shape, max(given.steps, 1)
        how = (choice.strategy, choice.tile, choice.machine, choice.threads, choice.tile_by, choice.calibrate, choice.contract)
        # Other tiles are good where there are few steps.
        key = (backend, shape, min(steps.bit_length(), 10), *how, device)
        built = self._built.get(key)
        if built is None:
            _forks.before_building()
            with self._lock:
                built = self._built.get(key)
                if built is None:
                    built = self._native.build(Request(shape, steps, backend, choice, device))
                    self._built[key] = built
        return built

    def _returned(self, out: Any, given: Given, results: dict[str, Any]) -> Any:
        """What a run returns: `results` are levels of each field, on a device in the form of the result already."""
        if out is not None:
            return out
        import numpy as np

        found = []
        for field in self._signature.state:
            arrays = results[field.name]
            if given.on_device():
                found.append(arrays)
            elif field.levels == 1:
                found.append(arrays[0])
            elif isinstance(given.arrays[field.name], (tuple, list)):
                found.append(tuple(arrays))
            else:
                found.append(np.stack(arrays))
        return found[0] if len(found) == 1 else self._signature.result(*found)

    def _file_in(self, folder: str) -> str:
        """What the command is given for it: the name of a shipped stencil, or a file."""
        kind, what, element = self._reduced[:3]
        if kind == "load" and element is None:
            return str(what)
        path = Path(folder) / f"{self.name}.stencil"
        path.write_text(self.text, encoding="utf-8")
        return str(path)


class Request:
    """What is to be built; attributes as the extension reads them."""

    seed = 1

    def __init__(self, shape: tuple[int, ...], steps: int, backend: str, choice: Choice, device: int) -> None:
        self.size, self.steps, self.backend, self.device = list(shape), steps, backend, device
        self.strategy, self.tile, self.machine, self.threads = choice.strategy, choice.tile, choice.machine, choice.threads
        self.tile_by, self.calibrate, self.contract = choice.tile_by, choice.calibrate, choice.contract


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
        return _again("text", _arguments.encodable(text), element)
    if spec is None:
        return lambda function: stencil(function, dtype=dtype)
    if callable(spec):
        from ._decorated import translate

        name, found = translate(spec, element)
        return _again("function", "".join(found.parts), element, found.name, found.source, found.origins)
    return _again("load", _arguments.encodable(os.fspath(spec)), element)


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
