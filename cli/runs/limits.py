"""What the process that runs compiled code may take: memory, processor time, the size of its files, files
open at once. So a kernel that goes wrong, or outlives a killed hbc, does not take the machine with it.

`HBC_LIMITS` overrides them: `memory=8G,seconds=60,file=1G,files=32`, each or `none`; `none` alone lifts
all. They are set from outside, on Linux: elsewhere the time limit of a call is the only one.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hbc.cli.files.inputs import physical_memory
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.ground.record import record

VARIABLE = "HBC_LIMITS"
UNLIMITED = "none"
EXAMPLE = "write for example memory=8G,seconds=60,file=1G,files=32, or none"
# Address space is not memory: a thread's stack and its heap reserve some, the libraries the rest.
RESERVED, RESERVED_BY_THREAD = 4 << 30, 256 << 20
FILES = 256
LEAST_FILE = 64 << 20  # bytes: what it says on stderr, what a driver keeps for itself
SPARE_SECONDS = 60.0  # of processor time beside the calls': a process that starts on a busy machine
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SANITIZER = re.compile(r"lib\w*san\b")


@record
class Limits:
    """`memory` and `file` in bytes, `seconds` for each call, `files` open at once; None: no limit.
    `reserves`: the process reserves address space without end, as GPU drivers and sanitizers do,
    so that it cannot be limited."""

    memory: int | None
    seconds: float | None
    file: int | None
    files: int | None
    reserves: bool = False


def limits_of_calls(timeout: float, threads: int, gpu: bool = False) -> Limits:
    """The limits of a process that serves calls of `timeout` seconds on so many threads; those of
    $HBC_LIMITS win. UsageError when it cannot be read."""
    there = physical_memory()
    reserved = RESERVED + threads * RESERVED_BY_THREAD
    usual = Limits(
        memory=None if there is None else there + reserved,
        seconds=timeout * threads + SPARE_SECONDS,
        file=LEAST_FILE,
        files=None if gpu else FILES + 4 * threads,
        reserves=gpu or _SANITIZER.search(os.environ.get("LD_PRELOAD", "")) is not None,
    )
    return _overridden(usual, os.environ.get(VARIABLE, ""))


def limit(process: int, limits: Limits, written: int = 0) -> None:
    """Limits a process of this user from now on, what it has used apart. `written`: the bytes of the
    longest file that it is asked for. What the system does not let us set stays as it was."""
    if sys.platform != "linux":
        return
    import resource

    used = _used_seconds(process)
    file = None if limits.file is None else limits.file + written
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_AS: None if limits.reserves else limits.memory,
        resource.RLIMIT_CPU: None if limits.seconds is None else int(used + limits.seconds) + 1,
        resource.RLIMIT_FSIZE: file,
        resource.RLIMIT_NOFILE: limits.files,
    }
    for kind, most in wanted.items():
        if most is None:
            continue
        with suppress(OSError, ValueError):
            _, hard = resource.prlimit(process, kind)
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(process, kind, (soft, hard))


def _used_seconds(process: int) -> float:
    """Of processor time, by all of its threads."""
    try:
        said = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
        fields = said.rpartition(")")[2].split()  # its name may hold anything
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _overridden(usual: Limits, text: str) -> Limits:
    if text.strip() == UNLIMITED:
        return Limits(None, None, None, None, usual.reserves)
    limits = usual
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, _, value = part.partition("=")
        match name.strip():
            case "memory":
                # It is asked for, so it is set where it may break what reserves.
                limits = replace(limits, memory=_size(value, text), reserves=False)
            case "file":
                limits = replace(limits, file=_size(value, text))
            case "files":
                limits = replace(limits, files=_size(value, text))
            case "seconds":
                size = _size(value, text)
                limits = replace(limits, seconds=None if size is None else float(size))
            case _:
                raise _unreadable(text)
    return limits


def _size(value: str, text: str) -> int | None:
    if value.strip() == UNLIMITED:
        return None
    match = re.fullmatch(r"(\d{1,15})([KMGT]?)", value.strip())
    if match is None or (number := int(match[1]) << _UNITS[match[2]]) == 0:
        raise _unreadable(text)
    return number


def _unreadable(text: str) -> UsageError:
    return UsageError(Diagnostic(f"{VARIABLE} is `{text}`, which says no limits", hint=EXAMPLE))
