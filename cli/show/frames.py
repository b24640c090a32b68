"""Room for Python's frames.

CPython keeps them in chunks of 16 KiB, and gives a chunk back to the system as soon as the call that
asked for it returns. Where a recursion goes to and fro over the end of a chunk, each call maps and
unmaps memory: 15,000 times in a compilation, which then takes a quarter longer.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

_X = TypeVar("_X")
# Passes recurse over programs, up to four calls a level, and programs nest a few hundred deep
# (giants.DEEPEST_NESTING, legal.MOST_LEVELS). Python's own limit is 1000.
CALL_DEPTH = 10_000
SLOTS = 1 << 16
"""Words of a frame for which Python takes a chunk of 1 MiB. Half of it is left for the calls inside."""


def with_room(f: Callable[[], _X]) -> _X:
    """What `f` returns. The frames of all that it calls share one chunk."""
    result: _X = _large(f)
    return result


def _call(f: Callable[[], Any]) -> Any:
    return f()


_large = FunctionType(_call.__code__.replace(co_stacksize=SLOTS), {})
