"""Targets that this machine runs, each in turn: fixtures of tests of emitted C."""

import sys

import pytest

from hbc.cli.runs.emulation import can_emulate
from hbc.cli.show.frames import CALL_DEPTH
from hbc.codegen.build import program
from hbc.codegen.build.processor import SOFT, can_run
from hbc.ir.lang.target import ARM, RISCV, TARGETS, X86

sys.setrecursionlimit(max(sys.getrecursionlimit(), CALL_DEPTH))  # as hbc itself

GENERAL = [n for n, t in TARGETS.items() if t.machine in ("", X86) and not t.instruction_sets]
# And one for the vectors of each other machine, which an emulator runs.
MACHINES = [*GENERAL, *(name for name, t in TARGETS.items() if t.machine in (ARM, RISCV))]
# Where a processor has AVX-512, what stands for it elsewhere is tested too.
BY_FUNCTIONS = "avx512 by functions"
VECTORS = [name for name in MACHINES if TARGETS[name].vector_bits]


@pytest.fixture(params=MACHINES)
def target(request: pytest.FixtureRequest) -> str:
    """Each target in turn."""
    return _runnable(str(request.param))


@pytest.fixture(params=[*VECTORS, *([BY_FUNCTIONS] if can_run(TARGETS["avx512"]) else [])])
def vector_target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each target that has vectors."""
    if request.param == BY_FUNCTIONS:
        monkeypatch.setattr(program, "softened_features", lambda target: SOFT)
        return "avx512"
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
    if not (can_run(TARGETS[name]) or can_emulate(TARGETS[name])):
        pytest.skip(f"this processor cannot run {name} code, nor is there an emulator")
    return name
