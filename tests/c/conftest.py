"""Lets the tests of this folder import its modules; targets that this machine runs."""

import sys
from pathlib import Path

import pytest

from hbc.cli.machine import can_run
from hbc.ir.target import TARGETS

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest) -> str:
    """Each target in turn."""
    return _runnable(str(request.param))


@pytest.fixture(params=[name for name, t in TARGETS.items() if t.vector_bits])
def vector_target(request: pytest.FixtureRequest) -> str:
    """Each target that has vectors."""
    return _runnable(str(request.param))


def _runnable(name: str) -> str:
    if not can_run(TARGETS[name]):
        pytest.skip(f"this processor cannot run {name}")
    return name
