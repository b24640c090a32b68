"""Why a barrier stands: which accesses before it conflict with which behind it, in words.

`s` stored in line 14, then read in line 16 by another warp
"""

from __future__ import annotations

from collections.abc import Iterable

from hbc.codegen.threads.access import ThreadAccess
from hbc.codegen.threads.conflicts import MANY, SyncScope, UnsyncedAccess

_ENDING = {2: "nd", 3: "rd"}
_BY = {SyncScope.WARP: "another lane", SyncScope.BLOCK: "another warp"}


def reasons(pairs: Iterable[tuple[UnsyncedAccess, ThreadAccess, SyncScope]]) -> str:
    """One for each two places in the source and each distance in time."""
    return "; ".join(dict.fromkeys(_reason(*pair) for pair in pairs))


def _reason(p: UnsyncedAccess, a: ThreadAccess, level: SyncScope) -> str:
    return f"`{a.buffer}` {_done(p.access)}{_ago(p)}, then {_done(a)} by {_BY[level]}"


def _done(a: ThreadAccess) -> str:
    what = "updated" if a.atomic is not None else "stored" if a.stores else "read"
    return what if a.span is None else f"{what} in line {a.span.line}"


def _ago(p: UnsyncedAccess) -> str:
    """In which iterations of the loops around both."""
    times = [f"{_times(count)} iteration of `{name}`" for name, count in p.back]
    return f" in {' and '.join(times)}" if times else ""


def _times(count: int) -> str:
    if count == MANY:
        return "an earlier"
    return "the last" if count == 1 else f"the {count}{_ENDING.get(count, 'th')} last"
