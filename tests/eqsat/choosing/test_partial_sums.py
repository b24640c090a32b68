"""Sums of all lanes, as matrix-vector products have them: a register of partial sums, added up at the end."""

from __future__ import annotations

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled, selected
from tensor_programs import changed

from hbc.cli.main import exit_code_of
from hbc.ir.lang.nodes import For, Instruct, VectorReduce
from hbc.ir.lang.walk import nodes

MATVEC = """
size   M, K
input  A: u8[M, K]
input  v: i8[K]
output O: i32[M]
reduce k in K
a[i]  = 0
a[i] += i32(A[i, k]) * i32(v[k])
O[i]  = a[i]
schedule s for avx512vnni {
    a.compute_at(O, i).store_in(registers)
    a.update.atomic().vectorize(k, 64)
}
"""
FLOATS = (
    ("u8[M", "bf16[M"),
    ("i8[K", "bf16[K"),
    ("i32", "f32"),
    ("avx512vnni", "avx512bf16"),
    ("k, 64", "k, 32"),
)
ROWS = (
    ("    a.compute_at(O, i)", "    O.split(i, io, ii, 4).unroll(ii)\n    a.compute_at(O, io).unroll(i)"),
    ("a.update.atomic()", "a.update.split(k, ko, ki, 64).reorder(ko, i, ki).unroll(i).atomic()"),
    ("vectorize(k, 64)", "vectorize(ki)"),
)  # fmt: skip
CHANGES = {
    "bytes": (),
    "arm": (("avx512vnni", "arm_dot"), ("k, 64", "k, 16")),
    "bf16": FLOATS,
    "f32": (*FLOATS, ("bf16[M", "f32[M"), ("bf16[K", "f32[K"), ("k, 32", "k, 16")),
    "two registers at once": (("k, 64", "k, 128"),),
    "three registers of floats": (*FLOATS, ("k, 32", "k, 96")),
    "an initial value": (("a[i]  = 0", "a[i]  = i32(A[i, 0])"),),
    "used in an expression": (("O[i]  = a[i]", "O[i]  = max(a[i], 0) - a[i]"),),
    "rows share the vector": ROWS,
    "rows stored together": (*ROWS, (".unroll(ii)\n", ".vectorize(ii)\n"),
                             ("(O, io).unroll(i)", "(O, io).vectorize(i)")),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_partial_sums(what: str) -> None:
    text = changed(MATVEC, *CHANGES[what])
    target = next(t for t in ("avx512vnni", "avx512bf16", "arm_dot") if t in text)
    p, kernels = compiled(text, target)
    assert_selected(kernels["select"])
    for sizes in ({"M": 5, "K": 200}, {"M": 8, "K": 37}, {"M": 1, "K": 1}):
        for stage in CHECKED:
            assert_agrees(p, kernels[stage], sizes)


def test_lanes_are_added_up_after_the_loop() -> None:
    _, kernel = selected(MATVEC, "avx512vnni")
    loops = [n for n in nodes(kernel.body) if isinstance(n, For) and n.var == "k"]
    assert any(isinstance(n, Instruct) for loop in loops for n in nodes(loop))
    assert not any(isinstance(n, VectorReduce) for loop in loops for n in nodes(loop))


WRONG = {
    "too short": ((("k, 64", "k, 2"),), "2 lanes are summed to one number",
                  "vectorize 16 steps at once, or a multiple"),
    "in memory": (((".store_in(registers)", ""),), "which is not kept beside", "`store_in(registers)`"),
    "no product": (((" * i32(v[k])", ""),), "and no product", "multiply it by an array of ones"),
    "types": ((("i8[K", "i32[K"), ("i32(v[k])", "v[k]")), "multiplies u8 by i32", "convert"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_said_of_others(what: str, tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    changes, condition, edit = WRONG[what]
    file = tmp_path / "wrong.hb"
    file.write_text(changed(MATVEC, *changes), encoding="utf-8")
    assert exit_code_of(["explain", str(file), "--target", "avx512vnni"]) == 0
    said = capsys.readouterr().out
    assert condition in said and edit in said, said
