"""Runs compilers and their like: each in a process group of its own, which ends with hbc; what one says
of itself, and not of our text, is the tool's failure."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.host.trace import trace

TIMEOUT = 300.0  # seconds; a 10,000-line kernel takes gcc some 20
FIRST_TIMEOUT = 1500.0  # of zig, which first builds the C library of another system
PATIENCE = 2.0  # seconds for a compiler to remove its temporary files
ZIG = "ziglang"
NO_ROOM = os.strerror(errno.ENOSPC)  # as compilers and assemblers say it
_TRANSLATIONS = ("LC_ALL", "LANGUAGE")
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")  # how compilers are told of a folder
_FIRST_BUILD = (
    "for a system that it has not built for, zig first compiles a C library, two minutes on an idle "
    "processor: run it again, what is done is kept"
)
# What gcc, clang and linkers say when they cannot go on, whatever the text: the first that fits.
_FAILURES = (
    (re.compile(re.escape(NO_ROOM)), "TMPDIR names another folder"),
    (
        re.compile(
            r"out of memory|memory exhausted|Cannot allocate memory|bad_alloc|insufficient memory"
            r"|Killed signal terminated|Killed \(program",
            re.IGNORECASE,
        ),
        "it needs more memory: unroll or vectorize less",
    ),
    (re.compile(r"Too many open files"), "`ulimit -n` allows too few"),
    (
        re.compile(
            r"internal compiler error|PLEASE (?:ATTACH|submit)|signal terminated program", re.IGNORECASE
        ),
        "it is the compiler that is broken: CC names another one",
    ),
)  # fmt: skip


def _called(arguments: Sequence[str]) -> str:
    """The tool; where Python runs it, such as zig, its module."""
    return " ".join(arguments[:3]) if arguments[1:2] == ["-m"] else arguments[0]


def run_tool(
    arguments: Sequence[str], timeout: float | None = None, temporary: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Its exit status and what it said, bytes that are no UTF-8 replaced. `temporary`: the folder for its own
    temporary files; `timeout` in seconds. ToolError where it cannot be run, takes too long or is killed."""
    child: subprocess.Popen[bytes] | None = None
    if timeout is None:
        timeout = FIRST_TIMEOUT if ZIG in arguments else TIMEOUT
    trace(" ".join(arguments))
    try:
        with held_signals():
            child = _start(arguments, temporary)
        out, said = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as e:
        message = f"`{_called(arguments)}` took longer than {timeout:g} s"
        advice = _FIRST_BUILD if ZIG in arguments else "unroll or vectorize less"
        raise ToolError(Diagnostic(message, hint=advice)) from e
    except (OSError, ValueError) as e:  # ValueError: a NUL in a name
        reason = str(e.strerror if isinstance(e, OSError) and e.strerror else e)
        hint = next((hint for sign, hint in _FAILURES if sign.search(reason)), None)
        raise ToolError(Diagnostic(f"cannot run `{arguments[0]}`: {reason}", hint=hint)) from e
    finally:
        if child is not None and child.returncode is None:
            with held_signals():
                _end(child)
    if child.returncode < 0:
        name = signal_name(-child.returncode)
        hint = "it may have run out of memory: unroll or vectorize less"
        raise ToolError(Diagnostic(f"`{_called(arguments)}` was ended by {name}", hint=hint))
    return subprocess.CompletedProcess(
        list(arguments), child.returncode, out.decode("utf-8", "replace"),
        said.decode("utf-8", "replace"),
    )  # fmt: skip


def compile_with(arguments: Sequence[str], made: Path) -> subprocess.CompletedProcess[str]:
    """The same for a tool that is to write the file `made`. ToolError where it fails for reasons of its
    own, or says that it is done and there is no file."""
    # gcc's driver removes its files when it is ended; what it started may write one after that.
    with scratch_folder() as own:
        answer = run_tool(arguments, temporary=own)
    if answer.returncode == 0 and not made.is_file():
        raise ToolError(
            Diagnostic(f"`{arguments[0]}` says that it is done, and wrote no file `{made.name}`")
        )
    if answer.returncode != 0:
        said = answer.stderr + answer.stdout
        for sign, hint in _FAILURES:
            if match := sign.search(said):
                begin = said.rfind("\n", 0, match.start()) + 1
                line = said[begin:].splitlines()[0].strip()[:200]
                raise ToolError(Diagnostic(f"`{arguments[0]}` failed: {line}", hint=hint))
    return answer


def signal_name(number: int) -> str:
    """SIGSEGV for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _start(arguments: Sequence[str], temporary: Path | None) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in os.environ.items() if k not in _TRANSLATIONS}
    if temporary is not None:
        environment |= dict.fromkeys(_TEMPORARY, str(temporary.absolute()))
    return subprocess.Popen(
        list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment | {"LC_MESSAGES": "C"},  # in the words that are looked for
        process_group=None if sys.platform == "win32" else 0,
    )  # fmt: skip


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends the tool and what it has started: gcc is a driver of several programs. It is asked to, so
    that it removes its files, and made to."""
    end_group(child, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(PATIENCE)
    if sys.platform != "win32":
        end_group(child, signal.SIGKILL)  # also what the driver has left
    child.wait()
    _wait_for_group(child)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _wait_for_group(child: subprocess.Popen[bytes]) -> None:
    """Until none of a group that was killed is left to write a file."""
    until = time.monotonic() + PATIENCE
    with suppress(ProcessLookupError, PermissionError):
        while sys.platform != "win32" and time.monotonic() < until:
            os.killpg(child.pid, 0)
            time.sleep(0.002)


def end_group(child: subprocess.Popen[bytes], number: int) -> None:
    """Sends a signal to a process that was started as the first of a group, and to the group."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            child.terminate()
        else:
            os.killpg(child.pid, number)
