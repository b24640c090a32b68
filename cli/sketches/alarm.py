"""Ends a search at its deadline, wherever it is, by a signal; where there are no signals, at its checks."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hbc.synth.prunings.watch import Stopped

SOONEST = 1e-3  # seconds: a timer of 0 never rings


@contextmanager
def alarm(deadline: float | None) -> Iterator[None]:
    """Raises Stopped in the block when the monotonic clock shows `deadline`, once."""
    possible = hasattr(signal, "setitimer")
    if (
        deadline is None
        or not possible
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        if _is_unheard(frame):
            signal.setitimer(signal.ITIMER_REAL, SOONEST)
        else:
            raise Stopped("timeout")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), SOONEST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_unheard(frame: FrameType | None) -> bool:
    """Whether Python drops what is raised there: in a finalizer, or in what the garbage collector calls
    when it begins and ends."""
    called = {getattr(c, "__code__", None) for c in gc.callbacks}
    while frame is not None:
        if frame.f_code in called or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False
