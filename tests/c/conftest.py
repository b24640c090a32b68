"""Lets the tests of this folder import its modules; targets that this machine runs."""

import sys
from pathlib import Path

import pytest

from hbc.cli.main import CALL_DEPTH
from hbc.cli.prepare import require_runnable
from hbc.ir.diag import ToolError
from hbc.ir.target import ARM, TARGETS, X86

sys.path.insert(0, str(Path(__file__).parent))
sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))  # as hbc itself

GENERAL = [n for n, t in TARGETS.items() if t.machine in ("", X86) and not t.instruction_sets]
# And one for the vectors of each other machine, which an emulator runs.
MACHINES = [*GENERAL, *(name for name, t in TARGETS.items() if t.machine == ARM)]


@pytest.fixture(params=MACHINES)
def target(request: pytest.FixtureRequest) -> str:
    """Each target in turn."""
    return _runnable(str(request.param))


@pytest.fixture(params=[name for name in MACHINES if TARGETS[name].vector_bits])
def vector_target(request: pytest.FixtureRequest) -> str:
    """Each target that has vectors."""
    return _runnable(str(request.param))


@pytest.fixture(params=GENERAL)
def native_target(request: pytest.FixtureRequest) -> str:
    """Each target whose code this process can load."""
    return _runnable(str(request.param))


@pytest.fixture(params=[name for name in GENERAL if TARGETS[name].vector_bits])
def native_vector_target(request: pytest.FixtureRequest) -> str:
    """Each of those that has vectors."""
    return _runnable(str(request.param))


def _runnable(name: str) -> str:
    try:
        require_runnable(TARGETS[name])
    except ToolError as e:
        pytest.skip(str(e))
    return name
