"""Stores that together interleave rows of memory, as packs of VNNI operands do: one call instead.

The functions are in `templates/interleave_*.h`, found by `hbc synth` and written by
`hbc.cli.sketches.pack_functions`. They load whole registers of every row once, where each store
by itself loads a part of each row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.load import address
from hbc.ir.algebra.linear import difference
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import X86
from hbc.ir.lang.types import BOOL, Memory

# Rows, and an element of their width. For two rows of 16 bits what the stores by themselves do is as fast.
FUNCTIONS = ((4, "u8"),)
_NAMES = {512: "avx512", 256: "avx2"}
_FUNCTION = re.compile(r"^// .*?^static inline void (\w+)\(.*?^\}\n", re.S | re.M)


@record
class _Interleaving:
    """A store of `rows` rows' elements in turn: from `base` on, `apart` from row to row."""

    base: ir.Expr
    apart: ir.Expr
    rows: int


def interleaved_rows(body: Sequence[ir.Stmt], at: int, unit: Unit) -> int:
    """How many statements from body[at] on are printed as one call; 0: none."""
    form = _form(body, at, unit)
    if form is None:
        return 0
    first = body[at]
    assert isinstance(first, ir.Store) and isinstance(first.index, ir.Ramp)
    assert isinstance(first.value, ir.Load)
    lanes, bits = first.value.type.lanes, first.value.type.element.bits
    name = unit.prelude.add(
        function_name(form.rows, lanes, bits),
        functions(lanes * bits)[function_name(form.rows, lanes, bits)],
    )
    to = address(first.buffer, first.index.base, unit)
    source = address(first.value.buffer, form.base, unit)
    unit.out.line(f"{name}({to}, {source}, {scalar(form.apart, unit)});")
    return form.rows


def is_interleaved(body: Sequence[ir.Stmt], unit: Unit) -> bool:
    """Whether the first statements are printed as one call."""
    return _form(body, 0, unit) is not None


def _form(body: Sequence[ir.Stmt], at: int, unit: Unit) -> _Interleaving | None:
    """What the statements from body[at] on interleave."""
    first = body[at]
    if not isinstance(first, ir.Store) or unit.target.machine != X86:
        return None
    form, load = _interleaving(first), first.value
    if form is None or not isinstance(load, ir.Load):
        return None
    t, lanes = load.type.element, load.type.lanes
    name = function_name(form.rows, lanes, t.bits)
    if (
        t == BOOL
        or lanes * t.bits != unit.target.vector_bits
        or name not in functions(lanes * t.bits)
    ):
        return None
    places = [unit.buffers.get(b) for b in (first.buffer, load.buffer)]
    if any(place is None or place.memory is Memory.REGISTER for place in places):  # None: a tile
        return None
    group = body[at : at + form.rows]
    if len(group) < form.rows or not all(
        _continues(first, s, form, part, lanes) for part, s in enumerate(group)
    ):
        return None
    return form


def function_name(rows: int, count: int, bits: int) -> str:
    return f"interleave_{rows}x{count}_u{bits}"


def template(register_bits: int) -> Path:
    """The file of functions on registers of so many bits."""
    return Path(__file__).parents[1] / "templates" / f"interleave_{_NAMES[register_bits]}.h"


@cache
def functions(register_bits: int) -> dict[str, str]:
    """The text of each function by its name."""
    if register_bits not in _NAMES:
        return {}
    text = template(register_bits).read_text(encoding="ascii")
    return {m.group(1): m.group(0) for m in _FUNCTION.finditer(text.partition("\n\n")[2])}


def _interleaving(s: ir.Stmt) -> _Interleaving | None:
    match s:
        case ir.Store(
            index=ir.Ramp(base=to, stride=ir.Const(value=1)), mask=None, asynchronous=False, atomic=None,
            value=ir.Load(
                index=ir.Ramp(
                    base=ir.Ramp(base=base, stride=apart, lanes=rows),
                    stride=ir.Broadcast(value=ir.Const(value=1)),
                ), mask=None,
            ) as load,
        ) if to.type.lanes == base.type.lanes == 1 and load.buffer != s.buffer:  # fmt: skip
            return _Interleaving(base, apart, rows)
        case _:
            return None


def _continues(first: ir.Store, s: ir.Stmt, form: _Interleaving, part: int, lanes: int) -> bool:
    """Whether `s` stores what the rows hold `part` stores further than `first`."""
    here = _interleaving(s)
    if here is None or not isinstance(s, ir.Store) or not isinstance(s.value, ir.Load):
        return False
    assert isinstance(first.value, ir.Load) and isinstance(first.index, ir.Ramp)
    assert isinstance(s.index, ir.Ramp)
    return (
        (s.buffer, s.value.buffer) == (first.buffer, first.value.buffer)
        and s.value.type == first.value.type
        and here.rows == form.rows
        and difference(here.apart, form.apart) == 0
        and difference(s.index.base, first.index.base) == part * lanes
        and difference(here.base, form.base) == part * (lanes // form.rows)
    )
