"""Ways to run kernels with tiles here."""

import pytest
from tile_machines import MACHINES, TileMachine, why_not


@pytest.fixture(params=MACHINES, ids=str)
def machine(request: pytest.FixtureRequest) -> TileMachine:
    """Each way of running kernels with tiles, in turn."""
    chosen: TileMachine = request.param
    if reason := why_not(chosen):
        pytest.skip(reason)
    return chosen
