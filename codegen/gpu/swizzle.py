"""Swizzled arrays in shared memory: where an element lies, and what needs rows that lie in order.

    unit u of row r lies where unit u xor r % 8 would          (rows of 128 bytes, units of 16)

Rows shorter than the 128 bytes of all banks change places by as many as these hold. Rows that are cut
into lines lie in pieces, each of so many rows of one line, one piece after the other along the rows. A
program's indices, and the interpreter, know nothing of it; code that is printed does.
"""

from __future__ import annotations

from hbc.ir.algebra.linear import Linear, of_atom, plus
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import nodes

LINE = 128
"""Bytes of all 32 banks: one word of 4 bytes in each."""
MATRIX_ROW = 16
"""Bytes that `ldmatrix` reads together."""


@record
class Bits:
    """Element i lies at place i ^ (i >> shift & mask); with `lines`, at that place within pieces of so many
    rows of `line` of their `row` elements."""

    shift: int
    mask: int
    row: int = 0
    lines: int = 1
    line: int = 0

    def place(self, at: int) -> int:
        if not self.line:
            return at ^ (at >> self.shift & self.mask)
        row, column = at // self.row % self.lines, at % self.row
        inside = column % self.line ^ (at >> self.shift & self.mask)
        piece = column // self.line * self.lines + row
        return at // self.period * self.period + piece * self.line + inside

    @property
    def period(self) -> int:
        """What may be added to a place and its element alike: a power of two."""
        swizzled = 1 << (self.mask << self.shift).bit_length()
        return max(swizzled, self.lines * self.row)


def swizzle_bits(s: ir.Swizzle, element: DType) -> Bits:
    """How many bits of the number of a unit change, and by which."""
    if s.line:
        shift = (s.row // s.unit).bit_length() - 1
        return Bits(shift, (min(s.lines, s.line // s.unit) - 1) * s.unit, s.row, s.lines, s.line)
    row, line = s.row // s.unit, max(1, LINE // (s.unit * element.bytes))
    shift = max(row, line).bit_length() - 1
    return Bits(shift, (min(row, line) - 1) * s.unit)


def split_place(index: Linear, bits: Bits) -> tuple[Linear, Linear]:
    """The part of an index that stays as it is, and the part whose place is another. They are added."""
    outside = Linear(index.constant // bits.period * bits.period)
    inside = Linear(index.constant - outside.constant)
    for atom, c in index.terms:
        if c % bits.period == 0:
            outside = plus(outside, of_atom(atom, c))
        else:
            inside = plus(inside, of_atom(atom, c))
    return outside, inside


def refuse_swizzled(s: ir.Stmt) -> None:
    """HbcError where a fragment is loaded from or stored to a swizzled array as a whole, by an instruction
    that cannot do that."""
    below = list(nodes(s))
    allocated = {a.buffer: a for a in below if isinstance(a, ir.Allocate)}
    swizzled = {name: a.swizzle for name, a in allocated.items() if a.swizzle is not None}
    for n in below if swizzled else ():
        if isinstance(n, ir.Store) and isinstance(n.value, ir.Load):
            for one, other in ((n.buffer, n.value.buffer), (n.value.buffer, n.buffer)):
                if one in swizzled and other in allocated:
                    _check(allocated[one], swizzled[one], allocated[other].memory, n)


def _check(a: ir.Allocate, swizzle: ir.Swizzle, memory: Memory, s: ir.Store) -> None:
    """`s` moves elements between the swizzled array and such memory."""
    if memory is Memory.WMMA:
        raise error(
            f"`{a.buffer}` is swizzled, and fragments of `wmma_accumulator` are loaded from rows that "
            "lie in order", a.span,
            f"`pad_storage` moves the rows of `{a.buffer}` to other banks too; or use "
            "`store_in(mma_accumulator)`, whose loads take the address of each row",
        )  # fmt: skip
    size, unit = a.element.bytes, swizzle.unit * a.element.bytes
    if memory is Memory.MMA and s.value.type.lanes * size > MATRIX_ROW > unit:
        raise error(
            f"units of {swizzle.unit} elements of `{a.buffer}` change places, and the rows of a fragment "
            f"are loaded {MATRIX_ROW // size} elements at a time", a.span,
            f"leave the number out of `swizzle_storage`: units of {MATRIX_ROW} bytes",
        )  # fmt: skip
