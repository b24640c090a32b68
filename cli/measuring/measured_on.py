"""The machine that measurements are made on, and hold for."""

from __future__ import annotations

import json
from hashlib import sha256

from hbc.cli.machine import cpu_name
from hbc.cli.own.installed import hbc_digest
from hbc.codegen.build.processor import can_run, cpu_features
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.record import record
from hbc.ir.lang.target import TARGETS


@record
class Machine:
    """`cpu`: as people call it; `features`: a digest of what it can do; `compiler`: as it names itself;
    `made`: what decides what hbc and the compiler make of a schedule; `runs`: names of targets."""

    cpu: str
    features: str
    compiler: str
    made: str
    runs: tuple[str, ...]


def this_machine() -> Machine:
    """ToolError where there is no C compiler."""
    compiler = find_compiler()
    return Machine(
        cpu_name(), digest(sorted(cpu_features())), str(compiler),
        digest([hbc_digest(), str(compiler), compiler.command]),
        tuple(t.name for t in TARGETS.values() if can_run(t)),
    )  # fmt: skip


def digest(value: object) -> str:
    """Of anything that JSON can say."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]
