"""Elements that many threads and blocks update: every operation and type, in several orders of threads,
against the oracle; nvcc compiles them all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, architectures, cuda_of

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, ORDERS
from hbc.codegen.build.nvcc import build_cuda
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

INTEGERS = ("i16", "u16", "i32", "u32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
OPERATIONS = {"+=": "sum", "*=": "product", "min=": "least", "max=": "most"}
BITS = {"&=": "both", "|=": "either", "^=": "odd"}
START = {"+=": "0", "*=": "1", "min=": "100", "max=": "-100", "&=": "-1", "|=": "0", "^=": "0"}
N, BINS = 777, 5


def program(t: str) -> str:
    """Per operation: results at places that the data says, and one result of all."""
    operations = OPERATIONS | (BITS if t in INTEGERS else {})
    lines = [f"size N\ninput X: {t}[N]\ninput I: u8[N]\nreduce t in N"]
    schedule = []
    for op, name in operations.items():
        start = f"{t}({START[op]})"
        lines += [
            f"output {name}: {t}[{BINS}]",
            f"{name}[v] = {start}",
            f"{name}[i64(I[t] % {BINS})] {op} X[t]",
            f"output all_{name}: {t}[1]",
            f"all_{name}[z] = {start}",
            f"all_{name}[z] {op} X[t]",
        ]
        schedule += [
            f"  {each}.update.split(t, to, ti, 96).atomic().gpu_blocks(to).gpu_threads(ti)"
            for each in (name, f"all_{name}")
        ]
    return "\n".join([*lines, "schedule s for cuda {", *schedule, "}"])


def inputs(t: str) -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    if t in INTEGERS:
        limits = np.iinfo(numpy_dtype(DTYPES[t]))
        x = random.integers(limits.min, limits.max, N, numpy_dtype(DTYPES[t]), endpoint=True)
    else:
        x = random.uniform(0.97, 1.03, N).astype(numpy_dtype(DTYPES[t]))
    return {"X": x, "I": random.integers(0, 256, N, np.uint8)}


@pytest.mark.parametrize("t", [*INTEGERS, *FLOATS])
def test_agrees(t: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(t)
    library = CudaLibrary(cuda_of(text), tmp_path)
    p = check(parse(Source("k.hb", text)), {})
    values = inputs(t)
    expected = evaluate(p, {"N": N}, dict(values))
    for order in ORDERS:
        monkeypatch.setenv(ORDER_VARIABLE, order)
        made = {
            o.name: np.full(len(expected[o.name].value), 85, numpy_dtype(o.element))
            for o in p.outputs
        }
        assert library.call("", N, *values.values(), *made.values()) == 0
        for name, array in made.items():
            assert compare(array, expected[name]).mismatches == 0, (name, order)


@pytest.mark.usefixtures("nvcc")
@pytest.mark.parametrize("t", [*INTEGERS, *FLOATS])
def test_nvcc(t: str, tmp_path: Path) -> None:
    archs = ("sm_75", *architectures(t))
    assert build_cuda(cuda_of(program(t)), tmp_path / "k.fatbin", "fatbin", archs)


def test_functions() -> None:
    """CUDA's own where it has one."""
    text = cuda_of(program("i32")).text
    for name in ("Add", "Min", "Max", "And", "Or", "Xor"):
        assert f"atomic{name}(&" in text
    assert "atomic_mul_i32(&" in text
    assert (
        "atomicCAS"
        not in cuda_of(program("f32").replace("*=", "+=")).text.partition("atomic_min")[0]
    )


def test_no_atomics_of_bytes() -> None:
    with pytest.raises(HbcError) as raised:
        cuda_of(program("i32").replace("i32", "u8").replace("u8(-100)", "0"))
    shown = raised.value.diagnostics[0].render()
    assert "a GPU has no atomic operations on u8" in shown
