"""Tensor instructions in vector registers: every one that this processor executes, in a loop nest with
its accumulators in registers, with every form that an operand can have, next to the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path

import numpy as np
import pytest
from compilers import compiler_named
from lanes import QUICK, differ

from hbc.cli.runs.native import Native
from hbc.codegen.build.processor import SOFT, cpu_features
from hbc.codegen.build.program import build_callable
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.algebra.layout import Layout, to_index
from hbc.ir.lang.build import add, broadcast, lt, mul
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Argument, Kernel, Size
from hbc.ir.lang.nodes import (
    Allocate,
    Block,
    Broadcast,
    Expr,
    For,
    Instruct,
    Load,
    LoopKind,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)  # fmt: skip
from hbc.ir.lang.target import TARGETS, X86
from hbc.ir.lang.types import DType, Memory
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import Array, numpy_dtype
from hbc.ir.passes.legalize import legalize
from hbc.ir.passes.promote import promote
from hbc.ir.passes.share import share

STEPS, TAIL = 5, 3  # iterations of the loop; elements that masks leave of the last operand
K, S, LIVE = Var("k"), Var("S"), Var("L")
STRIDE = 80  # elements between the rows of an operand; the size S
VECTORS = [
    i
    for i in load_instructions(builtin_descriptions()).instructions
    if i.place.machine == "x86_64" and i.place.memory is Memory.REGISTER
]


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand: the array it lies in, its element type, lanes, and how many make a group."""

    array: str
    element: DType
    lanes: int
    group: int

    def load(self, index: Expr, mask: Expr | None = None) -> Expr:
        return Load(self.array, index, self.element(index.type.lanes), mask)


Form = Callable[[Factor, Expr], Expr]
"""An operand that begins at an element."""


def line(first: Expr, lanes: int) -> Expr:
    return first if lanes == 1 else Ramp(first, const_index(1), lanes)


def contiguous(f: Factor, first: Expr) -> Expr:
    return f.load(line(first, f.lanes))


