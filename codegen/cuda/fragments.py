"""Fragments of tensor cores: what matrices they hold, and what statements do with them.

wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> A_tile;
wmma::load_matrix_sync(A_tile, reinterpret_cast<const __half *>(A + offset), A_stride0);
wmma::mma_sync(acc, A_tile, B_tile, acc);
for (int e = 0; e < acc.num_elements; ++e) { acc.x[e] = acc.x[e] * 0.5f; }

Which lane has which element is not said, only that fragments of one type agree about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.codegen.c.tile import rows_in_memory
from hbc.codegen.cuda.lane_fragments import declare_lanes, whole_statement
from hbc.codegen.fragments.fragment_kinds import Fragment, FragmentKind
from hbc.codegen.fragments.in_no_product import neighbours
from hbc.codegen.plan.tile_steps import Change, Fill, Product, Save, Zero, tile_step
from hbc.codegen.text.instruction_text import statement
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import constant
from hbc.codegen.text.unit import ADD, Buffer, Unit
from hbc.ir.algebra.layout import layout, to_index, transposed
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction, Kind
from hbc.ir.lang.types import F32, I32, Memory
from hbc.ir.lang.walk import map_children, nodes, nodes_of, statements
from hbc.ir.meaning.contraction import extents, shape, strides

NAMESPACE = "namespace wmma = nvcuda::wmma;"
FRAGMENT_ALIGN = 32
"""Bytes that the place of a fragment in memory is aligned to."""


def fragments(body: ir.Stmt, instructions: Mapping[str, Instruction]) -> dict[str, Fragment]:
    """The fragments in a kernel, by buffer; what they are follows from the products they are in, and
    from the fragments that they are computed with, or that lie beside them."""
    allocations = {
        n.buffer: n
        for n in statements(body)
        if isinstance(n, ir.Allocate) and n.memory is Memory.WMMA
    }
    by_buffer: dict[str, Fragment] = {}
    for n in nodes(body):
        if isinstance(n, ir.Instruct):
            i = instructions[n.name]
            for operand, x in enumerate(n.args):
                if isinstance(x, ir.Load) and x.buffer in allocations:
                    new = _fragment(i, operand, dict(n.sizes), allocations[x.buffer])
                    if by_buffer.setdefault(x.buffer, new) != new:
                        raise InternalError(f"codegen: `{x.buffer}` is two kinds of fragment")
    stores = [n for n in nodes_of(body, ir.Store) if n.buffer in allocations]
    changes = [step for n in stores if isinstance(step := tile_step(n, allocations), Change)]
    for step in changes:
        _agree((step.tile, *step.tiles), allocations, by_buffer)
    for tile, other in neighbours(allocations.values(), by_buffer).items():
        by_buffer[tile] = replace(by_buffer[other], allocation=allocations[tile])
    for step in changes:
        _agree((step.tile, *step.tiles), allocations, by_buffer)
        if step.tile not in by_buffer:
            raise InternalError(f"codegen: no product says what fragment `{step.tile}` is")
    return by_buffer


def _agree(
    tiles: Sequence[str], allocations: Mapping[str, ir.Allocate], by_buffer: dict[str, Fragment]
) -> None:
    """Fragments whose elements are computed from each other's are of one kind, if it is known."""
    kind = next((by_buffer[t] for t in tiles if t in by_buffer), None)
    if kind is None:
        return
    for t in tiles:
        own = by_buffer.setdefault(t, replace(kind, allocation=allocations[t]))
        if own.type != kind.type or allocations[t].element != kind.element:
            raise InternalError(f"codegen: `{tiles[0]}` is computed from other kinds of fragments")


def _fragment(i: Instruction, operand: int, sizes: Mapping[str, int], a: ir.Allocate) -> Fragment:
    by_kind = dict(zip((r.kind for r in i.rows), extents(i, sizes), strict=True))
    product = by_kind[Kind.I], by_kind[Kind.J], by_kind[Kind.K]
    adjacent = next(
        r.kind for r, s in zip(i.rows, strides(i, operand, sizes), strict=True) if s == 1
    )
    roles = {i.accumulator: ("accumulator", Kind.J), i.factors[0]: ("matrix_a", Kind.K)}
    role, by_rows = roles.get(operand, ("matrix_b", Kind.J))
    element = i.operands[operand].element
    by_columns, rounded = adjacent is not by_rows, i.operands[operand].function is ir.MathOp.TF32
    return Fragment(a, role, product, element, by_columns, shape(i, operand, sizes), rounded)


def declare_fragment(s: ir.Allocate, name: str, unit: Unit) -> None:
    """Prints the variable, or an array of them."""
    match unit.fragments.get(s.buffer):
        case Fragment() as f:
            unit.out.line(f"{f.type} {name};")
        case FragmentKind() as kind:
            declare_lanes(s, name, kind, unit)


