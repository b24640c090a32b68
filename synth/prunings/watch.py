"""Watches over a search: time, memory, interruption, and what the user is told meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field

from hbc.ir.ground.record import mutable


class Stopped(Exception):
    """The search was told to end; what has been found so far counts."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Tell = Callable[[str], None]
SHOWN_EVERY = 0.1  # seconds


@mutable
class Watch:
    """`deadline` in seconds of the monotonic clock, `room` bytes that states may take. Counts: `tried`
    partial candidates tested, `states` complete ones constructed, and by hole those that passed."""

    deadline: float | None = None
    room: int = 400_000_000
    tell: Tell = lambda text: None
    tried: int = 0
    states: int = 0
    visited: dict[int, int] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    _shown: float = 0.0
    _phase: str = ""
    _since: float = field(default_factory=time.monotonic)

    def check(self) -> None:
        """Raises Stopped when the time is over."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise Stopped("timeout")

    def phase(self, name: str) -> None:
        """What is done from now on, for the times of phases."""
        now = time.monotonic()
        if self._phase:
            self.phases[self._phase] = self.phases.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = name, now

    def visit(self, hole: int, count: int) -> None:
        self.visited[hole] = self.visited.get(hole, 0) + count

    def show(self, hole: str, number: int, holes: int, alive: int) -> None:
        """Tells how far the search is, a few times a second: the hole that is being filled, the states
        so far, the candidates that are alive."""
        now = time.monotonic()
        if now - self._shown > SHOWN_EVERY:
            self._shown = now
            self.tell(
                f"hole {number} of {holes}, {hole}: {self.states:,} states, {alive:,} candidates alive"
            )
