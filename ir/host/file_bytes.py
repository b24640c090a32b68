"""Reads what people name on the command line: files, and pipes that the shell makes, up to a limit."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

DEVICES = "/dev/"  # `<(command)` of a shell is /dev/fd/63


class NoFile(OSError):
    """The path leads to a pipe, a socket, a device or a folder, which may never end or never begin."""


def check_regular(path: Path) -> None:
    """NoFile for what is no regular file; OSError when there is nothing."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        kinds = (
            (stat.S_ISDIR, "a folder"),
            (stat.S_ISFIFO, "a pipe"),
            (stat.S_ISSOCK, "a socket"),
        )
        kind = next((what for test, what in kinds if test(mode)), "a device")
        raise NoFile(errno.EINVAL, f"it is {kind}, not a file", str(path))


def file_bytes(path: Path, most: int) -> bytes:
    """At most so many bytes of a regular file or of what the shell hands over as one. OSError."""
    if not str(path).startswith(DEVICES):
        check_regular(path)
    with path.open("rb") as file:
        return file.read(most)
