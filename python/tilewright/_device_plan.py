"""Which array is which slot of a run on a device, and what is copied: nothing goes through the host's memory."""

from __future__ import annotations

from math import prod
from typing import Any

from . import _tilewright
from ._arguments import Given
from ._device_arrays import OnDevice, dense, described, library_of
from ._signature import NAMES, Field, Signature
from .errors import Infeasible, WrongInput

# Libraries whose arrays are made here.
LIBRARIES = ("cupy", "torch", "numba")


class _Memory:
    """New arrays on the device of one that is there, of its library where that makes some."""

    def __init__(self, like: Any, device: int) -> None:
        self.like, self.device = like, device
        self.library = library_of(like)
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
            import torch  # type: ignore[import-not-found, unused-ignore]

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


def device_plan(signature: Signature, given: Given, is_periodic: bool) -> tuple[int, DevicePlan]:
    """The device of the arrays of a run, some of which are `OnDevice`, and what is where in it."""
    wanted = given.wanted
    all_fields = [*given.levels.items(), *(wanted or {}).items()]
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
    if is_periodic:
        raise Infeasible(
            f"the ghost zones of {signature.name}, whose grid is periodic, are made in the host's memory",
            ('pass arrays of NumPy, as by cupy.asnumpy, and backend="cuda"',),
        )
    if wanted is None and library_of(first.owner) not in LIBRARIES:
        like = type(first.owner)
        raise Infeasible(
            f"it is not known how to make a new {like.__module__}.{like.__qualname__}",
            ("pass out=, an array for the result",),
        )
    on_device = [(name, one) for name, one in [*everything, *given.series.items()] if isinstance(one, OnDevice)]
    device = _device_of(on_device)
    memory = _Memory(first.owner, device)
    for _, one in on_device:
        memory.used(one)
    return device, DevicePlan(signature, given, memory)


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


class DevicePlan:
    """Which array is which slot of a run, and what is copied, on the device. `fields` and `series` are what the extension
    reads; `results` is what is returned, field by field."""

    def __init__(self, signature: Signature, given: Given, memory: _Memory) -> None:
        import numpy as np

        self.memory = memory
        self.copied: list[str] = []
        self.fields: list[tuple[Any, Any, Any]] = []
        self.series: list[tuple[int, int]] = []
        self.results: dict[str, Any] = {}
        self._given, self._shape = given, given.shape
        several = [field for field in signature.fields if field.slots > 1]
        # Two slots of one field may be two arrays; otherwise all lie at one distance, in memory of their own.
        apart = len(several) == 1 and several[0].slots == 2 and several[0].levels == 1
        for field in signature.fields:
            dtype = np.dtype(NAMES[field.dtype])
            if field.levels:
                self._state(field, dtype, apart)
            else:
                self._coefficient(field, dtype)
        for name, values in given.series.items():
            self._series(name, values)

    def _coefficient(self, field: Field, dtype: Any) -> None:
        start = self._given.levels[field.name][0]
        slot = start.address
        if not start.is_plain():
            self.copied.append(f"{field.name}: it has gaps, or begins where kernels cannot load several elements")
            slot = self.memory.scratch(self._shape, dtype)
        self.fields.append(([(start.address, start.outer_strides())], [slot], []))

    def _state(self, field: Field, dtype: Any, apart: bool) -> None:
        starts, targets = self._given.levels[field.name], self._targets(field, dtype)
        if field.slots > 1 and not apart:
            first = self.memory.scratch((field.slots, *self._shape), dtype)
            bytes_of_level = prod(self._shape) * dtype.itemsize
            slots = [first + number * bytes_of_level for number in range(field.slots)]
        else:
            newest = self._given.steps % field.slots
            slots = [0] * field.slots
            slots[newest] = targets[0].address if self._is_slot(field, targets[0]) else 0
            slots = [slot or self.memory.scratch(self._shape, dtype) for slot in slots]
        places = [[(one.address, one.outer_strides()) for one in arrays] for arrays in (starts, targets)]
        self.fields.append((places[0], slots, places[1]))

    def _targets(self, field: Field, dtype: Any) -> list[OnDevice]:
        """Where the newest levels go."""
        if self._given.wanted is not None:
            return self._given.wanted[field.name]
        if field.levels > 1 and not isinstance(self._given.arrays[field.name], (tuple, list)):
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
        for name, starts in self._given.levels.items():
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