def fragment_statement(s: ir.Store, unit: Unit) -> bool:
    """Prints what the statement does with fragments; False when it does nothing with any."""
    kinds = {name: f for name, f in unit.fragments.items() if isinstance(f, FragmentKind)}
    if whole_statement(s, kinds, unit):
        return True
    tiles = {n: f.allocation for n, f in unit.fragments.items() if isinstance(f, Fragment)}
    step = tile_step(s, tiles)
    if step is None:
        return False
    if isinstance(step, Change):
        _change(step, unit)
    else:
        unit.out.line(_text(step, unit))
        if isinstance(step, Fill):
            _round(step.tile, unit)
    return True


def _round(tile: str, unit: Unit) -> None:
    """A loop over the elements that a lane has just loaded, where they are to be TF32."""
    f, name = unit.fragments[tile], unit.buffers[tile].text
    if isinstance(f, Fragment) and f.rounded:
        unit.scope.push()
        e = unit.scope.fresh("e")  # which may be the fragment's own
        unit.out.line(f"for (int {e} = 0; {e} < {name}.num_elements; ++{e})")
        unit.out.depth += 1
        unit.out.line(f"{name}.x[{e}] = wmma::__float_to_tf32({name}.x[{e}]);")
        unit.out.depth -= 1
        unit.scope.pop()


def _change(step: Change, unit: Unit) -> None:
    """A loop over the elements that a lane has."""
    held = {t: unit.buffers[t] for t in {step.tile, *step.tiles}}
    for t, b in held.items():
        unit.buffers[t] = Buffer(f"{b.text}.x", b.element, Memory.STACK)
    unit.scope.push()
    e = unit.scope.declare("e", nonnegative=True)
    with unit.out.braces(f"for (int {e} = 0; {e} < {held[step.tile].text}.num_elements; ++{e})"):
        target = f"{unit.buffers[step.tile].text}[{e}]"
        unit.out.line(f"{target} = {scalar(_at(step.value, ir.Var('e')), unit)};")
    unit.scope.pop()
    unit.buffers.update(held)


def _at(e: ir.Expr, element: ir.Var) -> ir.Expr:
    """One element of arithmetic on whole fragments."""
    match e:
        case ir.Load(buffer=buffer):
            return ir.Load(buffer, element, e.type.with_lanes(1))
        case ir.Broadcast(value=value):
            return value
        case ir.Const(value=value):
            return ir.Const(value, e.type.with_lanes(1))
        case _:
            return map_children(e, lambda c: _at(c, element))


def _text(step: Zero | Fill | Save | Product, unit: Unit) -> str:
    name, f = unit.buffers[step.tile].text, unit.fragments[step.tile]
    assert isinstance(f, Fragment)
    match step:
        case Zero():
            return f"wmma::fill_fragment({name}, {constant(0, f.element)});"
        case Fill(source=source):
            (start, stride), order = _place(source.buffer, source.index, f, unit, const=True)
            known = f", {order}" if f.operand == "accumulator" else ""
            return f"wmma::load_matrix_sync({name}, {start}, {stride}{known});"
        case Save(target=target):
            if target.mask is not None:
                raise InternalError(f"codegen: a masked store of the fragment `{step.tile}`")
            (start, stride), order = _place(target.buffer, target.index, f, unit, const=False)
            return f"wmma::store_matrix_sync({start}, {name}, {stride}, {order});"
        case Product(instruct=instruct, tiles=tiles):
            i = unit.instructions[instruct.name]
            names = {o.name: unit.buffers[t].text for o, t in zip(i.operands, tiles, strict=True)}
            return statement(i, "", names)


def _place(
    buffer: str, index: ir.Expr, f: Fragment, unit: Unit, *, const: bool
) -> tuple[tuple[str, str], str]:
    """Where the first row lies, as CUDA's type, and how many elements further the next one; the same of
    columns, for sums whose columns are adjacent elements. Which of both, in CUDA's words."""
    rows, columns = f.shape
    flat = layout(index)
    turned = None if flat is None else transposed(flat, rows)
    dims = () if turned is None else turned.dims
    if f.operand == "accumulator" and turned is not None and _is_adjacent(dims):
        lines, order = (
            rows_in_memory(to_index(turned), (columns, rows * f.element.bytes), f.element),
            "col",
        )
    else:
        lines, order = rows_in_memory(index, (rows, columns * f.element.bytes), f.element), "row"
    base, stride = lines
    place = unit.buffers[buffer]
    offset = scalar(base, unit)
    pointer = place.text if offset.text == "0" else f"{place.text} + {offset.at(ADD)}"
    t = f"{'const ' if const else ''}{f.element_type} *"
    cast = f"reinterpret_cast<{t}>({pointer})"
    own = f.element in (F32, I32)
    where = (pointer if own else cast), f"(unsigned)({scalar(simplify(stride), unit)})"
    return where, f"wmma::mem_{order}_major"


def _is_adjacent(dims: Sequence[tuple[int, ir.Expr]]) -> bool:
    """Whether the innermost of several dims has stride 1."""
    return len(dims) > 1 and const_value(dims[-1][1]) == 1
