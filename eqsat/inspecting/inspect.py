"""Whole kernels inspected: each update with all mappings to the instructions of a target, ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Sizes
from contextlib import closing

from hbc.eqsat.choosing.choose import has_sum
from hbc.eqsat.choosing.miss import Miss
from hbc.eqsat.choosing.near_miss import without_strides
from hbc.eqsat.graph.encode import Encoding, encode, windows
from hbc.eqsat.graph.graphs import Graphs
from hbc.eqsat.graph.lowering import selectable
from hbc.eqsat.inspecting.mapped import mapped, order, refused
from hbc.eqsat.inspecting.mapping import Inspected, Loop, Mapping
from hbc.eqsat.inspecting.nests import Nest, cut, interleaved, nests, step
from hbc.eqsat.inspecting.plain import PER_CYCLE, plain
from hbc.eqsat.inspecting.whole import over, products_apart, updates
from hbc.eqsat.operands.choice import Statement
from hbc.eqsat.operands.statement import longest
from hbc.eqsat.tensors.tensor import Dim, NotTensorError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import nodes

NO_SUM = Miss("", "nothing is summed over a loop", "instructions add up products over `reduce`")
NO_ROWS = Miss(
    "", "its operands do not lie, or cannot be packed, as the instruction loads them",
    "give what is read a Func of its own, in the types of the instruction",
)  # fmt: skip
MOST_LEVELS = 10  # of loops, cut ones counted: beyond, sliding loops stay whole


def inspect(
    kernel: Kernel, instructions: Sequence[Instruction], target: Target, sizes: Sizes[str, int],
    multiply_adds: float = PER_CYCLE,
) -> list[Inspected]:  # fmt: skip
    """The updates and computed values of a kernel of whole loops. `sizes`: the numbers that are assumed;
    every other extent is taken to be `nests.NOMINAL`. `multiply_adds`: of vectors of floats, that begin in a
    cycle."""
    with closing(Graphs(tuple(i for i in instructions if selectable(i)))) as graphs:
        inspected = [
            one
            for n in nests(kernel.body, sizes)
            if (u := updates(n.store)).op is not None or _computes(n.store.value)
            for one in _parts(n, len(u.terms), instructions, target, graphs, multiply_adds)
        ]
    return sorted(inspected, key=lambda i: (i.span.start if i.span else -1, i.part))


def _parts(
    n: Nest, terms: int, instructions: Sequence[Instruction], target: Target, graphs: Graphs,
    multiply_adds: float,
) -> Iterator[Inspected]:  # fmt: skip
    """Each product of an update, or what it is as a whole."""
    loops = tuple(
        Loop(v.loop, v.extent, const_value(step(n.store.index, v.var)) == 0) for v in n.levels
    )
    for number, product in enumerate(products_apart(n), 1):
        mappings = [
            *plain(product, target, multiply_adds),
            *_by_instructions(product, instructions, graphs),
        ]
        ranked = sorted((m for m in mappings if not m.reason), key=order)
        ranked += [m for m in mappings if m.reason]
        yield Inspected(n.store.span, n.store.buffer, loops, tuple(ranked), number, terms)


def _computes(e: ir.Expr) -> bool:
    """Whether it is more than a number or a copy."""
    kinds = ir.Binary | ir.Call | ir.Select | ir.Unary
    return any(isinstance(x, kinds) and x.type != INDEX for x in nodes(e))


def _by_instructions(n: Nest, instructions: Sequence[Instruction], graphs: Graphs) -> list[Mapping]:
    """The mappings to instructions, and why there is none to others."""
    if not instructions:
        return []
    try:
        spellings = _statements(interleaved(n), instructions)
    except NotTensorError as why:
        miss = without_strides(why, "")
        return [Mapping(i.name, reason=miss.condition, edit=miss.edit) for i in instructions]
    first = spellings[0][0]
    if not has_sum(first.value) and updates(n.store).op is not ir.Op.SUB:
        return [Mapping(i.name, reason=NO_SUM.condition, edit=NO_SUM.edit) for i in instructions]
    cheapest: dict[object, Mapping] = {}
    for s, names in spellings if has_sum(first.value) else ():
        for m in (m for made in mapped(s, names, instructions, graphs).values() for m in made):
            key = m.instruction, tuple(a.loops for a in m.rows)
            if key not in cheapest or m.cycles < cheapest[key].cycles:
                cheapest[key] = m
    done = {m.instruction for m in cheapest.values()}
    others = [refused(first, i, instructions) for i in instructions if i.name not in done]
    return [*cheapest.values(), *others]


def _statements(
    n: Nest, instructions: Sequence[Instruction]
) -> list[tuple[Statement, dict[Dim, str]]]:
    """The statement over its loops; and where an array slides, with loops of outputs cut to the rows of
    instructions, which banded matrices need."""
    spellings = [_statement(n)]
    s, _ = spellings[0]
    of = Encoding()
    for d in s.outputs:
        of.bit(d)
    encode(s.value, of)
    if not windows(s.outputs, of):
        return spellings
    for row in longest(instructions)[:1]:
        cuts = n
        for d, level in zip(s.outputs, _outputs(n), strict=True):
            slides = any(d in m and any(e.reduced for e in m) for m in of.moves)
            if slides and d.extent > row > 1 and len(cuts.levels) < MOST_LEVELS:
                cuts = cut(cuts, level, row)
        if cuts is not n:
            spellings.append(_statement(cuts))
    return spellings


def _outputs(n: Nest) -> list[str]:
    return [v.var for v in n.levels if const_value(step(n.store.index, v.var)) != 0]


def _statement(n: Nest) -> tuple[Statement, dict[Dim, str]]:
    """The nest as a statement, and the loops of its dimensions."""
    s = over(n)
    loops: dict[Dim, str] = {}
    outputs, summed = 0, 0
    for v in n.levels:
        reduced = const_value(step(n.store.index, v.var)) == 0
        name = f"r{summed}" if reduced else f"d{outputs}"
        summed, outputs = summed + reduced, outputs + (not reduced)
        loops[Dim(name, v.extent, reduced)] = v.loop
    return s, loops
