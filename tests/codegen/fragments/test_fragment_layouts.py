"""Pins the fragment layouts of the described instructions against the PTX manual's, and `ldmatrix` loads
against a simulation of what the manual says of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hbc.cli.instruction_set import instruction_set
from hbc.codegen.fragments.fragment_kinds import FragmentKind
from hbc.codegen.fragments.matrix_loads import MatrixLoad, matrix_load
from hbc.ir.algebra.linear import canonical
from hbc.ir.lang.build import broadcast, const_value
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.nodes import Const, Load, Ramp, Var, const_index
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import substitute
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.fragment_layout import elements_of, position

KNOWN = instruction_set().of_target("mma")
Place = Callable[[int, int], tuple[int, int]]


def c_place(lane: int, e: int) -> tuple[int, int]:
    """Of the chapter "Matrix Fragments for mma.m16n8k16": row groupID or groupID + 8, column of a pair.
    Where two instructions stand side by side, the second one's columns come after."""
    group, thread = lane >> 2, lane % 4
    second, own = divmod(e, 4)
    return group if own < 2 else group + 8, thread * 2 + (own & 1) + 8 * second


def a_place(packed: int) -> Place:
    """`packed`: elements in a register. Registers 1 and 3 are 8 rows below, 2 and 3 half of k on."""

    def place(lane: int, e: int) -> tuple[int, int]:
        group, thread = lane >> 2, lane % 4
        register, within = divmod(e, packed)
        row = group + 8 if register in (1, 3) else group
        return row, thread * packed + within + (4 * packed if register >= 2 else 0)

    return place


def b_place(packed: int) -> Place:
    def place(lane: int, e: int) -> tuple[int, int]:
        register, within = divmod(e, packed)
        second, own = divmod(register, 2)
        return lane % 4 * packed + within + 4 * packed * own, (lane >> 2) + 8 * second

    return place


@pytest.mark.parametrize("i", KNOWN, ids=lambda i: i.name)
def test_layouts_are_those_of_the_manual(i: Instruction) -> None:
    packed = 4 // i.operands[1].element.bytes
    for operand, place in enumerate((c_place, a_place(packed), b_place(packed))):
        columns = shape(i, operand, {})[1]
        for (lane, e), number in np.ndenumerate(elements_of(i, operand)):
            row, column = place(lane, e)
            assert number == row * columns + column
            there = canonical(
                substitute(position(i, operand, Var("l"), e), {"l": const_index(lane)})
            )
            assert isinstance(there, Const)
            assert there.value == number


def kind_of(name: str, operand: int) -> FragmentKind:
    i = next(i for i in KNOWN if i.name == name)
    return FragmentKind(i, operand, i.operands[operand].element)


def rows_at(base: int, extents: tuple[int, ...], strides: tuple[int, int], t: DType) -> Load:
    """The load of a matrix, with the element of its strides."""
    rows, columns = extents
    inner = Ramp(const_index(base), const_index(strides[1]), columns)
    outer = broadcast(const_index(strides[0]), columns)
    return Load("s", Ramp(inner, outer, rows), t(rows * columns))


def loaded(x: MatrixLoad, memory: np.ndarray, per: int) -> np.ndarray:
    """[lane, element]: what `ldmatrix` gives each lane, by the manual."""
    got = np.zeros((32, x.count * per), memory.dtype)
    begins = []
    for lane in range(8 * x.count):
        address = x.address(const_index(lane))
        assert address is not None
        number = const_value(canonical(address))
        assert isinstance(number, int)
        assert number * memory.itemsize % 16 == 0
        begins.append(number)
    for lane in range(32):
        for matrix in range(x.count):
            for n in range(per):
                row, column = lane // 4, lane % 4 * per + n
                if x.transposed:
                    row, column = column, row
                got[lane, matrix * per + n] = memory[begins[8 * matrix + row] + column]
    return got


@pytest.mark.parametrize(
    ("name", "operand", "strides", "count", "transposed"),
    [
        ("mma_m16n8k16_f16", 1, (40, 1), 4, False),
        ("mma_m16n8k16_f16", 1, (1, 24), 4, True),
        ("mma_m16n8k16_bf16", 1, (0, 1), 4, False),
        ("mma_m16n8k16_f16", 2, (136, 1), 2, True),
        ("mma_m16n8k16_f16", 2, (1, 72), 2, False),
        ("mma_m16n16k16_f16", 2, (136, 1), 4, True),
        ("mma_m16n16k16_bf16", 2, (1, 72), 4, False),
        ("mma_m16n8k32_s8", 1, (48, 1), 4, False),
        ("mma_m16n8k32_u8", 2, (1, 80), 2, False),
        ("mma_m16n8k16_f16_f16", 0, (8, 1), 2, False),
    ],
)
def test_ldmatrix_loads_what_is_wanted(
    name: str, operand: int, strides: tuple[int, int], count: int, transposed: bool
) -> None:
    kind = kind_of(name, operand)
    extents = shape(kind.instruction, operand, {})
    size = kind.element.bytes
    load = rows_at(32 // size, extents, strides, kind.element)
    found = matrix_load(load, kind)
    assert found is not None
    assert (found.count, found.transposed) == (count, transposed)
    t = np.uint8 if size == 1 else np.uint16
    memory = np.random.default_rng(1).integers(0, np.iinfo(t).max, 8192, t)
    row, column = np.divmod(kind.elements, extents[1])
    wanted = memory[32 // size + row * strides[0] + column * strides[1]]
    np.testing.assert_array_equal(loaded(found, memory, 4 // size), wanted)


@pytest.mark.parametrize(
    ("name", "operand", "base", "strides"),
    [
        ("mma_m16n8k16_f16", 1, 4, (40, 1)),  # begins at 8 bytes
        ("mma_m16n8k16_f16", 1, 0, (36, 1)),  # rows 72 bytes apart
        ("mma_m16n8k16_f16", 1, 0, (64, 2)),  # every other element
        ("mma_m16n8k32_s8", 2, 0, (48, 1)),  # bytes are not transposed
        ("mma_m16n8k16_f16", 0, 0, (8, 1)),  # sums of 32 bits, two of which are a lane's
    ],
)
def test_ldmatrix_is_not_for(name: str, operand: int, base: int, strides: tuple[int, int]) -> None:
    kind = kind_of(name, operand)
    extents = shape(kind.instruction, operand, {})
    assert matrix_load(rows_at(base, extents, strides, kind.element), kind) is None
