"""Lets the tests of this folder import its modules; ways to run kernels with tiles here."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tile_machines import MACHINES, TileMachine, why_not


@pytest.fixture(params=MACHINES, ids=str)
def machine(request: pytest.FixtureRequest) -> TileMachine:
    """Each way of running kernels with tiles, in turn."""
    chosen: TileMachine = request.param
    if reason := why_not(chosen):
        pytest.skip(reason)
    return chosen
