"""The instruction whose types agree best with those of a statement, and where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hbc.eqsat.choosing.miss import APART, NO_SHAPE, Miss
from hbc.eqsat.choosing.terms import sums
from hbc.eqsat.graph.lowering import Signature, selectable, signature
from hbc.eqsat.tensors.tensor import Tensor, reads
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import DTYPES, TILES, DType


def nearest(value: Tensor, usable: Sequence[Instruction]) -> str:
    """The name of the instruction for the types that are added up."""
    total = next(sums(value), value)
    return by_types(total.element, [r.element for r in reads(total)], usable)


def by_types(total: DType, used: Sequence[DType], usable: Sequence[Instruction]) -> str:
    """The instruction that adds to the type `total`, and takes most of the types `used`, each once,
    in their order if there is a choice."""
    names = [t.name for t in used]

    def shared(i: Instruction) -> tuple[bool, int, bool]:
        result, *factors = signature(i)
        common = (Counter(factors) & Counter(names)).total()
        return result == total.name, common, [n for n in names if n in factors][:2] == factors

    return max(usable, key=shared).name if usable else ""


def by_nearest_types(
    types: Signature, instructions: Sequence[Instruction], others: Sequence[Instruction]
) -> Miss:
    """The instruction whose types agree best, and where they do not."""
    total, a, b = types
    shown = f"{a} by {b} into {total}"
    if not instructions:
        return Miss("", f"it multiplies {shown}", "choose a target with such instructions")
    for i in instructions:
        rounding = {str(f) for n in i.factors if (f := i.operands[n].function) is not None}
        if rounding and (i.operands[i.accumulator].element.name, *_elements(i)) == types:
            name = rounding.pop()
            return Miss(
                i.name, f"it multiplies {shown}, and `{i.name}` rounds both to {name}",
                f"write `{name}(..) * {name}(..)` where that is precise enough",
            )  # fmt: skip
    best = max(instructions, key=lambda i: _agreement(types, signature(i)))
    wanted = signature(best)
    if _agreement(types, wanted)[0] == len(types):
        return Miss(
            best.name, NO_SHAPE,
            "vectorize a loop along which each operand moves alone, and the reduction",
        )  # fmt: skip
    takes = f"{wanted[1]} by {wanted[2]} into {wanted[0]}"
    condition = f"it multiplies {shown}, and `{best.name}` {takes}"
    if wanted[0] != total and {wanted[1], wanted[2]} == {a, b}:
        return Miss(best.name, condition, f"add up in {wanted[0]}, and convert the result")
    elsewhere = [i for i in others if i.place.memory in TILES and selectable(i)]
    for i in elsewhere:
        if has_tiles(instructions) and _agreement(types, signature(i))[0] == len(types):
            return Miss(
                best.name, condition,
                f"`store_in({i.place.memory})`: its `{i.name}` multiplies {shown}",
            )  # fmt: skip
    narrow = dict.fromkeys(t for t in wanted[1:] if t not in (a, b)) or {wanted[1]: None}
    casts = " and ".join(f"`{total}({t}(..))`" for t in narrow)
    convert = f"convert the operands where their values allow it: {casts}"
    return Miss(
        best.name, condition, f"{convert}; or {APART}" if has_tiles(instructions) else convert
    )


def has_tiles(instructions: Sequence[Instruction]) -> bool:
    """Whether their sums are in tile memory, which holds nothing else."""
    return any(i.place.memory in TILES for i in instructions)


def _elements(i: Instruction) -> list[str]:
    return [i.operands[n].element.name for n in i.factors]


def _agreement(types: Signature, wanted: Signature) -> tuple[int, int, int]:
    """How many of the types are the same, with the factors in the better order; how many are alike but
    for the sign; and how many are the same in this order."""
    total, a, b = wanted
    in_order = (types[1] == a) + (types[2] == b)
    swapped = (types[1] == b) + (types[2] == a)
    alike = sum(map(_is_alike, types, wanted))
    return (types[0] == total) + max(in_order, swapped), alike, in_order


def _is_alike(a: str, b: str) -> bool:
    """Whether two types are as wide as each other, and both integers or not. (What rounds is no type.)"""
    x, y = DTYPES.get(a), DTYPES.get(b)
    return bool(x and y and x.bits == y.bits and x.is_float == y.is_float)
