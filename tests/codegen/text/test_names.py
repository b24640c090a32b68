"""Names that C, its library, other headers or this compiler's own text would take for theirs."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from compiled import STRICT, compiled, emitted, poisoned
from lanes import call, finish

from hbc.codegen.build.toolchain import build
from hbc.codegen.text.names import KEYWORDS, TAKEN, Scope, identifier, is_reserved
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import (
    Allocate,
    Block,
    Expr,
    For,
    LetStmt,
    Load,
    LoopKind,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import F32, I64, Memory

# What generated text itself declares or calls, beyond the tables in `names`.
OURS = (
    "status", "code", "measure", "overlap", "allocate", "min_i64", "load_f32x8", "lanes", "live",
    "k_compute", "k_strided", "k_strerror", "k_OK", "result", "A_stride0", "A_bytes", "r_end",
)  # fmt: skip


def with_names(names: list[str]) -> Kernel:
    """Copies A to O through a buffer; sizes, loops, lets and buffers have the given names."""
    body: list[Store | Allocate | For | LetStmt] = []
    for number, name in enumerate(names):
        at: Expr = Var(name)
        inside = Block((
            Store(name, const_index(0), Load("A", at, F32(1))),
            Store("O", at, Load(name, const_index(0), F32(1))),
        ))  # fmt: skip
        memory = Memory.HEAP if number % 2 else Memory.STACK
        scratch = Allocate(name, F32, const_index(1), memory, inside)
        body.append(For(name, const_index(number), const_index(1), LoopKind.SERIAL, scratch))
    extent = (const_index(len(names)),)
    arguments = (Argument("A", F32, extent, False), Argument("O", F32, extent, True))
    return Kernel("k", (Size("N"),), arguments, (), (), Block(tuple(body)))


def test_inner_names_may_be_anything(tmp_path: Path) -> None:
    """Loops and buffers: they get another spelling in C."""
    names = sorted({*KEYWORDS, *TAKEN, *OURS})
    kernel = with_names(names)
    source = np.arange(len(names), dtype=np.float32)
    got = call(kernel, {"A": source}, "c", tmp_path, sizes={"N": 1})
    assert np.array_equal(got["O"], source)


def test_arguments_may_be_called_as_our_functions_are(tmp_path: Path) -> None:
    text = """
        kernel k
        size   measure, lanes
        input  overlap: f32[measure, lanes]
        input  A: f32[measure, lanes]
        input  A_stride0: f32[lanes]
        output k_compute: f32[measure, lanes]
        k_compute[status, code] = overlap[status, code] + A[status, code] * A_stride0[code]
        """
    library = compiled(text, tmp_path)
    a, b, c = np.ones((3, 5), np.float32), np.full((3, 5), 2, np.float32), np.arange(5.0)
    result = poisoned((3, 5))
    assert library.dense(3, 5, a, b, c.astype(np.float32), result) == 0
    assert np.array_equal(result, a + b * c)


@pytest.mark.parametrize("name", ["int", "main", "exp", "stdin", "linux", "_x", "größe", "a b", ""])
def test_kernels_with_such_names_are_refused(name: str) -> None:
    extent = (const_index(1),)
    kernel = Kernel(
        name, (), (Argument("O", I64, extent, True),), (), (),
        Store("O", const_index(0), const_index(7)),
    )  # fmt: skip
    with pytest.raises(HbcError) as refused:
        finish(kernel, "c")
    assert f"`{name}`" in refused.value.diagnostics[0].message


@pytest.mark.parametrize("name", ["gemm_f32", "relu", "copy", "blur_u8x3", "load", "min_max"])
def test_good_names_stay(name: str, tmp_path: Path) -> None:
    source = emitted(f"kernel {name}\nsize N\noutput O: f32[N]\nO[x] = 1.0")
    assert f"int {name}(int64_t N, float *O);" in source.header
    build(source, TARGETS["c"], tmp_path / "k.o", "obj", extra=STRICT)


def test_identifiers() -> None:
    assert identifier("int") == "int_"
    assert identifier("x") == "x"
    assert identifier("_x") == "x_"
    assert identifier("größe") == "gr__e_"
    assert identifier("1st").isidentifier()
    assert all(is_reserved(name) for name in ("while", "errno", "omp_lock", "int32_t", "sinf"))


def test_many_names_alike_are_quickly_numbered() -> None:
    """The number goes on from the last one; what ends with a block is free again."""
    scope = Scope()
    began = time.process_time()
    assert len({scope.fresh("part") for _ in range(20_000)}) == 20_000
    assert time.process_time() - began < 5  # 0.05 on a quiet machine; all numbers were tried: 100
    scope.reserve("part_20000")
    assert scope.fresh("part") == "part_20001"
    scope.push()
    assert scope.fresh("part") == "part_20002"
    scope.pop()
    assert scope.fresh("part") == "part_20002"
