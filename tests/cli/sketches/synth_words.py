"""`hbc synth` in this process: a process of its own is half a second of imports."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from hbc.cli.main import exit_code_of


@dataclass(frozen=True, slots=True)
class Said:
    """What a command line printed."""

    stdout: str
    stderr: str


def synth(*words: str, code: int = 0) -> Said:
    """Of a command line that ends with this exit code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        ended = exit_code_of(["synth", *words])
    said = Said(out.getvalue(), err.getvalue())
    assert ended == code, said.stderr
    assert "Traceback" not in said.stderr
    return said
