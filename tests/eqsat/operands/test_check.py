"""What was chosen is run beside the statement: a choice that computes something else is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tensor_checks import selected

from hbc.eqsat.operands import check
from hbc.ir.lang.build import add, const, sub
from hbc.ir.lang.nodes import Block, Expr, For, Instruct, Load, Stmt, Store
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import block, map_children, map_stmt, nodes

TAPS = """
size H, W, T
input I: {a}[H, W + T - 1]
input F: {b}[T]
output O: {sum}[H, W]
reduce r in T
acc[y, x] = 0
acc[y, x] += {sum}(F[r]) * {sum}(I[y, x + r])
O[y, x] = acc[y, x]
schedule s for {target} {{
    O.split(x, xo, xi, 64{tail}).vectorize(xi, 16).unroll(xi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(x)
    acc.update.split(r, ro, ri, 32{tail}).reorder(ro, y, x, ri)
    acc.update.atomic().vectorize(ri).vectorize(x, 16).unroll(x)
}}
"""
PLANES = """
size H, W
input I: {a}[H + 15, W + 15]
input F: {b}[16, 16]
output O: {sum}[H, W]
reduce s in 16, r in 16
acc[y, x] = 0
acc[y, x] += {sum}(F[s, r]) * {sum}(I[y + s, x + r])
O[y, x] = acc[y, x]
schedule s for {target} {{
    O.tile(y, x, yo, xo, yi, xi, 2, 16{tail}).vectorize(xi, 16).unroll(yi)
    acc.compute_at(O, xo).store_in(registers).vectorize(x, 16).unroll(y)
    acc.update.split(x, x, xi, 8).reorder(x, y, xi, s, r)
    acc.update.atomic().vectorize(r).vectorize(s).vectorize(xi).vectorize(y, 2).unroll(x)
}}
"""
HALVES = {"a": "bf16", "b": "bf16", "sum": "f32", "target": "avx512bf16"}
BYTES = {"a": "u8", "b": "i8", "sum": "i32", "target": "avx512vnni"}
Wrong = Callable[[Stmt], Stmt]


def of_products(f: Callable[[Store, Instruct], Stmt]) -> Wrong:
    """With something else for each store of an instruction's result."""

    def stmt(s: Stmt) -> Stmt:
        if isinstance(s, Store):
            return f(s, s.value) if isinstance(s.value, Instruct) else s
        return map_stmt(s, lambda e: e, stmt)

    return stmt


def further(operand: int) -> Wrong:
    """An operand is loaded from one element further on."""

    def load(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return map_children(e, load)
        return replace(e, index=add(e.index, const(1, INDEX.with_lanes(e.type.lanes))))

    def product(s: Store, i: Instruct) -> Stmt:
        args = tuple(load(x) if n == operand else x for n, x in enumerate(i.args))
        return replace(s, value=replace(i, args=args))

    return of_products(product)


def short(s: Stmt) -> Stmt:
    """Each loop lacks its last step."""
    shorter = map_stmt(s, lambda e: e, short)
    if isinstance(shorter, For):
        return replace(shorter, extent=sub(shorter.extent, 1))
    return shorter


def one_less(s: Stmt) -> Stmt:
    """The first product is left out."""
    products = [n for n in nodes(s) if isinstance(n, Store) and isinstance(n.value, Instruct)]
    return of_products(lambda n, _: Block(()) if n is products[0] else n)(s)


TWICE = of_products(lambda s, _: block(s, s))


@pytest.mark.parametrize(
    "wrong",
    [further(1), further(2), short, one_less, TWICE],
    ids=["a", "b", "short", "one less", "twice"],
)
@pytest.mark.parametrize("tail", ["", ", tail = exact"])
@pytest.mark.parametrize("kind", [HALVES, BYTES], ids=["bf16", "bytes"])
@pytest.mark.parametrize("program", [TAPS, PLANES], ids=["taps", "planes"])
def test_a_wrong_choice_is_refused(
    program: str, kind: dict[str, str], tail: str, wrong: Wrong, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = check.perform
    monkeypatch.setattr(check, "perform", lambda *given: wrong(right(*given)))
    with pytest.raises(check.CheckError):
        selected(program.format(**kind, tail=tail), kind["target"])
