"""The machines that execute AMX here."""

import pytest
from amx_machines import BUILDS, Build, Machine, Workshop, why_not


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Where the C programs of these tests are compiled."""
    return Workshop(tmp_path_factory.mktemp("amx"))


@pytest.fixture(params=BUILDS, ids=str)
def build(request: pytest.FixtureRequest) -> Build:
    """Each way of compiling AMX code, in turn."""
    chosen: Build = request.param
    if reason := why_not(chosen):
        pytest.skip(reason)
    return chosen


@pytest.fixture
def machine(build: Build, workshop: Workshop) -> Machine:
    """Something that executes AMX programs, made from each build in turn."""
    return workshop.machine(build)
