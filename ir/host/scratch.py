"""Names of files and folders that hbc removes itself; those of a run that was killed, a later run removes.

A name holds the number of the process that made it: what is older than a day, belongs to this user and
to no process that runs is nobody's.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.host.held_signals import held_signals

OLD = 24 * 3600.0  # seconds since anything was put into it
_NAME = re.compile(r"\.?hbc-(\d+)-[0-9a-f]{8}(?:\.\w+)?")
_cleared: set[Path] = set()


def scratch_name(suffix: str = "", hidden: bool = True) -> str:
    """A name that nothing has, with an ending of the caller's."""
    return f"{'.' if hidden else ''}hbc-{os.getpid()}-{os.urandom(4).hex()}{suffix}"


@contextmanager
def scratch_folder(beside: Path | None = None) -> Iterator[Path]:
    """An empty folder for this user alone, removed at the end of the block: hidden in the folder
    `beside`, or where the system keeps temporary files (TMPDIR). ToolError
    where there is none."""
    around = beside if beside is not None else _temporary()
    made: Path | None = None
    try:
        with held_signals():
            clear_leftovers(around)
            path = around / scratch_name(hidden=beside is not None)
            path.mkdir(mode=0o700)
            made = path
        yield made
    finally:
        if made is not None:
            with held_signals():
                _clear(made)


def process_folder() -> Path:
    """A folder that is this process's until it ends, the same at each call; a process that is forked has
    another. ToolError where there is no folder for temporary files."""
    return _of_process(os.getpid())


@cache
def _of_process(number: int) -> Path:
    with held_signals():
        path = _temporary() / scratch_name(hidden=False)
        path.mkdir(mode=0o700)
    atexit.register(_remove, path, number)
    return path


def _remove(path: Path, number: int) -> None:
    if os.getpid() == number:
        _clear(path)


def _clear(folder: Path) -> None:
    """Removes it with all that is in it; an empty one also where no handle is left to look into it."""
    import shutil  # here, and below: most runs only read what is kept, and it takes 5 ms

    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.rmdir()


def _temporary() -> Path:
    """Where the system keeps temporary files. ToolError where there is no room for any."""
    import tempfile

    try:
        return Path(tempfile.gettempdir())
    except OSError as failure:
        raise ToolError(
            Diagnostic("there is no folder for temporary files", hint="TMPDIR names one with room")
        ) from failure


def clear_leftovers(folder: Path) -> None:
    """Removes what runs left there that were killed, once for each folder in a process."""
    if folder in _cleared:
        return
    _cleared.add(folder)
    try:
        with os.scandir(folder) as entries:
            found = [e for e in entries if (m := _NAME.fullmatch(e.name)) and _left(e, int(m[1]))]
    except OSError:
        return  # who writes there will say why
    if not found:
        return
    import shutil

    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with suppress(OSError):
                Path(entry.path).unlink()


def _left(entry: os.DirEntry[str], process: int) -> bool:
    """Whether what has such a name is this user's and its process is gone."""
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    mine = not hasattr(os, "geteuid") or facts.st_uid == os.geteuid()
    return mine and time.time() - facts.st_mtime > OLD and not _runs(process)


def _runs(process: int) -> bool:
    if sys.platform == "win32":
        return False  # asking would end it: there age decides alone
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
