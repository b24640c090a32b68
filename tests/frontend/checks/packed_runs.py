"""Kernels with arrays of 4 bits, compiled for a target that can be run here."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiled import lowered

from hbc.cli.prepare import require_runnable
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS


def built(kernel: str, target: str, folder: Path) -> tuple[CSource, Path]:
    """The C, and the library of it. Skips the test where nothing runs the target."""
    machine = TARGETS[target]
    try:
        require_runnable(machine)
    except ToolError as missing:
        pytest.skip(str(missing))
    source = emit_c(lowered(kernel, target), machine)
    warnings = ("-O1", "-Wall", "-Wextra", "-Werror")
    return source, build_callable(source, machine, folder, extra=warnings)
