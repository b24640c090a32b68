"""What is being done, for who wants to see it (`hbc -v`): programs that are run, what is read and kept."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def trace(text: str) -> None:
    """Says a line of what is done to who listens; nobody does, as a rule."""
    for listener in _listeners:
        listener(text)


def listen(listener: Callable[[str], None] | None) -> None:
    """From now on this one listens, in place of who did before; None: nobody."""
    _listeners[:] = [] if listener is None else [listener]
