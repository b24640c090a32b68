"""Bytes looked up in small tables: what NumPy looks up, at any indices, nothing read behind the arrays."""

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
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

KERNEL = """
size N
input x: {index}[N]
input t: {t}[{extent}]
output O: {t}[N]
output P: {t}[N]
O[i] = t[i32(x[i]) % {extent}]
P[i] = t[min(max(i32(x[i]) ^ 5, 0), {extent} - 1)]
schedule fast for avx512, avx2, arm_dot {{
    O.vectorize(i, 64)
    P.vectorize(i, 16)
}}
"""
EXTENTS = {16: True, 32: True, 64: True, 112: True, 128: True, 100: False, 144: False}
"""By elements of the table: whether it is held in registers."""


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
@pytest.mark.parametrize("element", ["u8", "i8"])
@pytest.mark.parametrize("extent", EXTENTS)
def test_looked_up(extent: int, element: str, target: str, tmp_path: Path) -> None:
    machine, t = TARGETS[target], numpy_dtype(DTYPES[element])
    try:
        require_runnable(machine)
    except ToolError as e:
        pytest.skip(str(e))
    text = KERNEL.format(extent=extent, t=element, index=element)
    kernel = lowered(text, target)
    source = emit_c(kernel, machine)
    power = extent & (extent - 1) == 0
    if power or not EXTENTS[extent]:
        assert (f"_in_{extent}(t" in source.text) == EXTENTS[extent]
    options = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    library = build_callable(source, machine, tmp_path, extra=options)
    random = np.random.default_rng(7)
    with Native(library, 1, 60.0) as native:
        for n in (1, 133, 640):
            kind = numpy_dtype(DTYPES[element])
            x = random.integers(0, 256, n * kind.itemsize, dtype=np.uint8).view(kind)
            table = random.integers(0, 256, extent, dtype=np.uint8).view(t)
            made = dict.fromkeys("OP", ((n,), DTYPES[element]))
            got = native.call(kernel.name, [n], {"x": x, "t": table}, made, guarded=True).outputs
            wide = x.astype(np.int32)
            assert np.array_equal(got["O"], table[wide % extent]), n
            assert np.array_equal(got["P"], table[np.clip(wide ^ 5, 0, extent - 1)]), n


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
def test_constant_tables_are_looked_up_too(target: str) -> None:
    """Where the table is a `constant` input, of which the code keeps a dense copy."""
    text = KERNEL.format(extent=64, t="u8", index="u8").replace("t: u8[64]", "t: u8[64] constant")
    assert "_in_64(t" in emit_c(lowered(text, target), TARGETS[target]).text
