"""Arrays of NumPy: which are taken, where their elements lie, and new ones."""

from __future__ import annotations

from typing import Any

from . import _tilewright
from ._device_arrays import OnDevice, described
from ._forks import is_forked
from .errors import WrongInput

# Arrays of so many bytes are copied by several threads.
PARALLEL_COPY = 1 << 23
CACHE_LINE = 64


def array_of(given: Any, name: str) -> Any:
    """What a user gives as an array, as one of NumPy's own or of a device."""
    import numpy as np

    if isinstance(given, np.ndarray):
        if isinstance(given, np.ma.MaskedArray):
            raise WrongInput(f"{name} is a masked array, whose mask no stencil knows", (f"pass {name}.filled(...)",))
        if not given.dtype.isnative:
            raise WrongInput(
                f"{name} has its bytes in the order of another machine", (f'{name}.astype({name}.dtype.newbyteorder("="))',)
            )
        # What another class makes of indices and shapes is none of ours.
        return given if type(given) is np.ndarray else np.ndarray.view(given, np.ndarray)
    found = described(given, name)
    if found is None:
        kind = type(given)
        hints = (f"pass {name}.to_numpy()",) if hasattr(kind, "to_numpy") else ()
        raise WrongInput(f"{name} is a {kind.__module__}.{kind.__qualname__}; an array was expected", hints)
    return found


def is_writeable(array: Any) -> bool:
    """Whether an array may be written."""
    return bool(array.writeable if isinstance(array, OnDevice) else array.flags.writeable)


def points_meet(array: Any) -> bool:
    """Whether two points of an array may be one place: along no order of its dimensions is each stride beyond what lies within."""
    reach = int(array.dtype.itemsize)
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(array.strides, array.shape) if extent > 1):
        if stride < reach:
            return True
        reach += (extent - 1) * stride
    return False


def overlap(one: Any, other: Any) -> bool:
    """Whether two arrays may share memory; such on different sides never do."""
    import numpy as np

    if isinstance(one, OnDevice) and isinstance(other, OnDevice):
        return one.overlaps(other)
    if isinstance(one, OnDevice) or isinstance(other, OnDevice):
        return False
    return bool(np.may_share_memory(one, other))


def same_place(one: Any, other: Any) -> bool:
    """Whether two arrays are the same place."""
    return one is other or (
        one.ctypes.data == other.ctypes.data and one.strides == other.strides and one.shape == other.shape
    )


def outer_strides(array: Any) -> tuple[int, ...] | None:
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
    return tuple(reversed(found[1:]))


def copy_into(to: Any, start: Any, threads: int | None) -> None:
    """Copies an array that shares no memory with the other one; large ones by several threads."""
    import numpy as np

    many = start.nbytes >= PARALLEL_COPY and threads != 1 and not is_forked()
    if not (many and _tilewright.copy(to, start, threads)):
        np.copyto(to, start, casting="no")


def with_strides(shape: tuple[int, ...], strides: tuple[int, ...], element: Any) -> Any:
    """A new array whose strides, in elements, are these, and 1."""
    import numpy as np

    all_strides = (*strides, 1)
    span = sum((extent - 1) * stride for extent, stride in zip(shape, all_strides)) + 1
    flat = np.empty(span, element)
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * element.itemsize for stride in all_strides])


def at_cache_line(shape: tuple[int, ...], strides: list[int], length: int, element: Any) -> Any:
    """A new array of `length` elements that begins at a cache line, with these strides in elements."""
    import numpy as np

    raw = np.empty(length * element.itemsize + CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE
    flat = raw[start : start + length * element.itemsize].view(element)
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * element.itemsize for stride in strides])
