"""The folder in which hbc keeps what it can make again: its user's alone, or none is used.

What lies there is believed: parsers, checked descriptions, libraries that are loaded. So nobody else
may have written it. Each file carries a digest too, against damage.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from hbc.ir.host.cache_limit import LIMIT, limit_of, shrink, touch
from hbc.ir.host.trace import trace
from hbc.ir.host.user_folders import user_folder

DIGEST_BYTES = 32
VARIABLE = "HBC_CACHE"
PRIVATE = 0o700
LOOKS = 64  # while as much is kept as the folder may hold
_refused: dict[Path, str] = {}
_come: dict[Path, int] = {}  # bytes kept by this process since it looked through the folder


def named_folder() -> Path:
    """Where the cache would be; $HBC_CACHE overrides the system's place."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else user_folder("cache")


def cache_folder() -> Path | None:
    """The folder, made when absent; None where it cannot be made, or others may write in it: then
    `refused_folders` tells why."""
    folder = named_folder()
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        wrong = _mistrusted(folder)
    except OSError as failure:
        wrong = f"it cannot be made ({failure.strerror}); make it"
    if wrong is None:
        return folder
    _refused[folder] = wrong
    return None


def refused_folders() -> dict[Path, str]:
    """The folders that were not used in this process, and for each why not and what would help."""
    return dict(_refused)


def forget_refused() -> None:
    """As if none had been asked for yet."""
    _refused.clear()


def kept(name: str) -> bytes | None:
    """What was kept under the name; None when there is nothing intact."""
    try:
        folder = cache_folder()
        stored = (folder / name).read_bytes() if folder else b""
    except OSError:
        stored = b""
    trace(f"{'from' if stored else 'not in'} the cache: {name}")
    digest, data = stored[:DIGEST_BYTES], stored[DIGEST_BYTES:]
    if sha256(data).digest() != digest:
        return None
    if folder is not None:
        touch(folder / name)
    return data


def keep(name: str, data: bytes) -> None:
    """Keeps it for the next time, where there is a folder for it with room."""
    with suppress(OSError):
        folder = cache_folder()
        if folder is not None:
            _replace(folder / name, sha256(data).digest() + data)
            _make_room(folder, len(data))


def keep_limit(count: int) -> None:
    """From now on the folder, if there is one, holds at most so many bytes. OSError where that cannot be
    noted."""
    folder = cache_folder()
    if folder is not None:
        _replace(folder / LIMIT, str(count).encode())


def kept_file(out: Path, make: Callable[[Path], object]) -> Path:
    """The file, which other programs are to load: as it was kept when it is what was made, else made
    by `make`. Its digest lies beside it."""
    beside = out.with_name(out.name + ".sha256")
    try:
        if beside.read_bytes() == _digest(out):
            trace(f"from the cache: {out.name}")
            touch(out)
            return out
    except OSError:
        pass
    make(out)
    with suppress(OSError):  # without a digest it is made again
        _replace(beside, _digest(out))
        _make_room(out.parent, out.stat().st_size)
    return out


def _make_room(folder: Path, count: int) -> None:
    """What was used longest ago goes, where so many bytes more are too many. It takes a look at each file, so
    the folder is looked through at the first of a process, and when much has come since."""
    limit = limit_of(folder)
    come = _come.get(folder, limit) + count
    if come >= limit // LOOKS:
        shrink(folder, limit)
        come = 0
    _come[folder] = come


def _digest(file: Path) -> bytes:
    return sha256(file.read_bytes()).hexdigest().encode()


def _replace(path: Path, data: bytes) -> None:
    """Writes beside and renames, so that a reader sees all of it or nothing."""
    import tempfile  # here: most runs only read, and it takes 2 ms

    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".hbc-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(beside).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(beside).unlink()
        raise


def _mistrusted(folder: Path) -> str | None:
    """Why the folder cannot be believed; None where it is this user's alone, or has been made so."""
    if not hasattr(os, "geteuid"):
        return None  # systems where a user's folders are private
    found = folder.stat()
    if found.st_uid != os.geteuid():
        return "it belongs to another user; remove it"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write in it; remove it"
    if found.st_mode & 0o077:
        try:
            folder.chmod(PRIVATE)
        except OSError as failure:
            return (
                f"others may read it, and it cannot be made private ({failure.strerror}); remove it"
            )
    return None
