"""Elements looked up in small tables: what NumPy looks up, at any indices, nothing read behind the arrays."""

from pathlib import Path

import numpy as np
import pytest
from compiled import lowered

from hbc.cli.prepare import require_runnable
from hbc.cli.runs.native import Native
from hbc.codegen.build import program
from hbc.codegen.build.processor import SOFT
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

BYTES = """
size N
input x: {t}[N]
input t: {t}[{extent}]
output O: {t}[N]
output P: {t}[N]
output Q: f32[N]
O[i] = t[i32(x[i]) % {extent}]
P[i] = t[min(max(i32(x[i]) ^ 5, 0), {extent} - 1)]
Q[i] = f32(t[min(i32(x[i]) & 255, {extent} - 1)])
schedule fast for avx512, avx2, arm_dot {{
    O.vectorize(i, 64)
    P.vectorize(i, 16)
    Q.vectorize(i, 8)
}}
"""
WORDS = """
size N
input x: {index}[N]
input t: {t}[{extent}]
output O: {t}[N]
output P: {t}[N]
output Q: {t}[N]
O[i] = t[i32(x[i]) % {extent}]
P[i] = t[clamp(i32(x[i]) + 5, 0, {extent} - 1)]
Q[i] = t[i32(x[i] & 15)]
schedule fast for avx512, avx2, arm_dot {{
    O.vectorize(i, 64)
    P.vectorize(i, 32)
    Q.vectorize(i, 16)
}}
"""
MACHINES = ["avx2", "avx512", "avx512vbmi", "arm_dot"]
GCC = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def native(text: str, target: str, folder: Path) -> tuple[Kernel, Path, str]:
    """The kernel, its library and its C. Skipped where its code cannot run."""
    machine = TARGETS[target]
    try:
        require_runnable(machine)
    except ToolError as e:
        pytest.skip(str(e))
    kernel = lowered(text, target)
    source = emit_c(kernel, machine)
    return kernel, build_callable(source, machine, folder, extra=GCC), source.text


@pytest.mark.parametrize("target", MACHINES)
@pytest.mark.parametrize(
    ("extent", "element"),
    [
        *((n, "u8") for n in (1, 5, 16, 17, 64, 100, 144, 256)),
        *((n, "i8") for n in (50, 112, 128, 255)),
    ],
)
def test_by_bytes(extent: int, element: str, target: str, tmp_path: Path) -> None:
    kernel, library, text = native(BYTES.format(extent=extent, t=element), target, tmp_path)
    assert f"_in_{extent}(t" in text or extent == 1
    random, t = np.random.default_rng(extent), numpy_dtype(DTYPES[element])
    with Native(library, 1, 60.0) as run:
        for n in (1, 133, 640):
            x = random.integers(0, 256, n, dtype=np.uint8).view(t)
            table = random.integers(0, 256, extent, dtype=np.uint8).view(t)
            made = dict.fromkeys("OP", ((n,), DTYPES[element])) | {"Q": ((n,), DTYPES["f32"])}
            got = run.call(kernel.name, [n], {"x": x, "t": table}, made, guarded=True).outputs
            wide = x.astype(np.int32)
            assert np.array_equal(got["O"], table[wide % extent]), n
            assert np.array_equal(got["P"], table[np.clip(wide ^ 5, 0, extent - 1)]), n
            assert np.array_equal(got["Q"], table[np.minimum(wide & 255, extent - 1)]), n


@pytest.mark.parametrize(
    ("extent", "index", "target"),
    [
        *((100, index, target) for index in ("i16", "i32") for target in MACHINES),
        *((257, "u16", target) for target in MACHINES),
        *((n, "i16", t) for n in (320, 777, 1024, 1025) for t in MACHINES[1:3]),
        *((n, "i16", "avx512vbmi") for n in (448, 640, 896)),
        *((n, "i32", t) for n in (1000, 1024) for t in MACHINES[1:3]),
    ],
)
def test_by_wider_places(extent: int, index: str, target: str, tmp_path: Path) -> None:
    """Beyond 256 bytes in registers with AVX-512 alone, beyond 1024 nowhere."""
    text = WORDS.format(extent=extent, t="u8", index=index)
    kernel, library, printed = native(text, target, tmp_path)
    most = 1024 if target.startswith("avx512") else 256
    assert ("look_up_" in printed) == (extent <= most)
    random, t = np.random.default_rng(extent), numpy_dtype(DTYPES[index])
    with Native(library, 1, 60.0) as run:
        for n in (1, 133, 640):
            x = random.integers(0, 256, n * t.itemsize, dtype=np.uint8).view(t)
            near = random.integers(0, extent, n).astype(t)
            x = np.where(np.arange(n) % 2 == 0, x, near).astype(t)
            x = np.where(x > 2**31 - 10, near, x).astype(t)  # x + 5 does not wrap around
            table = random.integers(0, 256, extent, dtype=np.uint8)
            made = dict.fromkeys("OPQ", ((n,), DTYPES["u8"]))
            got = run.call(kernel.name, [n], {"x": x, "t": table}, made, guarded=True).outputs
            wide = x.astype(np.int64)
            assert np.array_equal(got["O"], table[wide % extent]), n
            assert np.array_equal(got["P"], table[np.clip(wide + 5, 0, extent - 1)]), n
            assert np.array_equal(got["Q"], table[wide & 15]), n


