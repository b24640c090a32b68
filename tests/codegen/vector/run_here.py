"""Whether code for a target runs here: itself, by functions, or in an emulator."""

from __future__ import annotations

import pytest

from hbc.cli.prepare import require_runnable
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS


def runnable(target: str) -> None:
    """Skips a test, with the reason, where it does not."""
    try:
        require_runnable(TARGETS[target])
    except ToolError as e:
        pytest.skip(str(e))
