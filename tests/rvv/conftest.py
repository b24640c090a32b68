"""Lets the tests of this folder import its modules; skips them where nothing builds or runs RISC-V code."""

import sys
from pathlib import Path

import pytest

from hbc.cli.main import CALL_DEPTH
from hbc.cli.prepare import require_runnable
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "c"), str(HERE.parent / "samples")]  # cases; the table of samples
sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))  # as hbc itself


@pytest.fixture
def riscv() -> None:
    """Needs zig and qemu-riscv64, or a RISC-V processor."""
    try:
        require_runnable(TARGETS["rvv"])
    except ToolError as e:
        pytest.skip(str(e))
