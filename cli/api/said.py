"""What hbc says, as a program in Python hears it: in the words of a call, and through `logging`.

Notes (`note: schedule auto ...`) are INFO of the logger `hbc`, warnings WARNING: so the first are silent
unless asked for, and the second are shown unless silenced, as `logging` does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from hbc.cli.show.report import Said, told_to
from hbc.ir.ground.diag import Diagnostic, HbcError, Severity

LOGGER = "hbc"

# What the command line has, and a call has for it; the first that fits.
_SPELLINGS = (
    (r" with --set\b", ""),
    (r"--set ", ""),
    (r"--(target|schedule) with\b", r"\1= with"),
    (r"--(kernel|target|schedule|fallback) (\w+)", r'\1="\2"'),
    (r"--(target|schedule|threads)\b", r"\1="),
    (r"--on-cpu\b", "on_cpu=True"),
)


def in_python(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Where the command line would say `--set N=8`, a call says `N=8`."""

    def said(text: str) -> str:
        for pattern, instead in _SPELLINGS:
            text = re.sub(pattern, instead, text)
        return text

    return [replace(d, message=said(d.message), hint=d.hint and said(d.hint)) for d in diagnostics]


@contextmanager
def as_python_hears() -> Iterator[None]:
    """Errors in the words of a call, and what is said by the logger."""
    try:
        with told_to(_log):
            yield
    except HbcError as failure:
        raise type(failure)(in_python(failure.diagnostics)) from failure.__cause__


def _log(said: Said) -> None:
    note = isinstance(said, str) or said.severity is Severity.NOTE
    if note and "logging" not in sys.modules:
        return  # nobody can have asked for notes, and importing it takes 3 ms
    import logging

    logger = logging.getLogger(LOGGER)
    if isinstance(said, Diagnostic):
        logger.log(logging.INFO if note else logging.WARNING, "%s", said.render())
    else:
        logger.info("%s", said.removeprefix("note: "))
