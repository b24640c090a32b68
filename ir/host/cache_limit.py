"""How much the cache may hold: what was used longest ago goes first, nothing that was used just now.

A file's time of modification is when it was last used. Several processes may do this at once: one that
finds a file gone has nothing to do, and a reader that finds none makes it again.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

USUAL_BYTES = 1 << 30
ROOM = 0.8  # of the limit is left when something has to go, or each new file would look through all
IN_USE_SECONDS = 600.0  # who has just looked for a file may be about to load it
STALE_SECONDS = 86_400.0  # for what a writer that was killed left behind
LIMIT = "limit"  # the file that says how many bytes
BESIDE = ".sha256"  # the digest of a library that lies beside it
WRITING = ".hbc-"  # how files begin while they are written


def touch(file: Path) -> None:
    """It has been used now."""
    with suppress(OSError):
        os.utime(file)


def limit_of(folder: Path) -> int:
    """Bytes that the folder may hold."""
    try:
        return max(0, int((folder / LIMIT).read_text(encoding="ascii")))
    except (OSError, ValueError):
        return USUAL_BYTES


def held(folder: Path) -> list[tuple[float, int, Path]]:
    """What is kept: when it was used, its bytes and its place, in this order. Digests count with the files
    that they are of."""
    found: dict[str, tuple[float, int, Path]] = {}
    beside: dict[str, int] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process has removed it
                if entry.name == LIMIT or not entry.is_file(follow_symlinks=False):
                    continue
                seen = entry.stat(follow_symlinks=False)
                if entry.name.endswith(BESIDE):
                    beside[entry.name.removesuffix(BESIDE)] = seen.st_size
                else:
                    found[entry.name] = (seen.st_mtime, seen.st_size, Path(entry.path))
    whole = [(t, n + beside.get(name, 0), path) for name, (t, n, path) in found.items()]
    return sorted(whole, key=lambda file: (file[0], file[2].name))


def shrink(folder: Path, limit: int, everything: bool = False) -> int:
    """Removes what was used longest ago until the folder holds no more than that; the number of files
    removed. `everything`: also what was used just now."""
    files = held(folder)
    total, removed = sum(size for _, size, _ in files), 0
    if total <= limit and not everything:
        return 0
    now, least = time.time(), limit * ROOM
    for used, size, path in files:
        lost = path.name.startswith(WRITING) and now - used > STALE_SECONDS
        if not (everything or lost) and (total <= least or now - used < IN_USE_SECONDS):
            continue
        with suppress(OSError):
            path.unlink()
            path.with_name(path.name + BESIDE).unlink(missing_ok=True)
            total, removed = total - size, removed + 1
    return removed