def group(f: Factor, first: Expr) -> Expr:
    return broadcast(f.load(line(first, f.group)), f.lanes // f.group)


def group_in_load(f: Factor, first: Expr) -> Expr:
    return f.load(Broadcast(line(first, f.group), f.lanes // f.group))


def interleaved(f: Factor, first: Expr) -> Expr:
    """A row for each element of the groups."""
    rows, columns = (f.group, S), (f.lanes // f.group, const_index(1))
    return f.load(to_index(Layout(first, (columns, rows))))


def transposed(f: Factor, first: Expr) -> Expr:
    """A row for each group."""
    return f.load(to_index(Layout(first, ((f.lanes // f.group, S), (f.group, const_index(1))))))


def windows(f: Factor, first: Expr) -> Expr:
    one = const_index(1)
    return f.load(to_index(Layout(first, ((f.lanes // f.group, one), (f.group, one)))))


def under_mask(f: Factor, first: Expr) -> Expr:
    live = lt(line(const_index(0), f.lanes), broadcast(LIVE, f.lanes))
    return f.load(line(first, f.lanes), live)


def group_under_mask(f: Factor, first: Expr) -> Expr:
    live = lt(line(const_index(0), f.group), broadcast(LIVE, f.group)) if f.group > 1 else None
    return broadcast(f.load(line(first, f.group), live), f.lanes // f.group)


def in_register(f: Factor, first: Expr) -> Expr:
    """What a register holds that was filled before the loop."""
    return Load(f"held_{f.array}", line(const_index(0), f.lanes), f.element(f.lanes))


FORMS: list[Form] = [
    contiguous, group, group_in_load, interleaved, transposed, windows, under_mask,
    group_under_mask, in_register,
]  # fmt: skip


def factors(i: Instruction) -> list[Factor]:
    found = []
    for n in i.factors:
        extents = shape(i, n, {})
        found.append(
            Factor(
                i.operands[n].name.upper(),
                i.operands[n].element,
                prod(extents),
                extents[-1] if len(extents) > 1 else 1,
            )
        )
    return found


def execution(i: Instruction, total: Expr, operands: dict[int, Expr]) -> Instruct:
    args = tuple(total if n == i.accumulator else operands[n] for n in range(len(i.operands)))
    return Instruct(i.name, (), args, total.type)


def nest(i: Instruction, forms: tuple[Form, Form], row: int) -> Stmt:
    """Three accumulators in a loop: one product, a chain of two that shares operands with it, and one
    that starts at what memory holds."""
    t = i.operands[i.accumulator].element
    lanes = prod(shape(i, i.accumulator, {}))
    parts = factors(i)
    at = mul(K, 7)

    def total(n: int) -> Expr:
        return Load("acc", line(const_index(n * lanes), lanes), t(lanes))

    def operands(shift: int) -> dict[int, Expr]:
        first = add(at, shift)
        return {n: form(f, first) for n, form, f in zip(i.factors, forms, parts, strict=True)}

    def keep(n: int, value: Expr) -> Stmt:
        return Store("acc", line(const_index(n * lanes), lanes), value)

    start = Load("C", line(const_index(0), lanes), t(lanes))
    zero = broadcast(Load("C", const_index(1), t(1)), lanes)
    chain = execution(i, execution(i, total(1), operands(0)), operands(1))
    loop = For(
        "k", const_index(0), const_index(STEPS), LoopKind.SERIAL,
        Block((keep(0, execution(i, total(0), operands(0))), keep(1, chain),
               keep(2, execution(i, total(2), operands(1))))),
    )  # fmt: skip
    stored = [
        Store("R", line(const_index((3 * row + n) * lanes), lanes), total(n)) for n in range(3)
    ]
    body: Stmt = Block((keep(0, zero), keep(1, zero), keep(2, start), loop, *stored))
    for f in parts:
        held = f"held_{f.array}"
        fill = Store(held, line(const_index(0), f.lanes), contiguous(f, const_index(3)))
        whole = Block((fill, body))
        body = Allocate(held, f.element, const_index(f.lanes), Memory.REGISTER, whole)
    return Allocate("acc", t, const_index(3 * lanes), Memory.REGISTER, body)


def pairs() -> list[tuple[Form, Form]]:
    """Every form beside a contiguous operand, on both sides, and some of each with each."""
    found = [(form, contiguous) for form in FORMS] + [(contiguous, form) for form in FORMS[1:]]
    return [*found, *pairwise(FORMS)]


def kernel_of(i: Instruction) -> Kernel:
    t = i.operands[i.accumulator].element
    lanes = prod(shape(i, i.accumulator, {}))
    length = const_index(STRIDE * 70)
    arguments = [Argument(f.array, f.element, (length,), False) for f in factors(i)]
    arguments.append(Argument("C", t, (const_index(lanes),), False))
    arguments.append(Argument("R", t, (const_index(3 * lanes * len(pairs())),), True))
    body = Block(tuple(nest(i, forms, row) for row, forms in enumerate(pairs())))
    return Kernel("products", (Size("S"), Size("L")), tuple(arguments), (), (), body, (i,))


def random(element: DType, count: int, seed: int) -> Array:
    """Integers of the whole range; floats of many magnitudes, whose sums are numbers."""
    rng = np.random.default_rng(seed)
    if element.is_int:
        low, high = element.limits
        return rng.integers(low, high, count, endpoint=True).astype(numpy_dtype(element))
    scaled = rng.standard_normal(count) * 2.0 ** rng.integers(-12, 12, count)
    return scaled.astype(numpy_dtype(element))


@cache
def prepared(i: Instruction) -> tuple[CSource, dict[str, Array], Array]:
    """The C, the inputs, and what the interpreter makes of them."""
    machine = TARGETS[target_of(i)]
    kernel = kernel_of(i)
    inputs = {
        a.name: random(a.element, int(np.prod([int(e.value) for e in a.extents])), n)
        for n, a in enumerate(kernel.arguments)
        if not a.output
    }
    output = kernel.arguments[-1]
    expected = np.zeros(int(output.extents[0].value), numpy_dtype(output.element))
    run(kernel, {"S": STRIDE, "L": TAIL}, {**inputs, "R": expected}, strict=False)
    return emit_c(share(promote(legalize(kernel, machine))), machine), inputs, expected


def target_of(i: Instruction) -> str:
    """The first that has what the instruction needs."""
    needs = {f.cpuinfo for f in i.needs}
    return next(t.name for t in TARGETS.values() if t.machine == X86 and needs <= {*t.needs})


@pytest.mark.parametrize("command", ["gcc", "clang"])
@pytest.mark.parametrize("i", VECTORS, ids=lambda i: i.name)
def test_in_loop_nests(i: Instruction, command: str, tmp_path: Path) -> None:
    compiler = compiler_named(command)
    lost = [f.name for f in i.needs if f.cpuinfo not in cpu_features() | SOFT]
    source, inputs, expected = prepared(i)
    options = (*QUICK, "-O2")
    if lost:  # at least compilers accept it
        build(
            source, TARGETS[target_of(i)], tmp_path / "k.o", "obj", compiler=compiler, extra=options
        )
        pytest.skip(f"this processor has no {', '.join(lost)}: compiled only")
    machine = TARGETS[target_of(i)]
    library = build_callable(source, machine, tmp_path, compiler=compiler, extra=options)
    shapes = {"R": (expected.shape, i.operands[i.accumulator].element)}
    with Native(library, 1, 60.0) as native:
        outputs = native.call("products", [STRIDE, TAIL], inputs, shapes, guarded=True).outputs
    lanes = len(expected) // (3 * len(pairs()))
    wrong = differ(outputs["R"], expected).reshape(len(pairs()), -1)
    assert [
        f"{a.__name__}, {b.__name__}: accumulator {n // lanes}"
        for (a, b), row in zip(pairs(), wrong, strict=True)
        for n in np.flatnonzero(row)[:1]
    ] == []


@pytest.mark.parametrize("i", VECTORS, ids=lambda i: i.name)
def test_accumulators_stay_in_registers(i: Instruction) -> None:
    """No array stands for them, and no lane goes alone."""
    text = prepared(i)[0].text
    compute = text[text.index("products_compute(") :]
    assert "acc[" not in compute
    assert "lanes[" not in compute
