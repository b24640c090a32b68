"""What the fragments of a kernel are: of which instruction, and which operand of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from hbc.codegen.fragments.in_no_product import neighbours
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import (
    BF16,
    F8E4M3,
    F8E5M2,
    F16,
    F32,
    FRAGMENT_LANES,
    I8,
    I32,
    TILES_OF_LANES,
    U8,
    DType,
)  # fmt: skip
from hbc.ir.lang.walk import nodes, nodes_of, statements
from hbc.ir.meaning.fragment_layout import Numbers, elements_of

_TYPES = {
    F16: "__half", BF16: "__nv_bfloat16", F32: "float", I8: "signed char", U8: "unsigned char",
    I32: "int", F8E4M3: "unsigned char", F8E5M2: "unsigned char",
}  # fmt: skip


@record
class Fragment:
    """A matrix in the registers of a warp: its allocation, which operand of the product it is and in
    what order it lies in memory."""

    allocation: ir.Allocate
    operand: str  # accumulator, matrix_a, matrix_b
    product: tuple[int, int, int]  # m, n, k
    element: DType
    by_columns: bool
    shape: tuple[int, ...]  # as it lies in memory: rows, and the elements of a row
    rounded: bool = False  # floats whose significand is cut to 10 bits

    @property
    def lanes(self) -> int:
        """That hold it together."""
        return FRAGMENT_LANES[self.allocation.memory]

    @property
    def element_type(self) -> str:
        """As CUDA spells it in memory."""
        return _TYPES[self.element]

    @property
    def type(self) -> str:
        m, n, k = self.product
        layout = ""
        if self.operand != "accumulator":
            layout = f", wmma::{'col' if self.by_columns else 'row'}_major"
        element = "wmma::precision::tf32" if self.rounded else self.element_type
        return f"wmma::fragment<wmma::{self.operand}, {m}, {n}, {k}, {element}{layout}>"


@record
class FragmentKind:
    """The elements of a fragment, which may be of another type than the operand's."""

    instruction: Instruction
    operand: int
    element: DType

    @property
    def elements(self) -> Numbers:
        """[lane, element]: the numbers of the elements in the fragment's order."""
        return elements_of(self.instruction, self.operand)

    @property
    def lanes(self) -> int:
        """That hold it together."""
        return self.instruction.place.lanes

    @property
    def count(self) -> int:
        """Elements that a lane has."""
        return int(self.elements.shape[1])


def fragment_kinds(
    body: ir.Stmt, instructions: Mapping[str, Instruction]
) -> dict[str, FragmentKind]:
    """The fragments whose lanes know their elements, by buffer: from the products they are in, and
    from the fragments that they are computed with."""
    allocated = [
        n for n in statements(body) if isinstance(n, ir.Allocate) and n.memory in TILES_OF_LANES
    ]
    elements = {n.buffer: n.element for n in allocated}
    sizes = {n.buffer: const_value(n.extent) for n in allocated}
    kinds: dict[str, FragmentKind] = {}
    for n in nodes(body) if elements else ():
        if isinstance(n, ir.Instruct):
            for operand, x in enumerate(n.args):
                if isinstance(x, ir.Load) and x.buffer in elements:
                    new = FragmentKind(instructions[n.name], operand, elements[x.buffer])
                    known = kinds.setdefault(x.buffer, new)
                    if not np.array_equal(known.elements, new.elements):
                        raise InternalError(f"fragments: `{x.buffer}` is held in two ways")
    together = list(_together(body, frozenset(elements)))
    while (before := len(kinds)) < len(elements):
        for names in together:
            for known_one in [kinds[t] for t in names if t in kinds]:
                for t in names:
                    if t not in kinds and sizes[t] == known_one.elements.size:
                        kind = FragmentKind(known_one.instruction, known_one.operand, elements[t])
                        kinds[t] = kind
        if len(kinds) == before:
            others = neighbours(allocated, kinds)
            if not others:
                unknown = next(t for t in elements if t not in kinds)
                raise InternalError(f"fragments: no product says what `{unknown}` is")
            kinds |= {t: kinds[like] for t, like in others.items()}
    return kinds


def _together(body: ir.Stmt, tiles: frozenset[str]) -> Iterator[list[str]]:
    """The fragments that one statement computes elements of with those of others."""
    for n in nodes(body):
        if isinstance(n, ir.Store) and not isinstance(n.value, ir.Instruct):
            read = [x.buffer for x in nodes_of(n, ir.Load) if x.buffer in tiles]
            own = [n.buffer] if n.buffer in tiles else []
            if len(own) + len(read) > 1:
                yield [*own, *read]
