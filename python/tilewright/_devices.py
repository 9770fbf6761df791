"""Arrays on a device, and runs on them: nothing goes through the host's memory.

An array is known by `__cuda_array_interface__` (version 2 or 3) or by `__dlpack__`. What its owner says is checked here as
far as it can be, and its address by the extension, which asks the driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Mapping

from . import _tilewright
from .errors import Infeasible, WrongInput

if TYPE_CHECKING:
    from ._stencil import Field, Stencil

# Kernels load several elements at once where arrays begin at multiples of this.
ALIGNMENT = 16
# Device types of DLPack: memory of CUDA's, and such that moves by itself; the host's, and such that devices reach.
DLPACK_CUDA = (2, 13)
DLPACK_HOST = (1, 3)
# Libraries whose arrays are made here.
LIBRARIES = ("cupy", "torch", "numba")
# The legacy default stream, which the extension uses.
LEGACY_STREAM = 1


@dataclass(frozen=True, eq=False)
class OnDevice:
    """An array on a device: its first element, and where the others lie, in bytes as in NumPy."""

    owner: Any
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    writeable: bool
    stream: int | None
    kept: Any = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, number: int) -> OnDevice:
        """One of the arrays along the first axis."""
        start = self.address + number * self.strides[0]
        return OnDevice(
            self.owner, start, self.shape[1:], self.strides[1:], self.dtype, self.writeable, self.stream, self.kept
        )

    def overlaps(self, other: OnDevice) -> bool:
        """Whether the parts of memory from first to last byte meet."""
        return self._first() < other._end() and other._first() < self._end()

    def _first(self) -> int:
        return self.address + sum(min(0, (extent - 1) * stride) for extent, stride in zip(self.shape, self.strides))

    def _end(self) -> int:
        reach = sum(max(0, (extent - 1) * stride) for extent, stride in zip(self.shape, self.strides))
        return self.address + reach + int(self.dtype.itemsize)

    def outer_strides(self) -> tuple[int, ...] | None:
        """Strides in elements but the innermost; `None` where rows do not lie in one piece, one after the other."""
        size = int(self.dtype.itemsize)
        span, found = 1, []
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            # The stride of an extent of one has no meaning.
            steps = span if extent == 1 else stride // size
            if extent != 1 and (stride % size or steps < span):
                return None
            found.append(steps)
            span = (extent - 1) * steps + span
        return tuple(reversed(found[1:])) if found[0] == 1 else None

    def is_plain(self) -> bool:
        """Whether kernels can work on it where it lies."""
        return self.outer_strides() == _dense(self.shape) and self.address % ALIGNMENT == 0


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape) - 1))


def described(array: Any, name: str) -> OnDevice | None:
    """What an array on a device says of itself; `None` for what is no such array."""
    if isinstance(array, OnDevice):
        return array
    interface = _asked(array, "__cuda_array_interface__", name)
    if interface is not None:
        return _of_interface(array, interface, name)
    if not hasattr(array, "__dlpack__"):
        return None
    try:
        kind, _ = array.__dlpack_device__()
    except Exception as error:
        raise WrongInput(f"{name} does not say where it lies: {error}") from error
    if kind in DLPACK_CUDA:
        return _of_dlpack(array, name)
    words = f"{name} is a {type(array).__module__}.{type(array).__qualname__}"
    if kind in DLPACK_HOST:
        raise WrongInput(f"{words} in the host's memory", (f"pass numpy.from_dlpack({name})",))
    raise Infeasible(f"{words} on a device that is not NVIDIA's (kind {kind} of DLPack)")


def _asked(array: Any, attribute: str, name: str) -> Any:
    try:
        return getattr(array, attribute)
    except AttributeError:
        return None
    except Exception as error:
        # PyTorch, of tensors that need gradients.
        raise WrongInput(f"{name} does not say where it lies: {error}") from error


def _of_interface(array: Any, interface: Any, name: str) -> OnDevice:
    import numpy as np

    def wrong(problem: str) -> WrongInput:
        return WrongInput(f"the __cuda_array_interface__ of {name} {problem}")

    if not isinstance(interface, Mapping):
        raise wrong("is no dict")
    version = interface.get("version")
    if not isinstance(version, int) or version < 2:
        raise wrong(f"has version {version!r}, and 2 or 3 is known")
    try:
        shape = tuple(int(extent) for extent in interface["shape"])
        address, read_only = interface["data"]
        address = int(address)
        dtype = np.dtype(interface["typestr"])
        strides = interface.get("strides")
        strides = None if strides is None else tuple(int(stride) for stride in strides)
    except (KeyError, TypeError, ValueError) as error:
        raise wrong(f"cannot be read: {error!r}") from error
    if any(extent < 0 for extent in shape) or (strides is not None and len(strides) != len(shape)):
        raise wrong(f"has shape {shape} and strides {strides}")
    if not dtype.isnative:
        raise WrongInput(f"{name} has its bytes in the order of another machine")
    if interface.get("mask") is not None:
        raise WrongInput(f"{name} has a mask, which no stencil knows")
    stream = interface.get("stream")
    if stream is not None and (not isinstance(stream, int) or stream < 1):
        raise wrong(f"has stream {stream!r}, which is none")
    if stream is None and _library(array) == "torch":
        # PyTorch tells version 2, which has no streams.
        import torch  # type: ignore[import-not-found, unused-ignore]

        stream = torch.cuda.current_stream(array.device).cuda_stream or LEGACY_STREAM
    if 0 not in shape and (address <= 0 or address % max(dtype.alignment, 1)):
        raise wrong(f"has address {address}, where no element can lie")
    return _made(array, address, shape, strides, dtype, not read_only, stream, None)


def _of_dlpack(array: Any, name: str) -> OnDevice:
    import numpy as np

    # The producer lets that stream wait for what the array comes from.
    try:
        try:
            capsule = array.__dlpack__(stream=LEGACY_STREAM, max_version=(1, 0))
        except TypeError:
            capsule = array.__dlpack__(stream=LEGACY_STREAM)
        told = _tilewright.dlpack(capsule)
    except Exception as error:
        raise WrongInput(f"{name} does not say by DLPack where it lies: {error}") from error
    address, kind, _, code, bits, dimensions, steps, read_only = told
    if kind not in DLPACK_CUDA:
        raise WrongInput(f"{name} says by DLPack that it lies on a device of CUDA's, and then that it does not")
    letter = {0: "i", 1: "u", 2: "f"}.get(code)
    if letter is None or bits not in (8, 16, 32, 64):
        raise WrongInput(f"{name} has elements of a type that no stencil knows (code {code}, {bits} bits of DLPack)")
    dtype = np.dtype(f"{letter}{bits // 8}")
    strides = None if steps is None else tuple(step * dtype.itemsize for step in steps)
    return _made(array, address, tuple(dimensions), strides, dtype, not read_only, None, capsule)


def _made(
    owner: Any,
    address: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    dtype: Any,
    writeable: bool,
    stream: int | None,
    kept: Any,
) -> OnDevice:
    if strides is None:
        strides = tuple(prod(shape[d + 1 :]) * dtype.itemsize for d in range(len(shape)))
    return OnDevice(owner, address, shape, strides, dtype, writeable, stream, kept)


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


class _Memory:
    """New arrays on the device of one that is there, of its library where that makes some."""

    def __init__(self, like: Any, device: int) -> None:
        self.like, self.device = like, device
        self.library = _library(like)
        self.kept: list[Any] = []
        self.streams: set[int] = set()

    def array(self, shape: tuple[int, ...], dtype: Any) -> OnDevice:
        """An array of the library."""
        array: Any
        if self.library == "cupy":
            import cupy  # type: ignore[import-not-found, import-untyped, unused-ignore]

            with cupy.cuda.Device(self.device):
                array = cupy.empty(shape, dtype)
        elif self.library == "torch":
            import torch

            array = torch.empty(shape, dtype=getattr(torch, dtype.name), device=f"cuda:{self.device}")
        else:
            from numba import cuda  # type: ignore[import-not-found, import-untyped, unused-ignore]

            with cuda.gpus[self.device]:
                array = cuda.device_array(shape, dtype)
        found = described(array, "a new array")
        assert found is not None
        return self.used(found)

    def scratch(self, shape: tuple[int, ...], dtype: Any) -> int:
        """The address of memory that is needed during a run alone."""
        if self.library in LIBRARIES:
            found = self.array(shape, dtype)
            self.kept.append(found)
            return found.address
        return self._own(_tilewright.DeviceMemory(self.device, prod(shape) * dtype.itemsize))

    def holding(self, values: Any) -> int:
        """The address of a copy of an array of the host's."""
        return self._own(_tilewright.DeviceMemory.holding(self.device, values.tobytes()))

    def _own(self, memory: Any) -> int:
        self.kept.append(memory)
        return int(memory.address)

    def used(self, array: OnDevice) -> OnDevice:
        """Notes the stream that has to be waited for."""
        if array.stream is not None:
            self.streams.add(array.stream)
        return array


