"""Checks that an instruction's meaning visits its operands exactly, and that they fit their registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from hbc.frontend.isa.indices import Part, Steps
from hbc.frontend.isa.properties import Reports
from hbc.frontend.isa.update import Typed
from hbc.frontend.text import ast
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Note
from hbc.ir.lang.instruction import Place, Size
from hbc.ir.meaning.contraction import corners, number


def check_cover(
    at: Typed, indices: Sequence[ast.Expr], steps: list[Steps],
    parts: Mapping[str, tuple[Part, ...]], sizes: tuple[Size, ...], reports: Reports,
) -> None:  # fmt: skip
    """Reports an index that does not run over its whole extent, and elements that are not visited once,
    at the least and the largest sizes. Loops that do not move the operand are not counted."""
    loops = {p.name: p.extent for pieces in parts.values() for p in pieces}
    for values in corners(sizes):
        counts = {name: number(e.value, values) for name, e in loops.items()}
        shape = [number(e.value, values) for e in at.extents]
        given = ", ".join(f"{name} = {v}" for name, v in values.items())
        when = f" when {given}" if given else ""
        for d, (index, moved) in enumerate(zip(indices, steps, strict=True)):
            last = sum(step * (counts[p] - 1) for p, step in moved.items())
            if last != shape[d] - 1:
                reports.report(
                    f"the index `{index.span.text}` of `{at.operand.name}` runs from 0 to {last}, "
                    f"its extent is {shape[d]}{when}",
                    index.span, None, Note("declared here", at.written.span),
                )  # fmt: skip
                return
        if not visits_once(shape, steps, counts):
            reports.report(
                f"the meaning does not visit every element of `{at.operand.name}` exactly once{when}",
                indices[0].span, "each element of a register has one place in the meaning",
                Note("declared here", at.written.span),
            )  # fmt: skip
            return


def visits_once(shape: list[int], steps: list[Steps], counts: Mapping[str, int]) -> bool:
    """Whether the loops that move the operand count through it like the digits of a number."""
    flat: dict[str, int] = {}
    for d, moved in enumerate(steps):
        for part, step in moved.items():
            flat[part] = flat.get(part, 0) + step * prod(shape[d + 1 :])
    unit = 1
    for stride, count in sorted((s, counts[p]) for p, s in flat.items() if counts[p] > 1):
        if stride != unit:
            return False
        unit *= count
    return unit == prod(shape)


def check_place_fit(
    operands: Sequence[Typed], place: Place, sizes: tuple[Size, ...], reports: Reports
) -> None:
    """Reports operands that do not fit the registers, or (registers of one row) do not fill them."""
    for t in operands:
        element = t.operand.element
        for values in corners(sizes):
            shape = [number(e.value, values) for e in t.extents]
            rows = shape[0] if place.rows > 1 and len(shape) > 1 else 1
            row_bytes = prod(shape) // rows * element.bytes
            given = ", ".join(f"{name} = {v}" for name, v in values.items())
            when = f" when {given}" if given else ""
            if rows > place.rows:
                reports.report(
                    f"`{t.operand.name}` has {rows} rows{when}, a register of `{place.name}` has "
                    f"{place.rows}", t.written.span,
                )  # fmt: skip
            elif row_bytes > place.row_bytes or (place.rows == 1 and row_bytes < place.row_bytes):
                what = "rows" if place.rows > 1 else "registers"
                reports.report(
                    f"`{t.operand.name}` takes {counted(row_bytes, 'byte')}{when}, {what} of `{place.name}` "
                    f"hold {place.row_bytes}", t.written.span,
                )  # fmt: skip
            else:
                continue
            break
        if place.types and place.c_type(element) is None:
            reports.report(
                f"`{place.name}` has no C type for `{element}`", t.written.span,
                f'add it to the `types` of the place: `{element} "..."`',
            )  # fmt: skip
