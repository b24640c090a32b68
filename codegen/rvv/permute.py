"""Lanes of RVV registers in another order: VRGATHER by constant numbers of lanes, in a group of registers
that is as large as the larger of source and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hbc.codegen.rvv.types import kind, lanes_of
from hbc.codegen.text.registers import Piece
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import LoadText, machine_of
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DTYPES, DType

_MOST_REGISTERS = 8  # in a group
_MOST_BYTES = 256  # that bytes can number


def copies(e: ir.Broadcast, unit: Unit) -> str:
    """A vector of several lanes again and again."""
    few, t = e.value.type.lanes, e.type.element
    text = unit.printers.vector(e.value, unit)
    return _gathered(text, few, [i % few for i in range(e.type.lanes)], t, unit)


def picked(text: str, lanes: int, picks: Sequence[int], t: DType, unit: Unit) -> str:
    """Lanes of one vector."""
    return _gathered(text, lanes, picks, t, unit)


def permuted(load: LoadText, t: DType, offsets: Sequence[int], unit: Unit) -> str | None:
    """Elements from a stretch of memory that a group of registers holds; None where it is longer."""
    low = min(offsets)
    span = max(offsets) - low + 1
    most = min(_MOST_REGISTERS * unit.target.vector_bits // t.bits, _MOST_BYTES)
    if span > most or _is_even(offsets):
        return None
    return _gathered(load(low, span), span, [o - low for o in offsets], t, unit)


def _is_even(offsets: Sequence[int]) -> bool:
    """Whether the elements are evenly apart: a load with a step."""
    return len({b - a for a, b in pairwise(offsets)}) == 1


def pieces(found: Mapping[Piece, str], lanes: Sequence[int], t: DType, unit: Unit) -> str | None:
    """Lanes of several registers, one after the other into those that come from it."""
    if not lanes or not all(any(p[0] <= i < p[0] + p[1] for p in found) for i in lanes):
        return None
    text: str | None = None
    for piece in sorted(found):
        picks = [i - piece[0] if piece[0] <= i < piece[0] + piece[1] else -1 for i in lanes]
        if max(picks) < 0:
            continue
        own = _gathered(found[piece], piece[1], [max(p, 0) for p in picks], t, unit)
        if text is None:
            text = own
            continue
        machine = machine_of(unit)
        mine = f"{sum(1 << i for i, p in enumerate(picks) if p >= 0):#x}"
        live = machine.put_mask("known", "mask", DTYPES["i8"], len(lanes), (mine,), unit)
        text = machine.put("select", t, len(lanes), (live, own, text), unit)
    return text


def block(bits: int, text: str, t: DType, lanes: int, few: int, number: int) -> str:
    """Neighbouring lanes of a register."""
    k = kind(bits, t, lanes)
    if number:
        text = f"__riscv_vslidedown_vx_{k}({text}, {few * number}, {lanes})"
    return _resized(bits, text, t, lanes, few)


def _gathered(text: str, lanes: int, picks: Sequence[int], t: DType, unit: Unit) -> str:
    """Lane i is lane picks[i] of a vector of `lanes`."""
    bits, most = unit.target.vector_bits, max(lanes, len(picks))
    if list(picks) == list(range(lanes)):
        return text
    k = kind(bits, t, most)
    held, stem = (DTYPES["u8"], "vrgather") if t.bits == 8 else (DTYPES["u16"], "vrgatherei16")
    numbers = lanes_of(bits, held, most, [str(p) for p in _filled(picks, most)])
    call = f"__riscv_{stem}_vv_{k}({_resized(bits, text, t, lanes, most)}, {numbers}, {most})"
    return _resized(bits, call, t, most, len(picks))


def _filled(picks: Sequence[int], lanes: int) -> list[int]:
    return [*picks, *[0] * (lanes - len(picks))]


def _resized(bits: int, text: str, t: DType, lanes: int, wanted: int) -> str:
    """The low lanes in a larger or smaller group."""
    a, b = kind(bits, t, lanes), kind(bits, t, wanted)
    if a == b:
        return text
    return f"__riscv_vlmul_{'ext' if wanted > lanes else 'trunc'}_v_{a}_{b}({text})"
