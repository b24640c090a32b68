"""Vectors of bytes shifted by a number, for which x86 has no instruction: what NumPy makes of every byte."""

from pathlib import Path

import numpy as np
import pytest
from compiled import lowered

from hbc.cli.prepare import require_runnable
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import I8, U8

TYPES = {"u8": (U8, np.uint8), "i8": (I8, np.int8)}
SHIFTS = {f"{side}{count}": count for side in ("left", "right") for count in (1, 4, 7)}


def text() -> str:
    lines = ["size N", *(f"input a_{t}: {t}[N]" for t in TYPES)]
    names = [(f"{name}_{t}", name, t) for t in TYPES for name in SHIFTS]
    lines += [f"output {out}: {t}[N]" for out, _, t in names]
    for out, name, t in names:
        lines.append(f"{out}[i] = a_{t}[i] {'<<' if 'left' in name else '>>'} {SHIFTS[name]}")
    lines.append("schedule fast for avx512, avx2, arm_dot {")
    return "\n".join([*lines, *(f"{out}.vectorize(i, 64)" for out, _, _ in names), "}\n"])


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
def test_every_byte(target: str, tmp_path: Path) -> None:
    machine = TARGETS[target]
    try:
        require_runnable(machine)
    except ToolError as e:
        pytest.skip(str(e))
    kernel = lowered(text(), target)
    source = emit_c(kernel, machine)
    assert "result[i]" not in source.text  # the loop over lanes that other operations take
    library = build_callable(
        source, machine, tmp_path, extra=("-O1", "-Wall", "-Wextra", "-Werror")
    )
    given = {f"a_{t}": np.arange(256).astype(np.uint8).view(kind) for t, (_, kind) in TYPES.items()}
    made = {f"{name}_{t}": ((256,), TYPES[t][0]) for t in TYPES for name in SHIFTS}
    with Native(library, 1, 60.0) as native:
        got = native.call(kernel.name, [256], given, made).outputs
    for t in TYPES:
        for name, count in SHIFTS.items():
            a = given[f"a_{t}"]
            want = a << count if "left" in name else a >> count
            assert np.array_equal(got[f"{name}_{t}"], want.astype(a.dtype)), (name, t)
