"""Skips the tests of this folder where nothing runs ARM code."""

import pytest

from hbc.cli.prepare import require_runnable
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import ARM, TARGETS, Target


@pytest.fixture
def arm() -> Target:
    """A target of ARM processors, whose code this machine or an emulator here runs."""
    target = next(t for t in TARGETS.values() if t.machine == ARM)
    try:
        require_runnable(target)
    except ToolError as e:
        pytest.skip(str(e))
    return target
