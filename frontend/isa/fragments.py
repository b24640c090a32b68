"""Checks which lane holds which element of an instruction's operands, and which operands no lane holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.properties import Reports
from hbc.frontend.text import ast
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, floordiv, mod, mul
from hbc.ir.lang.instruction import Operand, Place
from hbc.ir.meaning.fragment_layout import ELEMENT, LANE, Indices, held, is_partition


def check_fragments(
    i: isa_ast.Instruction, place: Place, operands: Sequence[Operand], shared: Collection[int],
    reports: Reports,
) -> tuple[Indices, ...]:  # fmt: skip
    """The indices of each operand's elements over lane and element; () in a place without lanes, and of
    operands that are read from `shared` memory."""
    written = [b for b in i.body if isinstance(b, isa_ast.Fragment)]
    if place.lanes == 1:
        for f in written:
            reports.report(
                f"`{place.name}` is not spread over lanes", f.span, "its place says `lanes 32`"
            )
        return ()
    by_name: dict[str, isa_ast.Fragment] = {}
    for f in written:
        name = f.name.text
        if name not in {o.name for o in operands}:
            hint = did_you_mean(name, [o.name for o in operands])
            reports.report(f"there is no operand `{name}`", f.name.span, hint)
        elif name in by_name:
            note = Note("the first one", by_name[name].span)
            reports.report(f"the fragment of `{name}` is stated twice", f.span, None, note)
        by_name[name] = f
    indices: list[Indices] = []
    for n, o in enumerate(operands):
        if n in shared:
            if o.name in by_name:
                reports.report(
                    f"`{o.name}` is in shared memory, where no lane holds it", i.name.span
                )
            indices.append(())
        elif o.name in by_name:
            indices.append(_indices(by_name[o.name], o, place, reports))
        else:
            reports.report(
                f"`{place.name}` is spread over {place.lanes} lanes, and nothing says which of "
                f"them have which elements of `{o.name}`", i.name.span,
                f"write it, such as `fragment {o.name}[lane / 4, lane % 4 * 2 + element]`",
            )  # fmt: skip
    return tuple(indices)


def check_shared(
    i: isa_ast.Instruction, place: Place, operands: Sequence[Operand], accumulator: int,
    reports: Reports,
) -> tuple[int, ...]:  # fmt: skip
    """The positions of the operands that the instruction reads from shared memory."""
    names = [n for b in i.body if isinstance(b, isa_ast.InShared) for n in b.names]
    known = {o.name: n for n, o in enumerate(operands)}
    for name in names:
        if name.text not in known:
            hint = did_you_mean(name.text, known)
            reports.report(f"there is no operand `{name.text}`", name.span, hint)
        elif known[name.text] == accumulator:
            reports.report(f"`{name.text}` accumulates: it is in `{place.name}`", name.span)
        elif place.shared is None:
            reports.report(
                f"`{place.name}` does not say how operands lie in shared memory", name.span,
                "its place has a block `shared { rows 8; row_bytes 128; unit 16; .. }`",
            )  # fmt: skip
    found = {known[n.text] for n in names if n.text in known} - {accumulator}
    return tuple(sorted(found))


def _indices(f: isa_ast.Fragment, o: Operand, place: Place, reports: Reports) -> Indices:
    """Those of one operand; what is wrong with them is reported."""
    extents = [const_value(e) for e in o.extents]
    if None in extents:
        reports.report(f"the extents of `{o.name}` are no numbers", f.span)
        return ()
    shape = [int(e or 0) for e in extents]
    if len(f.indices) != len(shape):
        reports.report(
            f"`{o.name}` has {counted(len(shape), 'dimension')}, not {len(f.indices)}", f.span
        )
        return ()
    before = len(reports.found)
    names = {LANE: ir.Var(LANE), ELEMENT: ir.Var(ELEMENT)}
    made = tuple(_expression(x, names, reports) for x in f.indices)
    if len(reports.found) > before:
        return ()
    number = held(made, shape, place.lanes) if prod(shape) % place.lanes == 0 else None
    if number is None or not is_partition(number, shape):
        reports.report(
            f"the {place.lanes} lanes do not hold every element of `{o.name}` exactly once", f.span,
            f"`lane` runs below {place.lanes}, `element` below {prod(shape) // place.lanes}",
        )  # fmt: skip
    return made


def _expression(e: ast.Expr, names: Mapping[str, ir.Var], reports: Reports) -> ir.Expr:
    match e:
        case ast.Name(text=text) if text in names:
            return names[text]
        case ast.Number(value=int() as value):
            return ir.const_index(value)
        case ast.Binary(op="+", a=a, b=b):
            return add(_expression(a, names, reports), _expression(b, names, reports))
        case ast.Binary(op="*", a=a, b=b):
            return mul(_expression(a, names, reports), _expression(b, names, reports))
        case ast.Binary(op="/", a=a, b=ast.Number(value=int() as d)) if d > 0:
            return floordiv(_expression(a, names, reports), d)
        case ast.Binary(op="%", a=a, b=ast.Number(value=int() as d)) if d > 0:
            return mod(_expression(a, names, reports), d)
        case _:
            reports.report(
                f"`{e.span.text}` is no place of an element", e.span,
                f"write sums, products, `/` and `%` of `{LANE}`, `{ELEMENT}` and numbers",
            )  # fmt: skip
            return ir.const_index(0)