def plan(
    stencil: Stencil,
    given: dict[str, Any],
    levels: dict[str, list[Any]],
    series: dict[str, Any],
    wanted: dict[str, list[Any]] | None,
    steps: int,
) -> tuple[int, Plan]:
    """The device of the arrays of a run, and what is where in it. `levels` and `wanted` are those of each field, checked,
    some of them `OnDevice`."""
    all_fields = [*levels.items(), *(wanted or {}).items()]
    everything = [(name, one) for name, arrays in all_fields for one in arrays]
    first = next(one for _, one in everything if isinstance(one, OnDevice))
    for name, one in everything:
        if not isinstance(one, OnDevice):
            raise WrongInput(
                f"{name} lies in the host's memory, and another array on a device: all lie on one side",
                ("copy it there first, as by cupy.asarray",),
            )
        if one.outer_strides() is None:
            raise Infeasible(
                f"the rows of the array for {name} do not lie in one piece on the device, one after the other",
                ("pass a contiguous copy of it",),
            )
    if stencil._native.is_periodic:
        raise Infeasible(
            f"the ghost zones of {stencil.name}, whose grid is periodic, are made in the host's memory",
            ('pass arrays of NumPy, as by cupy.asnumpy, and backend="cuda"',),
        )
    if wanted is None and _library(first.owner) not in LIBRARIES:
        like = type(first.owner)
        raise Infeasible(
            f"it is not known how to make a new {like.__module__}.{like.__qualname__}",
            ("pass out=, an array for the result",),
        )
    on_device = [(name, one) for name, one in [*everything, *series.items()] if isinstance(one, OnDevice)]
    device = _device_of(on_device)
    memory = _Memory(first.owner, device)
    for _, one in on_device:
        memory.used(one)
    return device, Plan(stencil, given, levels, series, wanted, steps, memory)


