"""What hbc does where the address space is limited (`ulimit -v`), before NumPy is imported.

OpenBLAS takes buffers for each of its threads when it is loaded; where there is no room it prints
lines of its own and ends the process. No exception says so, hence a question beforehand.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType

from hbc.ir.ground.diag import error

# NumPy, OpenBLAS with one thread and what hbc imports took 200 MB (NumPy 2.4, x86-64).
LEAST = 256_000_000


class RoomForNumPy:
    """Finds no module; refuses the import of NumPy without room for it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        if name == "numpy" and self._limit < LEAST:
            raise error(
                f"there is not enough memory: NumPy needs {LEAST // 1_000_000} MB of address space, "
                f"and {self._limit // 1_000_000} are allowed",
                hint=f"ulimit -v {2 * LEAST // 1024}",
            )


def watch_address_space() -> None:
    """Where there is a limit: one thread for OpenBLAS, and an HbcError instead of its complaint."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or "numpy" in sys.modules:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, RoomForNumPy(limit))
