"""What a machine's vectors are to the printers: tables of templates, and functions where those do not do.

    ("add sub", "f32 f64", "{p}_{op}_{s}({0}, {1})")   ->   _mm256_add_ps(a, b)

A row is for operations on vectors of an element type. Its template names operands by their numbers, and by
words what the machine makes of the element type and the lanes (`Machine.words`). Operations are the names
of the IR's (`add`, `sqrt`); those that only printers know are:

    fmadd fmsub fnmadd    a*b+c, a*b-c, c-a*b with one rounding
    min_number ..         the least of two when the first is no NaN, where `min` needs more
    shl_by shr_by mul_by  by a constant, which is operand 1
    select select_zero    by a mask (0), of vectors (1, 2; 0 for what is not live)
    sum min max of all lanes: reduce_add, reduce_min, reduce_max

Masks have the element type `mask`, or where their lanes are as wide as what was compared `mask8` to
`mask64`. Of them there are `true`, `false`, `alike` (0: a C condition), `not`, the operators on bools, and

    test                  bytes (0) other than 0
    bytes                 1 where the mask (0) holds, else 0
    any all odd           as C conditions: of how many lanes it holds
    type                  the C type
    lanes                 a mask of signed lanes (0), -1 where it holds
    element spill         the C type of a lane; the store of the mask (1) into an array of those (0)
    first                 the C function that makes the mask of the first n lanes
    known joined bit      of the bits of a number (0); of masks (0, 1) of so many lanes each (2); a lane's (1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from hbc.codegen.text.registers import Piece
from hbc.codegen.text.unit import Registers, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

FLOATS = "f32 f64"
SMALL = "i8 u8 i16 u16 i32 u32"
INTEGERS = f"{SMALL} i64 u64"
NUMBERS = f"{FLOATS} {INTEGERS}"
NARROW = "f8e4m3 f8e5m2 f16 bf16"
MASKS = "mask8 mask16 mask32 mask64"
WIDTH_OF_MASK = {8: "mask8", 16: "mask16", 32: "mask32", 64: "mask64"}

Words = Mapping[str, object]
Function = Callable[[Sequence[str], DType, int, Unit], str]
"""From operands, element type and lanes to C text."""
Template = str | Function
Rows = Mapping[tuple[str, str], Template]
Cast = str | Callable[[str, DType, DType, int, Unit], str]
"""A template, or a function of the operand, its element type, the wanted one and the lanes."""
Printed = Callable[[], Sequence[str]]
"""What prints operands, which may take lines of their own: not to be asked where nothing comes of it."""
LoadText = Callable[[int, int], str]
"""From the first element (from some base) and lanes to C text."""


def rows(*lines: tuple[str, str, Template]) -> dict[tuple[str, str], Template]:
    """A table: operations, element types (both apart by blanks), template; `{op}` is the operation."""
    return {
        (op, t): text.replace("{op}", op) if isinstance(text, str) else text
        for ops, types, text in lines
        for op in ops.split()
        for t in types.split()
    }


@record
class Masks:
    """How vectors of bools are kept: `text` prints one with lanes of so many bits (if it has such),
    `declared` gives type and text of one that gets a name, `spilled` prints what it takes to ask a mask
    on vectors of an element type lane by lane: the result gives the C condition of a lane."""

    text: Callable[[ir.Expr, int, Unit], str]
    declared: Callable[[str, ir.Expr, Unit], tuple[str, str]]
    spilled: Callable[[str, ir.Expr, DType, Unit], Callable[[str], str]]
    resized: Callable[[str, int, int, int, Unit], str] | None = None


@record
class Accesses:
    """Memory. `load`: adjacent elements from an index of a buffer on; `load_live`: those under the load's
    mask, the others 0. `store`: adjacent elements, all or those under a mask; None: not in one go.
    The others say None (or False) where the machine has nothing better than lane by lane: `repeated` loads
    few adjacent elements again and again, `permuted` few registers of them in another order, `rows`
    those of several rows, `gather` any; `scatter` stores to any places; `looked_up` is from a small
    table, from its text, how many it has, and what prints the places: vectors of `place_type`, one after the
    other; `structures` loads several vectors whose lanes alternate in memory, as
    `ir/movement/structures.py` has them."""

    load: Callable[[str, ir.Expr, DType, int, Unit], str]
    load_live: Callable[[ir.Load, ir.Expr, Unit], str]
    store: Callable[[ir.Store, ir.Expr, Unit], str | None]
    repeated: Callable[[ir.Load, ir.Expr, tuple[int, ...], Unit], str | None]
    permuted: Callable[[LoadText, DType, Sequence[int], Unit], str | None]
    rows: Callable[[ir.Load, Unit], str | None]
    gather: Callable[[ir.Load, Unit], str | None] = lambda e, unit: None
    scatter: Callable[[ir.Store, Unit], bool] = lambda s, unit: False
    looked_up: Callable[[str, int, Printed, DType, int, Unit], str | None] = lambda *_: None
    structures: Callable[[ir.Load, ir.Expr, tuple[int, ...], Unit], str | None] = lambda *_: None


@record
class Shuffles:
    """Lanes of registers: `copies` of a short vector, `picked` lanes of one vector (its text and lanes),
    and of the pieces of a buffer in registers; `block`: some neighbouring lanes of a register; `widened`:
    picked lanes of such pieces (from an element type, to another of more bits), which need not be as long.
    `by_places`: lanes of a register by a vector of their numbers, integers as wide; None where there is no
    permute for that."""

    copies: Callable[[ir.Broadcast, Unit], str]
    picked: Callable[[str, int, Sequence[int], DType, Unit], str | None]
    pieces: Callable[[Mapping[Piece, str], Sequence[int], DType, Unit], str | None]
    block: Callable[[str, DType, int, int, int], str] | None = None
    widened: Callable[[Mapping[Piece, str], Sequence[int], DType, DType, Unit], str | None] = (
        lambda *_: None
    )
    by_places: Callable[[str, str, DType, int, Unit], str | None] = lambda *_: None


def as_it_is(text: str, value: ir.Expr, unit: Unit) -> str:
    """Where nothing is to be done with a value."""
    return text


@record
class Machine:
    """`words`: of an element type and lanes, `cast_words`: of two. `casts`: by the names of the element
    types; `via`: the type between, where it takes two casts of which none or the last rounds.
    `broadcast`: a C value of the type in all lanes. `alike` and `lanes_of`: one C value in all lanes, or
    one in each (those that the register has besides are 0), as `element` makes them of what is in
    memory. `reduced`: how wide the lanes of masks are that are folded. `narrowed`: integers
    narrowed with saturation, None where there is nothing for them. `fold`: what folds all lanes where no
    row does. `lane`: a known lane of a vector as a scalar, if that is better than through an array.
    `held` and `chosen`: the text of a value that gets a name, or that a mask chooses."""

    registers: Registers
    words: Callable[[DType, int], Words]
    rows: Rows
    cast_words: Callable[[DType, DType, int], Words]
    casts: Mapping[tuple[str, str], Cast]
    via: Mapping[tuple[str, str], str]
    broadcast: Callable[[DType, int, str], str]
    alike: Callable[[DType, int, str], str]
    lanes_of: Callable[[DType, int, Sequence[str]], str]
    reinterpret: Callable[[str, DType, DType, int], str]
    masks: Masks
    accesses: Accesses
    shuffles: Shuffles
    fold: Callable[[ir.Op, DType, int, Unit], str]
    element: Callable[[str, DType], str] = lambda text, t: text
    narrowed: Callable[[str, DType, DType, int, Unit], str | None] | None = None
    lane: Callable[[str, DType, int, int], str] | None = None
    held: Callable[[str, ir.Expr, Unit], str] = field(default=as_it_is)
    chosen: Callable[[str, ir.Expr, Unit], str] = field(default=as_it_is)
    reduced: Callable[[int], int] = lambda lanes: 8
    mask_bits: int = 128
    """The widest vectors that are compared at once."""

    def has(self, op: str, t: str) -> bool:
        return (op, t) in self.rows

    def put(self, op: str, t: DType, lanes: int, operands: Sequence[str], unit: Unit) -> str:
        """The C text of an operation of which there is a row."""
        return self.put_mask(op, t.name, t, lanes, operands, unit)

    def put_mask(
        self, op: str, kind: str, t: DType, lanes: int, operands: Sequence[str], unit: Unit
    ) -> str:
        """The same of masks: `kind` of the table, `t` whose words the template names."""
        row = self.rows[op, kind]
        if isinstance(row, str):
            return row.format(*operands, **self.words(t, lanes))
        return row(operands, t, lanes, unit)


def machine_of(unit: Unit) -> Machine:
    """The machine that the unit's vectors are printed for."""
    found = unit.printers.machine
    if not isinstance(found, Machine):
        raise InternalError(f"codegen: vectors for the target `{unit.target.name}`")
    return found


def kept(text: str, mask: ir.Expr, t: DType, unit: Unit) -> str:
    """A vector with zeros where the mask does not hold."""
    lanes, machine = mask.type.lanes, machine_of(unit)
    condition = machine.masks.text(mask, t.bits, unit)
    if machine.has("keep", t.name):
        return machine.put("keep", t, lanes, (condition, text), unit)
    nothing = machine.registers.zero(t, lanes)
    return machine.put("select", t, lanes, (condition, text, nothing), unit)
