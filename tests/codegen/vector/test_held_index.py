"""Tables that are read at computed places: the places of several registers of lanes, and those under a mask.

Memory behind every array faults.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from compiled import lowered

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import U8

LOOKUP = """
size   N
input  A: i16[N]
input  B: u8[N]
input  T: u8[2000]
output O: u8[N]

O[i] = T[i64(clamp(i32(A[i]) * 3 + i32(B[i] / 2), 0, 63))]

schedule lanes for c { O.vectorize(i, 64) }
"""


def test_places_are_computed_as_vectors(vector_target: str, tmp_path: Path) -> None:
    machine, random = TARGETS[vector_target], np.random.default_rng(3)
    kernel = lowered(LOOKUP, vector_target)
    source = emit_c(kernel, machine)
    assert "int32_t places" in source.text
    library = build_callable(
        source, machine, tmp_path, extra=("-O1", "-Wall", "-Wextra", "-Werror")
    )
    table = random.integers(0, 256, 2000, np.uint8)
    with Native(library, 1, 60.0) as native:
        for n in (1, 63, 64, 131):
            a, b = random.integers(-40, 40, n, np.int16), random.integers(0, 256, n, np.uint8)
            given, made = {"A": a, "B": b, "T": table}, {"O": ((n,), U8)}
            got = native.call(kernel.name, [n], given, made, guarded=True).outputs["O"]
            assert (got == table[np.clip(a.astype(int) * 3 + b // 2, 0, 63)]).all(), n
