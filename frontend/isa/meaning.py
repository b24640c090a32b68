"""Checks what an instruction computes: its operands and its update, as a contraction table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.extents import Extent, check_sizes, read_extent
from hbc.frontend.isa.fit import check_cover, check_place_fit
from hbc.frontend.isa.indices import Part, Steps, index_steps, split_variable
from hbc.frontend.isa.properties import Reports
from hbc.frontend.isa.update import MEANING, Typed, check_update, read_factors, read_functions
from hbc.frontend.text import ast
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.instruction import Kind, Operand, Place, Row, Size
from hbc.ir.lang.types import DTYPES, F32
from hbc.ir.meaning.contraction import row_stride

# Kinds by which of C, A and B a loop moves.
KINDS = {
    (True, True, False): Kind.I, (True, False, True): Kind.J, (False, True, True): Kind.K,
    (True, True, True): Kind.BATCH, (False, True, False): Kind.SUM, (False, False, True): Kind.SUM,
    (True, False, False): Kind.REPEAT,
}  # fmt: skip


@record
class Meaning:
    """The fields of `Instruction` that follow from the operands and the body."""

    operands: tuple[Operand, ...]
    accumulator: int
    factors: tuple[int, ...]
    sizes: tuple[Size, ...]
    rows: tuple[Row, ...]


def check_meaning(i: isa_ast.Instruction, place: Place, reports: Reports) -> Meaning | None:
    """The contraction table, or None after reporting why there is none."""
    sizes = check_sizes([b for b in i.body if isinstance(b, isa_ast.Bounded)], reports)
    named = {s.name: s for s in sizes}
    operands = check_operands(i.operands, named, reports)
    updates = [b for b in i.body if isinstance(b, ast.Definition)]
    if len(updates) != 1:
        span = updates[1].span if updates else i.name.span
        wrong = "there is a second update" if updates else "there is no update"
        reports.report(wrong, span, MEANING)
        return None
    (update,) = updates
    if operands is None or not check_update(update, operands, reports):
        return None
    factors = read_factors(update, operands, reports)
    extents = read_variables(i, update, operands, named, reports)
    if factors is None or extents is None:
        return None
    accesses = {update.name.text: update.indices, **factors}
    before = len(reports.found)
    indices = [x for written in accesses.values() for x in written]
    parts = {v: split_variable(v, extent, indices, reports) for v, extent in extents.items()}
    if len(reports.found) > before:
        return None
    steps = read_accesses(accesses, operands, parts, reports)
    for name, moved in steps.items():
        check_cover(operands[name], accesses[name], moved, parts, sizes, reports)
    for v, pieces in parts.items():
        if not any(p.name in m for moved in steps.values() for m in moved for p in pieces):
            reports.report(f"the variable `{v}` is in no index", update.span)
    check_place_fit(list(operands.values()), place, sizes, reports)
    if len(reports.found) > before:
        return None
    functions = read_functions(update)
    strides = [flatten(t, steps[name], place) for name, t in operands.items()]
    order = list(operands)
    positions = [order.index(name) for name in accesses]
    rows = [make_row(p, strides, positions) for pieces in parts.values() for p in pieces]
    return Meaning(
        tuple(replace(t.operand, function=functions.get(n)) for n, t in operands.items()),
        positions[0], tuple(positions[1:]), sizes, tuple(rows),
    )  # fmt: skip


def read_accesses(
    accesses: Mapping[str, tuple[ast.Expr, ...]], operands: Mapping[str, Typed],
    parts: Mapping[str, tuple[Part, ...]], reports: Reports,
) -> dict[str, list[Steps]]:  # fmt: skip
    """How the loops move each dimension of each operand, as far as that is understood."""
    by_operand = {}
    for name, indices in accesses.items():
        if check_rank(operands[name], indices, indices[0].span, reports):
            steps = [index_steps(x, parts, reports) for x in indices]
            known = [s for s in steps if s is not None]
            if len(known) == len(steps):
                by_operand[name] = known
    return by_operand


def check_rank(at: Typed, indices: tuple[ast.Expr, ...], span: Span, reports: Reports) -> bool:
    """Whether there is an index for each dimension."""
    rank = len(at.extents)
    if len(indices) != rank:
        dimensions = "one dimension" if rank == 1 else f"{rank} dimensions"
        reports.report(
            f"`{at.operand.name}` has {dimensions} and {len(indices)} here",
            span, None, Note("declared here", at.written.span),
        )  # fmt: skip
    return len(indices) == rank


def check_operands(
    written: tuple[isa_ast.Operand, ...], sizes: Mapping[str, Size], reports: Reports
) -> dict[str, Typed] | None:
    """The operands by name."""
    before = len(reports.found)
    by_name: dict[str, Typed] = {}
    for o in written:
        name, element = o.name.text, DTYPES.get(o.type.text)
        if element is None:
            hint = did_you_mean(o.type.text, DTYPES)
            reports.report(f"there is no type `{o.type.text}`", o.type.span, hint)
        if name in by_name:
            note = Note("first declared here", by_name[name].written.span)
            reports.report(f"the operand `{name}` is declared twice", o.name.span, None, note)
        if name in sizes:
            reports.report(f"`{name}` is a size and an operand", o.name.span)
        extents = tuple(read_extent(e, sizes, reports) for e in o.extents)
        operand = Operand(name, element or F32, tuple(e.value for e in extents))
        by_name[name] = Typed(operand, extents, o)
    return by_name if len(reports.found) == before else None


def read_variables(
    i: isa_ast.Instruction, u: ast.Definition, operands: Mapping[str, Typed],
    sizes: Mapping[str, Size], reports: Reports,
) -> dict[str, Extent] | None:  # fmt: skip
    """The variables and how far they run: those of what is written, then those of the reduction."""
    to = operands[u.name.text]
    if not check_rank(to, u.indices, u.span, reports):
        return None
    before = len(reports.found)
    seen: dict[str, Span] = {}
    extents = {x.span.text: e for x, e in zip(u.indices, to.extents, strict=True)}
    for reduce in i.body:
        if not isinstance(reduce, ast.Reduce):
            continue
        for d in reduce.domains:
            if d.name.text in extents:
                _report_second(d.name, u, seen, reports)
                return None
            seen[d.name.text] = d.name.span
            if d.interval.start not in (None, ast.Number(0, d.span)):
                reports.report("reductions of instructions begin at 0", d.interval.span)
            extents[d.name.text] = read_extent(d.interval.stop, sizes, reports)
    return extents if len(reports.found) == before else None


def _report_second(
    name: ast.Ident, u: ast.Definition, seen: Mapping[str, Span], reports: Reports
) -> None:
    """A variable of the reduction that there is already."""
    v, c = name.text, u.name.text
    if v in seen:
        note = Note("first declared here", seen[v])
        reports.report(
            f"the variable `{v}` is declared twice",
            name.span,
            "give one of them another name",
            note,
        )
        return
    (index,) = (x for x in u.indices if x.span.text == v)
    reports.report(
        f"`{c}` is written at `{v}`, which is summed over: a sum adds all values of `{v}` to the same "
        "element", index.span,
        f"take `{v}` out of `reduce` if nothing is summed over it, else write `{c}` at another variable, "
        "which needs no declaration",
        Note(f"`{v}` is summed over", name.span),
    )  # fmt: skip


def flatten(at: Typed, steps: list[dict[str, int]], place: Place) -> dict[str, ir.Expr]:
    """The stride of each loop in the operand, which is dense but for the rows of a place of rows."""
    strides: dict[str, ir.Expr] = {}
    unit: ir.Expr = ir.const_index(1)
    for d in reversed(range(len(steps))):
        if d == 0 and place.rows > 1 and len(steps) > 1:
            unit = ir.Var(row_stride(at.operand.name))
        for part, step in steps[d].items():
            strides[part] = add(strides.get(part, ir.const_index(0)), mul(unit, step))
        unit = mul(unit, at.extents[d].value)
    return {part: canonical(stride) for part, stride in strides.items()}


def make_row(p: Part, strides: list[dict[str, ir.Expr]], positions: list[int]) -> Row:
    """A row of the table, its kind by which operands it moves; the accumulator's position is first."""
    own = tuple(moved.get(p.name, ir.const_index(0)) for moved in strides)
    c, a, b = (*(own[n] != ir.const_index(0) for n in positions), False)[:3]
    return Row(p.name, KINDS[c, a, b], p.extent.value, own)
