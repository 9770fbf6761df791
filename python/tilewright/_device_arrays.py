"""Arrays on a device.

An array is known by `__cuda_array_interface__` (version 2 or 3) or by `__dlpack__`. What its owner says is checked here as
far as it can be, and its address by the extension, which asks the driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Mapping

from . import _tilewright
from .errors import Infeasible, WrongInput

# Kernels load several elements at once where arrays begin at multiples of this.
ALIGNMENT = 16
# Device types of DLPack: memory of CUDA's, and such that moves by itself; the host's, and such that devices reach.
DLPACK_CUDA = (2, 13)
DLPACK_HOST = (1, 3)
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
        return self.outer_strides() == dense(self.shape) and self.address % ALIGNMENT == 0


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Outer strides, in elements, of an array without gaps."""
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
    if stream is None and library_of(array) == "torch":
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


def library_of(array: Any) -> str:
    """The name of the library that an array is of."""
    return type(array).__module__.partition(".")[0]
