"""Runs the compiler inside somebody else's process: with the depth of calls that its passes need, and saying
what it says as a call would."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from hbc.cli.api.said import as_python_hears
from hbc.cli.show.frames import CALL_DEPTH, with_room

Result = TypeVar("Result")


def in_compiler(work: Callable[[], Result]) -> Result:
    """The work with what passes need: they recurse over programs (see `CALL_DEPTH`)."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, CALL_DEPTH))
    try:
        with as_python_hears():
            return with_room(work)
    finally:
        sys.setrecursionlimit(before)
