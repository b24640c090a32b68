"""Every described instruction of tensor cores is printed, run on the CPU and compared with its meaning.

How a GPU rounds within a product is not known, so floats are compared with an error bound; integers
exactly. nvcc compiles the same file where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary

from hbc.cli.instruction_set import instruction_set
from hbc.codegen.build.nvcc import build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.limits import able_archs, check_instructions, suited_archs
from hbc.codegen.cuda.source import CudaSource
from hbc.codegen.fragments.fragment_lanes import fragment_lanes
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.build import broadcast, ramp
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import (
    Allocate,
    Expr,
    For,
    Instruct,
    Load,
    LoopKind,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import block
from hbc.ir.meaning.contraction import shape
from hbc.ir.meaning.instruction_semantics import execute
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

KNOWN = {target: instruction_set().of_target(target) for target in ("wmma", "mma")}
ROW = 32
KINDS = sorted({(t, *(o.element.name for o in i.operands)) for t in KNOWN for i in KNOWN[t]})


def of_kind(kind: Sequence[str]) -> list[Instruction]:
    target, *types = kind
    return [i for i in KNOWN[target] if [o.element.name for o in i.operands] == types]


def array_name(i: Instruction, operand: str) -> str:
    return f"{operand}_{i.name}"


def all_of(n: int) -> Expr:
    return ramp(const_index(0), 1, n)


def executing(i: Instruction) -> Stmt:
    """One warp: fragments from the arrays, the instruction, and the accumulator to `d`."""
    tiles, shapes = {}, {}
    for n, o in enumerate(i.operands):
        tiles[o.name], shapes[o.name] = f"{o.name}_of_{i.name}", shape(i, n, {})
    accumulator = i.operands[i.accumulator]

    def rows(operand: str, of: str) -> Expr:
        count, row = shapes[of]
        stride = Var(f"{array_name(i, operand)}_stride0")
        return Ramp(all_of(row), broadcast(stride, row), count)

    steps: list[Stmt] = []
    loaded = []
    for o in i.operands:
        n = prod(shapes[o.name])
        source = Load(array_name(i, o.name), rows(o.name, o.name), o.element(n))
        steps.append(Store(tiles[o.name], all_of(n), source))
        loaded.append(Load(tiles[o.name], all_of(n), o.element(n)))
    n = prod(shapes[accumulator.name])
    t = accumulator.element(n)
    tile = tiles[accumulator.name]
    steps.append(Store(tile, all_of(n), Instruct(i.name, (), tuple(loaded), t)))
    steps.append(Store(array_name(i, "d"), rows("d", accumulator.name), Load(tile, all_of(n), t)))
    body = block(*steps)
    for o in i.operands:
        extent = const_index(prod(shapes[o.name]))
        body = Allocate(tiles[o.name], o.element, extent, i.place.memory, body)
    one = const_index(1)
    body = For("warp", const_index(0), one, LoopKind.THREAD, body)
    return For("block", const_index(0), one, LoopKind.BLOCK, body)


def source_of(instructions: Sequence[Instruction]) -> CudaSource:
    arguments = []
    for i in instructions:
        for n, o in enumerate(i.operands):
            extents = tuple(const_index(e) for e in shape(i, n, {}))
            arguments.append(Argument(array_name(i, o.name), o.element, extents, False))
        c = i.operands[i.accumulator]
        extents = tuple(const_index(e) for e in shape(i, i.accumulator, {}))
        arguments.append(Argument(array_name(i, "d"), c.element, extents, True))
    body = block(*(executing(i) for i in instructions))
    kernel = Kernel("each", (), tuple(arguments), (), (), body, tuple(instructions))
    return emit_cuda(fragment_lanes(kernel), TARGETS["cuda"])


def drawn(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> Array:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return random.standard_normal(shape).astype(dtype)


def aligned(array: Array) -> Array:
    """The array in rows at multiples of 32 bytes, which fragments ask for."""
    row = -(-array.shape[1] * array.itemsize // ROW) * ROW // array.itemsize
    wide = np.zeros((array.shape[0], row), array.dtype)
    wide[:, : array.shape[1]] = array
    return wide


@pytest.mark.parametrize("kind", KINDS, ids="_".join)
def test_does_what_is_described(kind: tuple[str, ...], tmp_path: Path) -> None:
    """On full-range integers and normal floats, with an accumulator that is not zero."""
    instructions = of_kind(kind)
    library = CudaLibrary(source_of(instructions), tmp_path)
    random = np.random.default_rng(7)
    operands = {
        (i.name, o.name): drawn(shape(i, n, {}), np.dtype(numpy_dtype(o.element)), random)
        for i in instructions
        for n, o in enumerate(i.operands)
    }
    results = []
    for i in instructions:
        c = operands[i.name, i.operands[i.accumulator].name]
        results.append(np.frombuffer(b"\xa5" * c.nbytes, c.dtype).reshape(c.shape).copy())
    wide = [aligned(array) for array in (*operands.values(), *results)]
    strides = [array.strides[0] // array.itemsize for array in wide]
    passed = [value for pair in zip(wide, strides, strict=True) for value in pair]
    assert library.call("_strided", *passed) == 0
    for i, padded in zip(instructions, wide[len(operands) :], strict=True):
        got = padded[:, : results[instructions.index(i)].shape[1]]
        of = {o.name: operands[i.name, o.name] for o in i.operands}
        right = execute(i, of)
        if right.dtype.kind in "iu":
            np.testing.assert_array_equal(got, right, err_msg=i.name)
        else:
            ulp = 2.0 ** (1 - i.operands[i.accumulator].element.precision)
            bound = 16 * ulp * 20  # sixteen terms of a few units each
            wide = got.astype(np.float64), right.astype(np.float64)
            np.testing.assert_allclose(*wide, rtol=0, atol=bound, err_msg=i.name)


@pytest.mark.parametrize("kind", KINDS, ids="_".join)
@pytest.mark.usefixtures("nvcc")
def test_nvcc_takes_it(kind: tuple[str, ...], tmp_path: Path) -> None:
    archs = able_archs(of_kind(kind), ("sm_80", "sm_90"))[:1]
    assert archs == ("sm_90" if "f8" in "".join(kind) else "sm_80",)
    used = build_cuda(source_of(of_kind(kind)), tmp_path / "each.cubin", "cubin", archs)
    assert len(used) >= len(of_kind(kind))  # one for each width of indices
    assert all(r.spills == 0 for r in used)


def test_older_architectures_are_refused() -> None:
    """f16 and bytes are known to sm_75, bf16 and `mma.sync` to sm_80, floats of 8 bits to sm_89."""
    by_name = {i.name: i for known in KNOWN.values() for i in known}
    check_instructions([by_name["wmma_16x16x16_f16_row_row"]], ("sm_75", "sm_90a"))
    for name in ("wmma_16x16x16_bf16_row_row", "wmma_16x16x8_tf32_row_row", "mma_m16n8k16_f16"):
        check_instructions([by_name[name]], ("sm_80", "sm_90"))
        with pytest.raises(HbcError, match=f"`{name}` needs sm_80, and sm_75 is older"):
            check_instructions([by_name[name]], ("sm_80", "sm_75"))
    check_instructions([by_name["mma_m16n8k32_e4m3"]], ("sm_89", "sm_90", "sm_100"))
    with pytest.raises(HbcError, match="`mma_m16n8k32_e4m3` needs sm_89, and sm_80 is older"):
        check_instructions([by_name["mma_m16n8k32_e4m3"]], ("sm_80", "sm_90"))


def test_an_architecture_of_its_own() -> None:
    """What only sm_90a has is made for it where sm_90 is asked for, and for no later one."""
    wgmma = instruction_set().of_target("wgmma")[:1]
    mma = KNOWN["mma"][:1]
    assert suited_archs(wgmma, ("sm_80", "sm_90", "sm_90a")) == ("sm_80", "sm_90a")
    assert able_archs(wgmma, ("sm_80", "sm_90", "sm_100")) == ("sm_90a",)
    assert suited_archs(mma, ("sm_80", "sm_90")) == able_archs(mma, ("sm_75", "sm_80", "sm_90"))
    check_instructions(wgmma, ("sm_90",))
    for arch, why in (("sm_80", "sm_80 is older"), ("sm_100", "sm_100 has no such")):
        with pytest.raises(HbcError, match=f"needs sm_90a, and {why}"):
            check_instructions(wgmma, (arch,))
