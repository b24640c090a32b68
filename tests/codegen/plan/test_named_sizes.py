"""What the sizes of several arrays have in common stands once, under a name; nothing else changes."""

from __future__ import annotations

from compiled import emitted
from outlines import agrees, with_schedule

from hbc.codegen.plan.named_sizes import named_sizes
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F32, INDEX, Memory
from hbc.ir.lang.walk import free_variables, nodes

PYRAMID = """
size   W
input  A: f32[W]
output O: f32[W]
e = clamp_edge(A)
a[x] = e[x] * 2.0
b[x] = a[2 * x] + a[2 * x + 1]
c[x] = b[2 * x] + b[2 * x + 1]
d[x] = c[2 * x] + c[2 * x + 1]
O[x] = a[x] + b[x / 2] + c[x / 4] + d[x / 8]
"""
ROOT = "; ".join(f"{f}.compute_root()" for f in "abcd")


def extreme(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    return ir.Binary(ir.Op.MAX, a, b)


def long(*parts: str) -> ir.Expr:
    """A long one."""
    e: ir.Expr = ir.const_index(7)
    for n in parts:
        e = ir.Binary(ir.Op.ADD, ir.Binary(ir.Op.MUL, e, ir.Var(n, INDEX)), ir.const_index(3))
    return e


def test_the_inner_one_is_named_first() -> None:
    inner = extreme(long("H", "W", "H"), long("W", "W"))
    outer = extreme(long("W"), inner)
    s: ir.Stmt = ir.Store("g", ir.const_index(0), ir.Const(1.0, F32))
    for name, extent in (("g", outer), ("h", outer), ("k", inner)):
        s = ir.Allocate(name, F32, extent, Memory.HEAP, s)
    made = named_sizes(s)
    values = []
    while isinstance(made, ir.LetStmt):
        values.append((made.name, made.value))
        made = made.body
    assert [name for name, _ in values] == ["larger_1", "larger_2"]
    assert values[0][1] == inner
    assert free_variables(values[1][1]) == {"W", "larger_1"}
    extents = [n.extent for n in nodes(made) if isinstance(n, ir.Allocate)]
    assert extents == [ir.Var(n, INDEX) for n in ("larger_1", "larger_2", "larger_2")]


def test_a_name_that_is_taken_is_passed_over() -> None:
    both = extreme(long("larger_1", "W", "H"), long("W", "W"))
    s: ir.Stmt = ir.Store("g", ir.const_index(0), ir.Const(1.0, F32))
    for name in "gh":
        s = ir.Allocate(name, F32, both, Memory.HEAP, s)
    made = named_sizes(s)
    assert isinstance(made, ir.LetStmt)
    assert made.name == "larger_2"


def test_what_stands_once_or_is_short_stays() -> None:
    s: ir.Stmt = ir.Store("g", ir.const_index(0), ir.Const(1.0, F32))
    short = extreme(ir.Var("H", INDEX), ir.Var("W", INDEX))
    for name, extent in (("g", short), ("h", short), ("k", extreme(long("H", "W", "H"), short))):
        s = ir.Allocate(name, F32, extent, Memory.HEAP, s)
    assert named_sizes(s) is s


def test_what_a_name_in_between_is_needed_for_stays() -> None:
    both = extreme(long("n", "W", "H"), long("W", "W"))
    s: ir.Stmt = ir.Store("g", ir.const_index(0), ir.Const(1.0, F32))
    for name in "gh":
        s = ir.Allocate(name, F32, both, Memory.HEAP, s)
    s = ir.LetStmt("n", ir.Var("W", INDEX), s)
    assert named_sizes(s) is s


def test_a_pyramid() -> None:
    text = emitted(with_schedule(PYRAMID, ROOT), "c").text
    assert text.count("larger_1 =") <= 1
    agrees(PYRAMID, ROOT, "c")
