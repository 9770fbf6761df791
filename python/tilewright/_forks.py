"""What does not survive a fork: threads that compute, and what waits for them; locks that another thread held."""

from __future__ import annotations

import os
import threading
import warnings

from .errors import Infeasible

HINT = 'start processes by multiprocessing.get_context("spawn")'

# Whether threads were started that a forked process lacks.
_started = False
# The calls under way, by thread; each thread writes its own entry.
_under_way: dict[int, int] = {}
# Whether this process was forked from one that had started threads, and while another thread was within a call.
_forked = False
_forked_within_call = False


def _after_fork() -> None:
    global _forked, _forked_within_call
    own = threading.get_ident()
    _forked = _forked or _started
    _forked_within_call = _forked_within_call or any(thread != own for thread in _under_way)
    for thread in [thread for thread in _under_way if thread != own]:
        del _under_way[thread]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Call:
    """Tells, as a context, that the calling thread is within a call. Raises `Infeasible` where locks are held for ever."""

    def __enter__(self) -> None:
        if _forked_within_call:
            raise Infeasible("this process was forked while another thread computed, which does not exist here", (HINT,))
        own = threading.get_ident()
        _under_way[own] = _under_way.get(own, 0) + 1

    def __exit__(self, *_: object) -> None:
        own = threading.get_ident()
        if _under_way.get(own, 0) > 1:
            _under_way[own] -= 1
        else:
            _under_way.pop(own, None)


CALL = Call()


def is_forked() -> bool:
    """Whether this process lacks threads that its parent had started."""
    return _forked


def before_building() -> None:
    """Building, and what is measured meanwhile, starts threads. Raises `Infeasible` in a process that lacks them."""
    global _started
    if _forked:
        raise Infeasible("nothing can be compiled in a process that was forked from one that had started threads", (HINT,))
    _started = True


def threads_for(threads: int | None, backend: str) -> int | None:
    """How many threads compute, where so many were asked for."""
    if backend != "openmp":
        if _forked:
            raise Infeasible("this process was forked from one that had started threads, which do not exist here", (HINT,))
        return threads
    if _forked and threads != 1:
        if threads is not None:
            raise Infeasible(
                "this process was forked from one that had computed in parallel: only one thread can compute here",
                (f"{HINT}, or compute with threads=1",),
            )
        warnings.warn("forked from a process that had computed in parallel: one thread computes", RuntimeWarning, stacklevel=4)
        return 1
    return threads