ELEMENTS = """
size N
input x: {index}[N]
input t: {t}[{extent}]
output O: {t}[N]
output P: {t}[N]
O[i] = t[i32(x[i]) % {extent}]
P[i] = t[clamp(i32(x[i]), 0, {extent} - 1)]
schedule fast for avx512, avx2, arm_dot {{
    O.vectorize(i, 64)
    P.vectorize(i, {lanes})
}}
"""
MOST = {"avx2": {16: 64, 32: 16}, "avx512": {16: 512, 32: 128}, "arm_dot": {16: 128, 32: 32}}


@pytest.mark.parametrize("target", MACHINES[:2] + MACHINES[3:])
@pytest.mark.parametrize(
    ("extent", "element", "index", "lanes"),
    [
        (1, "u16", "u8", 16), (5, "i16", "u8", 16), (8, "f16", "i16", 8), (33, "u16", "u8", 32),
        (64, "i16", "i16", 32), (100, "f16", "i32", 16), (128, "bf16", "u8", 8),
        (129, "u16", "u16", 32), (384, "i16", "i16", 16), (512, "u16", "u16", 32),
        (513, "u16", "u16", 16), (3, "f32", "u8", 8), (8, "i32", "i32", 8), (13, "u32", "u8", 16),
        (16, "f32", "i16", 8), (17, "f32", "u8", 16), (32, "u32", "u8", 4), (33, "i32", "u8", 16),
        (100, "f32", "i32", 8), (128, "i32", "u8", 16), (129, "f32", "u8", 16),
    ],
)  # fmt: skip
def test_of_more_bits(
    extent: int, element: str, index: str, lanes: int, target: str, tmp_path: Path
) -> None:
    """Beyond what registers are for they are loaded or gathered as ever; every bit is what was there."""
    text = ELEMENTS.format(extent=extent, t=element, index=index, lanes=lanes)
    kernel, library, printed = native(text, target, tmp_path)
    t, kind = DTYPES[element], numpy_dtype(DTYPES[index])
    assert ("look_up_" in printed) == (1 < extent <= MOST[target][t.bits]) or extent == 1
    random, bits = np.random.default_rng(extent), np.dtype(f"u{t.bytes}")
    with Native(library, 1, 60.0) as run:
        for n in (1, 67, 256):
            x = random.integers(0, 256, n * kind.itemsize, dtype=np.uint8).view(kind)
            x = np.where(np.arange(n) % 2, x, random.integers(0, min(extent, 100), n)).astype(kind)
            table = random.integers(0, 256, extent * t.bytes, dtype=np.uint8).view(bits)
            given = {"x": x, "t": table.view(numpy_dtype(t))}
            made = dict.fromkeys("OP", ((n,), t))
            got = run.call(kernel.name, [n], given, made, guarded=True).outputs
            wide = x.astype(np.int64)
            assert np.array_equal(got["O"].view(bits), table[wide % extent]), n
            assert np.array_equal(got["P"].view(bits), table[np.clip(wide, 0, extent - 1)]), n


@pytest.mark.parametrize("extent", [100, 1000])
def test_by_functions(extent: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a processor without AVX-512 executes it."""
    monkeypatch.setattr(program, "softened_features", lambda target: SOFT)
    text = WORDS.format(extent=extent, t="u8", index="i16")
    kernel, library, _ = native(text, "avx512vbmi", tmp_path)
    random = np.random.default_rng(extent)
    x = random.integers(-(2**15), 2**15, 640).astype(np.int16)
    table = random.integers(0, 256, extent, dtype=np.uint8)
    made = dict.fromkeys("OPQ", ((640,), DTYPES["u8"]))
    with Native(library, 1, 60.0) as run:
        got = run.call(kernel.name, [640], {"x": x, "t": table}, made, guarded=True).outputs
    wide = x.astype(np.int64)
    assert np.array_equal(got["O"], table[wide % extent])
    assert np.array_equal(got["P"], table[np.clip(wide + 5, 0, extent - 1)])


@pytest.mark.parametrize("target", MACHINES)
def test_constant_tables_are_looked_up_too(target: str) -> None:
    """Where the table is a `constant` input, of which the code keeps a dense copy."""
    text = BYTES.format(extent=64, t="u8").replace("t: u8[64]", "t: u8[64] constant")
    assert "_in_64(t" in emit_c(lowered(text, target), TARGETS[target]).text


def test_tails_are_looked_up_too(tmp_path: Path) -> None:
    """Under a mask: no table is read lane by lane."""
    lines = BYTES.format(extent=64, t="u8").splitlines()
    text = "\n".join(line for line in lines if "Q" not in line)
    for target in MACHINES:
        assert "= t[" not in emit_c(lowered(text, target), TARGETS[target]).text, target
