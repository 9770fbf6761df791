"""Which array is which slot of a run in the host's memory, and what is copied."""

from __future__ import annotations

from typing import Any, Callable

from ._arguments import Given
from ._arrays import copy_into, outer_strides, same_place
from ._device_arrays import dense
from ._signature import NAMES, Field, Signature


def common_strides(signature: Signature, given: Given, in_place: bool) -> tuple[int, ...] | None:
    """The strides, in elements, that all arrays of a run have but the innermost; `None` where they may be our own."""
    if not in_place:
        return dense(given.shape)
    lists = [] if given.wanted is None else list(given.wanted.values())
    lists += [given.levels[field.name] for field in signature.fields if not field.levels]
    for array in (one for arrays in lists for one in arrays):
        strides = outer_strides(array)
        if strides is not None:
            return strides
    return None


class HostPlan:
    """The arrays of a run whose outer strides are `strides`; `new` makes one of a type. `slots` are those of all fields in
    order, `results` the newest levels of each field, `copied` says what was copied and why."""

    def __init__(
        self, signature: Signature, given: Given, strides: tuple[int, ...], new: Callable[[Any], Any]
    ) -> None:
        import numpy as np

        self.slots: list[Any] = []
        self.results: dict[str, list[Any]] = {}
        self.copied: list[str] = []
        self._given, self._strides, self._new = given, strides, new
        # Targets that the run cannot work on, with the arrays in their places; initial levels with theirs.
        self._late: list[tuple[Any, Any]] = []
        self._places: list[tuple[Any, Any]] = []
        for field in signature.fields:
            element = np.dtype(NAMES[field.dtype])
            if field.levels:
                self._state(field, element)
            else:
                self._coefficient(field, element)

    def _coefficient(self, field: Field, element: Any) -> None:
        start = self._given.levels[field.name][0]
        if outer_strides(start) != self._strides:
            self.copied.append(f"{field.name}: its rows lie otherwise than those of the other fields")
            own = self._new(element)
            own[...] = start
            start = own
        self.slots.append(start)

    def _state(self, field: Field, element: Any) -> None:
        """The newest levels after the last step lie in the arrays of the result."""
        wanted = self._given.wanted
        of_field: list[Any] = [None] * field.slots
        results = self.results[field.name] = []
        for number in range(field.levels):
            target = None if wanted is None else wanted[field.name][number]
            array = target
            if target is None or outer_strides(target) != self._strides:
                array = self._new(element)
                if target is not None:
                    self.copied.append(f"{field.name}: `out` has other strides")
                    self._late.append((target, array))
            of_field[(self._given.steps + number) % field.slots] = array
            results.append(array if target is None else target)
        of_field = [self._new(element) if array is None else array for array in of_field]
        self._places += zip(self._given.levels[field.name], of_field)
        self.slots.extend(of_field)

    def fill(self, threads: int | None) -> None:
        """Copies the initial levels to their places."""
        import numpy as np

        # What the place of another level, of whatever field, overwrites is kept apart first.
        places: list[tuple[Any, Any]] = []
        filled: list[Any] = []
        for start, place in self._places:
            if not same_place(place, start):
                if any(np.may_share_memory(one, start) for one in (*filled, place)):
                    start = start.copy()
                filled.append(place)
                places.append((start, place))
        for start, place in places:
            copy_into(place, start, threads)

    def finish(self) -> None:
        """Copies results to targets that the run did not work on."""
        for target, array in self._late:
            target[...] = array
