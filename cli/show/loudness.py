"""How much a command says beside its results: --quiet and --verbose, which all commands have."""

from __future__ import annotations

import sys
import time
from enum import IntEnum

from hbc.ir.ground.printable import printable_line
from hbc.ir.host.trace import listen


class Loudness(IntEnum):
    """QUIET: errors and warnings alone. VERBOSE: also what is done, and when."""

    QUIET = 0
    USUAL = 1
    VERBOSE = 2


_now = [Loudness.USUAL]


def loudness() -> Loudness:
    return _now[0]


def be(wanted: Loudness) -> None:
    """For the command that begins now."""
    _now[0] = wanted
    start = time.perf_counter()

    def said(text: str) -> None:
        line = f"{time.perf_counter() - start:8.3f} s  {printable_line(text)}"
        print(line, file=sys.stderr, flush=True)

    listen(said if wanted is Loudness.VERBOSE else None)
