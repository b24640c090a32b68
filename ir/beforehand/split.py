"""Splits off what depends on one constant input and the sizes alone: factors in the order of instructions,
copies of panels. A caller has that done once, and keeps it in memory of its own.

Each array that is kept becomes an argument of both halves. At sizes at which the rest still loads the input
itself, a copy of it without gaps is kept too.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.algebra.simplify import simplify, simplify_stmt
from hbc.ir.beforehand.kept_arrays import KeptArrays, loaded
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const, mul, select
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.types import INDEX, Type
from hbc.ir.lang.walk import all_names, block, free_variables, rename_buffer, substitute_stmt


@record
class Beforehand:
    """What is done for one input: `kernel` reads it and fills the `kept` arrays, which are its outputs. Their
    only extent is an expression over the sizes."""

    input: Argument
    kept: tuple[Argument, ...]
    kernel: Kernel

    @property
    def sizes(self) -> tuple[str, ...]:
        """The sizes that what is kept depends on."""
        used = free_variables(self.kernel.body).union(
            *(free_variables(e) for a in (*self.kept, self.input) for e in a.extents)
        )
        return tuple(s.name for s in self.kernel.sizes if s.name in used)


@record
class Split:
    """The work for each constant input, and `rest`: the kernel, to which what is kept is input."""

    packs: tuple[Beforehand, ...]
    rest: Kernel


def split_constants(kernel: Kernel) -> Split | None:
    """None without constant inputs."""
    if not any(a.constant for a in kernel.arguments):
        return None
    found = KeptArrays(kernel)
    rest, packs = found.rest, []
    arguments: list[Argument] = []
    for a in kernel.arguments:
        if not a.constant:
            arguments.append(a)
            continue
        kept, fill = found.of(a.name), found.fill(a.name)
        if a.name in loaded(rest):
            # Beside nothing else a copy serves all sizes.
            there = simplify(found.where_loaded(a.name)) if kept else ir.const_bool(True)
            dense = _dense(a, there, all_names(kernel.body))
            kept.append(dense)
            copy = _copy(a, dense)
            fill = block(fill, ir.If(there, copy) if kept[:-1] else copy)
            rest = substitute_stmt(rename_buffer(rest, a.name, dense.name), _dense_strides(a))
        outputs = tuple(replace(k, output=True) for k in kept)
        part = replace(
            kernel, name=f"{kernel.name}_pack_{a.name}", arguments=(a, *outputs), gapless=()
        )
        packs.append(Beforehand(a, tuple(kept), replace(part, body=simplify_stmt(fill))))
        arguments += kept
    whole = replace(kernel, name=f"{kernel.name}_packed", arguments=tuple(arguments), body=rest)
    return Split(tuple(packs), whole)


def _dense(a: Argument, there: ir.Expr, taken: set[str]) -> Argument:
    """An array for the input without gaps, of no elements unless the condition holds."""
    name = f"{a.name}_dense"
    while name in taken:
        name += "_"
    count: ir.Expr = const(1)
    for extent in a.extents:
        count = mul(count, extent)
    return Argument(name, a.element, (simplify(select(there, count, const(0))),), False)


def _copy(a: Argument, dense: Argument) -> ir.Stmt:
    """The loops that fill it."""
    loops = [ir.Var(f"{dense.name}_{d}", INDEX) for d in range(len(a.extents))]
    to, there = const(0), const(0)
    for d, (v, extent) in enumerate(zip(loops, a.extents, strict=True)):
        to = add(mul(to, extent), v)
        step = const(1) if d == len(loops) - 1 else ir.Var(a.stride_name(d), INDEX)
        there = add(there, mul(v, step))
    body: ir.Stmt = ir.Store(dense.name, to, ir.Load(a.name, there, Type(a.element)))
    for v, extent in reversed(list(zip(loops, a.extents, strict=True))):
        body = ir.For(v.name, const(0), extent, ir.LoopKind.SERIAL, body)
    return body


def _dense_strides(a: Argument) -> dict[str, ir.Expr]:
    found: dict[str, ir.Expr] = {}
    step: ir.Expr = const(1)
    for d in reversed(range(len(a.extents))):
        found[a.stride_name(d)] = simplify(step)
        step = mul(step, a.extents[d])
    return found
