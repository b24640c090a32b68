"""The code of one instruction that moves elements: its description's text with operands and constants.

In braces stand `u` to `x`, the operands; a value of the form, such as `{unit}`; or how the alternatives
that units of elements choose are written, and which: `{vector j}` an index register, `{bytes j}` one of
bytes, `{signs j}` that with 0x80 where j is past the block, `{lanes s}` all bits of a unit or none,
`{offsets j}` of bits instead of elements, `{powers j}` two to the j, `{predicate s}` a register of a bit for
each byte, `{mask s}` a number of a bit for each unit, `{fields j}` two bits for each, `{nibbles j}` four for
each of its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from hbc.codegen.text.names import Scope
from hbc.codegen.text.spelling import int_type
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable, record
from hbc.ir.moves.instruction_table import OPERANDS, Fit

PLACE = re.compile(r"\{(\w+)(?: (\w+))?\}")
BLOCK_BITS = 128
ZERO_BYTE = 0x80


@record
class Constant:
    """A register of constants: integers of `bits` bits; a predicate has one for each byte."""

    bits: int
    values: tuple[int, ...]
    is_predicate: bool = False

    def declared(self, name: str, register_bits: int) -> str:
        """The static table that it is loaded from."""
        element, cells, size = (
            int_type(max(8, self.bits), signed=True),
            self.values,
            register_bits // 8,
        )
        if self.bits < 8:
            cells, element = _in_bytes(cells, self.bits), "uint8_t"
        if self.is_predicate:
            size = len(cells)
        listed = ", ".join(map(str, cells))
        return f"static const _Alignas({size}) {element} {name}_table[{len(cells)}] = {{{listed}}};"


def _in_bytes(values: tuple[int, ...], bits: int) -> tuple[int, ...]:
    """Integers of fewer bits in the order of their bytes, from the low end on."""
    several = 8 // bits
    ones = [value % (1 << bits) for value in values]
    return tuple(
        sum(one << at * bits for at, one in enumerate(ones[start : start + several]))
        for start in range(0, len(ones), several)
    )


@mutable
class Constants:
    """Names for the registers of constants of one function, in the order of their first use."""

    scope: Scope
    names: dict[Constant, str] = field(default_factory=dict)

    def name(self, constant: Constant) -> str:
        if constant not in self.names:
            self.names[constant] = self.scope.fresh(f"index{len(self.names)}")
        return self.names[constant]

    def declarations(self, register_bits: int) -> list[str]:
        """Static tables, one for each register."""
        return [constant.declared(name, register_bits) for constant, name in self.names.items()]


def instruction_text(
    fit: Fit, operands: Sequence[str], bits: int, constants: Constants
) -> str:  # fmt: skip
    """The expression. InternalError for a name that the description does not have."""

    def written(match: re.Match[str]) -> str:
        how, of = match[1], match[2]
        if of is None:
            if how in OPERANDS[: fit.form.arguments]:
                return operands[OPERANDS.index(how)]
            if how not in fit.form.values:
                raise InternalError(f"`{{{how}}}` in `{fit.form.spelling}` is no value of it")
            return str(fit.form.values[how])
        if how not in WAYS or of not in fit.form.names:
            raise InternalError(f"`{match[0]}` in `{fit.form.spelling}` cannot be written")
        chosen = [int(fit.form.names[of][alternative]) for alternative in fit.chosen]
        if how == "offsets":
            chosen = [bits * c for c in chosen]
        return WAYS[how](chosen, bits * fit.form.per, constants)

    return PLACE.sub(written, fit.form.spelling)


def _vector(chosen: list[int], bits: int, constants: Constants) -> str:
    return constants.name(Constant(bits, tuple(chosen)))


def _bytes(chosen: list[int], bits: int, constants: Constants) -> str:
    size = bits // 8
    return constants.name(
        Constant(8, tuple(j * size + byte for j in chosen for byte in range(size)))
    )


def _signs(chosen: list[int], bits: int, constants: Constants) -> str:
    outside = BLOCK_BITS // bits
    return constants.name(Constant(8, tuple(j if j < outside else ZERO_BYTE - 256 for j in chosen)))


def _powers(chosen: list[int], bits: int, constants: Constants) -> str:
    return constants.name(Constant(bits, tuple((1 << c) - (c == 7) * 256 for c in chosen)))


def _lanes(chosen: list[int], bits: int, constants: Constants) -> str:
    return constants.name(Constant(bits, tuple(-s for s in chosen)))


def _predicate(chosen: list[int], bits: int, constants: Constants) -> str:
    return constants.name(Constant(1, tuple(s for s in chosen for _ in range(bits // 8)), True))


def _mask(chosen: list[int], bits: int, constants: Constants) -> str:
    value = sum(s << unit for unit, s in enumerate(chosen))
    return f"0x{value:0{max(1, len(chosen) // 4)}x}{'ull' if len(chosen) > 32 else ''}"


def _fields(chosen: list[int], bits: int, constants: Constants) -> str:
    return f"0x{sum(j << 2 * unit for unit, j in enumerate(chosen)):02x}"


def _nibbles(chosen: list[int], bits: int, constants: Constants) -> str:
    size = bits // 8
    places = [j * size + byte for j in chosen for byte in range(size)]
    return f"0x{sum(place << 4 * byte for byte, place in enumerate(places)):04x}u"


WAYS: dict[str, Callable[[list[int], int, Constants], str]] = {
    "vector": _vector, "offsets": _vector, "powers": _powers, "bytes": _bytes, "signs": _signs,
    "lanes": _lanes, "predicate": _predicate, "mask": _mask, "fields": _fields, "nibbles": _nibbles,
}  # fmt: skip
