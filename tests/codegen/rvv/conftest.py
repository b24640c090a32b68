"""Skips the tests of this folder where nothing builds or runs RISC-V code."""

import sys

import pytest

from hbc.cli.prepare import require_runnable
from hbc.cli.show.frames import CALL_DEPTH
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS

sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))  # as hbc itself


@pytest.fixture
def riscv() -> None:
    """Needs zig and qemu-riscv64, or a RISC-V processor."""
    try:
        require_runnable(TARGETS["rvv"])
    except ToolError as e:
        pytest.skip(str(e))
