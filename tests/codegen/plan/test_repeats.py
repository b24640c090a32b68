"""Loops for what a thread repeats touch the same elements in the same order as the statements did."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from hbc.codegen.plan.repeats import Repeats, roll_up
from hbc.ir.lang.nodes import (
    Allocate,
    Binary,
    Block,
    Const,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    Op,
    Stmt,
    Store,
    Var,
)
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.walk import nodes

NUMBERS = {"i": 5, "j": 11, "S": 131, "t": 3}
DO = {
    Op.ADD: int.__add__, Op.SUB: int.__sub__, Op.MUL: int.__mul__, Op.DIV: int.__floordiv__,
    Op.MOD: int.__mod__, Op.MIN: min, Op.MAX: max, Op.LT: int.__lt__,
}  # fmt: skip
Place = tuple[str, int]


def trace(
    s: Stmt, numbers: Mapping[str, int], found: Repeats
) -> Iterator[tuple[Place, list[Place]]]:
    """What is stored, and from where, in order; buffers of arrays by their own names."""
    match s:
        case Block(body=body):
            for c in body:
                yield from trace(c, numbers, found)
        case For(var=var, extent=Const(value=count)):
            for n in range(int(count)):
                yield from trace(s.body, {**numbers, var: n}, found)
        case LetStmt(name=name, value=value):
            yield from trace(s.body, {**numbers, name: number(value, numbers)}, found)
        case Allocate():
            yield from trace(s.body, numbers, found)
        case If():
            chosen = s.then if number(s.condition, numbers) else s.otherwise
            yield from trace(chosen, numbers, found) if chosen is not None else ()
        case Store():
            loads = [n for n in nodes(s.value) if isinstance(n, Load)]
            yield place(s, numbers, found), [place(n, numbers, found) for n in loads]
        case _:
            raise AssertionError(s)


def place(n: Load | Store, numbers: Mapping[str, int], found: Repeats) -> Place:
    name = n.buffer
    if member := found.members.get(name):
        name = found.arrays[member.array][number(member.index, numbers)]
    return name, number(n.index, numbers)


def number(e: Expr, numbers: Mapping[str, int]) -> int:
    match e:
        case Const(value=value):
            return int(value)
        case Var(name=name):
            return numbers[name]
        case Binary(op=op, a=a, b=b):
            return int(DO[op](number(a, numbers), number(b, numbers)))
        case _:
            raise AssertionError(e)


def rolled(text: str) -> tuple[Stmt, Repeats]:
    """Checked to be the same."""
    s = read_stmt(f"{{\n{text}\n}}")
    made, found = roll_up(s, lambda _: None)
    assert list(trace(made, NUMBERS, found)) == list(trace(s, NUMBERS, Repeats()))
    return made, found


def loops(s: Stmt) -> list[int]:
    return [
        int(n.extent.value) for n in nodes(s) if isinstance(n, For) and isinstance(n.extent, Const)
    ]


def store(to: str, value: str) -> str:
    return f"s[{to}] = a.f32[{value}]"


def test_a_run() -> None:
    made, _ = rolled("\n".join(store(f"i + {n}", f"j + {n} * S") for n in range(8)))
    assert loops(made) == [8]
    assert isinstance(made, For)


def test_rows_of_runs() -> None:
    made, _ = rolled(
        "\n".join(
            store(f"i + {4 * m + n}", f"(j + {m}) * S + {n}") for m in range(3) for n in range(4)
        )
    )
    assert loops(made) == [3, 4]


def test_within_quotients() -> None:
    made, _ = rolled("\n".join(store(f"{n}", f"(i + {n}) / 16 * S") for n in range(6)))
    assert loops(made) == [6]


def test_arrays_of_buffers() -> None:
    names = [f"acc_{n}" for n in range(6)]
    opened = "\n".join(f"allocate {name}: f32[2] in stack {{" for name in names)
    zeros = "\n".join(f"{name}[{e}] = a.f32[{e}]" for name in names for e in range(2))
    sums = "\n".join(f"acc_{n}[0] = acc_{n}.f32[1]" for n in (4, 2, 0))
    made, found = rolled(f"{opened}\n{zeros}\nb[0] = acc_5.f32[0]\n{sums}\n" + "}" * len(names))
    assert [*found.arrays.values()] == [tuple(names)]
    assert [n.buffer for n in nodes(made) if isinstance(n, Allocate)] == [*found.arrays]
    assert loops(made) == [6]


def test_buffers_of_one_iteration_are_its_own() -> None:
    one = "allocate v_{n}: f32[2] in stack {{\nv_{n}[0] = a.f32[{n}]\ns[2 * {n}] = v_{n}.f32[0]\n}}"
    text = "\n".join(one.format(n=n) for n in range(4))
    made, found = roll_up(read_stmt(f"{{\n{text}\n}}"), lambda _: None)
    assert loops(made) == [4]
    assert not found.arrays
    touched = [place for place, _ in trace(made, NUMBERS, found)]
    assert touched == [p for n in range(4) for p in (("v_0", 0), ("s", 2 * n))]


def test_few_stay() -> None:
    assert loops(rolled("\n".join(store(f"{n}", f"{n}") for n in range(3)))[0]) == []


def test_other_steps_stay() -> None:
    made, _ = rolled("\n".join(store(f"{n}", f"i + {n * n}") for n in range(6)))
    assert loops(made) == []


@pytest.mark.parametrize("seed", range(60))
def test_random_statements(seed: int) -> None:
    """Some evenly apart, some nearly so."""
    draw = random.Random(seed)
    parts = []
    for _ in range(draw.randrange(1, 4)):
        step, other, odd = (
            draw.randrange(1, 5),
            draw.choice(["1", "S", "2 * S"]),
            draw.random() < 0.3,
        )
        shape = draw.choice(
            ["i + {a}", "({a} + i) / 2 + j", "min(i + {a}, j)", "(i + {a}) % 4 + {a}"]
        )
        for n in range(draw.randrange(2, 9)):
            at = step * n + (odd and n == 3)
            parts.append(store(shape.format(a=at), f"{n} * {other} + j"))
            if draw.random() < 0.05:
                parts.append(store("j", "i"))
    rolled("\n".join(parts))