def _device_of(arrays: list[tuple[str, OnDevice]]) -> int:
    found: dict[int, str] = {}
    for name, one in arrays:
        device = _tilewright.device_of(one.address)
        if device is None:
            raise WrongInput(f"the address that {name} tells is of no device's memory")
        found[device] = name
    if len(found) > 1:
        (one_device, name), (other_device, other) = list(found.items())[:2]
        raise WrongInput(f"{name} lies on device {one_device}, and {other} on device {other_device}")
    return next(iter(found))


class Plan:
    """Which array is which slot of a run, and what is copied, on the device. `fields` and `series` are what the extension
    reads; `results` is what is returned, field by field."""

    def __init__(
        self,
        stencil: Stencil,
        given: dict[str, Any],
        levels: dict[str, list[OnDevice]],
        series: dict[str, Any],
        wanted: dict[str, list[OnDevice]] | None,
        steps: int,
        memory: _Memory,
    ) -> None:
        import numpy as np

        self.memory = memory
        self.copied: list[str] = []
        self.fields: list[tuple[Any, Any, Any]] = []
        self.series: list[tuple[int, int]] = []
        self.results: dict[str, Any] = {}
        self._steps, self._levels, self._wanted = steps, levels, wanted
        self._shape = levels[stencil.fields[0].name][0].shape
        self._outer = _dense(self._shape)
        several = [field for field in stencil.fields if field.slots > 1]
        # Two slots of one field may be two arrays; otherwise all lie at one distance, in memory of their own.
        apart = len(several) == 1 and several[0].slots == 2 and several[0].levels == 1
        for field in stencil.fields:
            dtype = np.dtype({"f32": "float32", "f64": "float64"}[field.dtype])
            if field.levels:
                self._state(field, dtype, given[field.name], apart)
            else:
                self._coefficient(field, dtype)
        for name, values in series.items():
            self._series(name, values)

    def _coefficient(self, field: Field, dtype: Any) -> None:
        start = self._levels[field.name][0]
        slot = start.address
        if not start.is_plain():
            self.copied.append(f"{field.name}: it has gaps, or begins where kernels cannot load several elements")
            slot = self.memory.scratch(self._shape, dtype)
        self.fields.append(([(start.address, start.outer_strides())], [slot], []))

    def _state(self, field: Field, dtype: Any, given: Any, apart: bool) -> None:
        starts, targets = self._levels[field.name], self._targets(field, dtype, given)
        if field.slots > 1 and not apart:
            first = self.memory.scratch((field.slots, *self._shape), dtype)
            bytes_of_level = prod(self._shape) * dtype.itemsize
            slots = [first + number * bytes_of_level for number in range(field.slots)]
        else:
            newest = self._steps % field.slots
            slots = [0] * field.slots
            slots[newest] = targets[0].address if self._is_slot(field, targets[0]) else 0
            slots = [slot or self.memory.scratch(self._shape, dtype) for slot in slots]
        places = [[(one.address, one.outer_strides()) for one in arrays] for arrays in (starts, targets)]
        self.fields.append((places[0], slots, places[1]))

    def _targets(self, field: Field, dtype: Any, given: Any) -> list[OnDevice]:
        """Where the newest levels go."""
        if self._wanted is not None:
            return self._wanted[field.name]
        if field.levels > 1 and not isinstance(given, (tuple, list)):
            whole = self.memory.array((field.levels, *self._shape), dtype)
            self.results[field.name] = whole.owner
            return [whole[number] for number in range(field.levels)]
        targets = [self.memory.array(self._shape, dtype) for _ in range(field.levels)]
        owners = tuple(target.owner for target in targets)
        self.results[field.name] = owners if field.levels > 1 else owners[0]
        return targets

    def _is_slot(self, field: Field, target: OnDevice) -> bool:
        """Whether kernels may write to the array of a result during the run."""
        if not target.is_plain():
            self.copied.append(f"{field.name}: `out` has gaps, or begins where kernels cannot load several elements")
            return False
        for name, starts in self._levels.items():
            for start in starts:
                itself = name == field.name and start.address == target.address and start.is_plain()
                if not itself and start.overlaps(target):
                    self.copied.append(f"{field.name}: `out` overlaps what {name} starts from")
                    return False
        return True

    def _series(self, name: str, values: Any) -> None:
        if not isinstance(values, OnDevice):
            self.copied.append(f"{name}: to the device")
            self.series.append((self.memory.holding(values), len(values)))
            return
        if values.shape[0] > 1 and values.strides[0] != values.dtype.itemsize:
            raise Infeasible(f"the series {name} has gaps on the device", ("pass a contiguous copy of it",))
        self.series.append((values.address, values.shape[0]))
