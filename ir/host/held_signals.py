"""Interruptions that wait until what has begun has a name, by which it can be ended and removed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# What ends hbc and can be caught. Windows has no SIGHUP.
ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextmanager
def held_signals() -> Iterator[None]:
    """In the block no signal raises an exception; the first that came does at its end. Signals that
    nothing in this process handles end it as ever."""
    if threading.current_thread() is not threading.main_thread():
        yield  # exceptions of signals are the main thread's
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDING}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])
