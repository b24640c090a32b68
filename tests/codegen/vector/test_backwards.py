"""Filters that read backwards, reversed once for each vector: what they compute at sizes with and without
tails, and how often vectors are reversed.

Memory behind every array faults.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from compiled import lowered

from hbc.cli.prepare import require_runnable
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

FILTER = """
input A_{t}: {t}[N + 2]
output B_{t}: {t}[N]
B_{t}[i] = A_{t}[N + 1 - i] * 2 + A_{t}[N - i] * 3 + A_{t}[N - 1 - i]
"""
# The instructions that reverse a register of each type.
REVERSED = {
    "avx2": {"u8": 2, "i16": 2, "f32": 1, "f64": 1},
    "avx512": {"u8": 2, "i16": 1, "f32": 1, "f64": 1},
    "arm_dot": {"u8": 1, "i16": 1, "f32": 1, "f64": 1},
}


def filters(target: str) -> Kernel:
    """Of vectors that fill a register."""
    bits = TARGETS[target].vector_bits
    lines = ["size N", *(FILTER.format(t=t) for t in REVERSED[target])]
    lines += [f"schedule fast for {target} {{"]
    lines += [f"B_{t}.vectorize(i, {bits // DTYPES[t].bits})" for t in REVERSED[target]]
    return lowered("\n".join([*lines, "}\n"]), target)


@pytest.mark.parametrize("target", REVERSED)
def test_filters(target: str, tmp_path: Path) -> None:
    machine = TARGETS[target]
    try:
        require_runnable(machine)
    except ToolError as e:
        pytest.skip(str(e))
    kernel, types = filters(target), {t: DTYPES[t] for t in REVERSED[target]}
    options = ("-O1", "-Wall", "-Werror")
    library = build_callable(emit_c(kernel, machine), machine, tmp_path, extra=options)
    random = np.random.default_rng(5)
    with Native(library, 1, 60.0) as native:
        for n in (1, 15, 16, 64, 129):
            given = {
                f"A_{name}": random.integers(0, 99, n + 2).astype(numpy_dtype(t))
                for name, t in types.items()
            }
            made = {f"B_{name}": ((n,), t) for name, t in types.items()}
            got = native.call(kernel.name, [n], given, made, guarded=True).outputs
            for name in types:
                back = given[f"A_{name}"][::-1]
                want = (back[:n] * 2 + back[1 : n + 1] * 3 + back[2:]).astype(back.dtype)
                assert got[f"B_{name}"].tobytes() == want.tobytes(), (name, n)


@pytest.mark.parametrize("target", REVERSED)
def test_vectors_are_reversed_once(target: str) -> None:
    """The registers of a loop: the value, and what each instruction makes of it."""
    code = emit_c(filters(target), TARGETS[target]).text
    for name, count in REVERSED[target].items():
        loop = code[code.index(f"// B_{name}.vectorize") :].partition("tail")[0]
        made = re.findall(rf"\bB_{name}_back_\d+_(\d)_ =", loop)
        assert [int(n) for n in made] == list(range(1 + count)), loop
