"""Asynchronous products in the interpreter: nobody reads a sum before it lands, nor changes a factor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hbc.cli.instruction_set import instruction_set
from hbc.ir.lang.build import ramp
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import (
    Allocate,
    Block,
    CopyCommit,
    CopyWait,
    Expr,
    Fence,
    FenceKind,
    Instruct,
    Load,
    Stmt,
    Store,
    const_index,
)
from hbc.ir.lang.types import BF16, F32, Memory
from hbc.ir.lang.walk import block
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.interp_buffers import InterpError
from hbc.ir.meaning.numpy_types import numpy_dtype

(DOT,) = (i for i in instruction_set().instructions if i.name == "vdpbf16ps_zmm")
LANES, FENCE = 16, Fence(FenceKind.REGISTERS, ("acc",))


def all_of(n: int) -> Expr:
    return ramp(const_index(0), 1, n)


def product() -> Store:
    """acc += a . b, asynchronously."""
    acc = Load("acc", all_of(LANES), F32(LANES))
    factors = (Load(name, all_of(2 * LANES), BF16(2 * LANES)) for name in ("a", "b"))
    made = Instruct(DOT.name, (), (acc, *factors), F32(LANES))
    return Store("acc", all_of(LANES), made, asynchronous=True)


def kernel(*steps: Stmt) -> Kernel:
    """acc = 0; the steps; c = acc, with the first factor in memory of its own."""
    zero = Store("acc", all_of(LANES), Load("z", all_of(LANES), F32(LANES)))
    fill = Store("a", all_of(2 * LANES), Load("x", all_of(2 * LANES), BF16(2 * LANES)))
    end = Store("c", all_of(LANES), Load("acc", all_of(LANES), F32(LANES)))
    body: Stmt = block(zero, fill, *steps, end)
    body = Allocate("a", BF16, const_index(2 * LANES), Memory.STACK, body)
    body = Allocate("acc", F32, const_index(LANES), Memory.STACK, body)
    arguments = (
        Argument("x", BF16, (const_index(2 * LANES),), False),
        Argument("b", BF16, (const_index(2 * LANES),), False),
        Argument("z", F32, (const_index(LANES),), False),
        Argument("c", F32, (const_index(LANES),), True),
    )
    return Kernel("k", (), arguments, (), (), body, (DOT,))


COMMIT, WAIT = CopyCommit(products=True), CopyWait(0, products=True, sums=("acc",))
AGAIN = Store("a", all_of(2 * LANES), Load("b", all_of(2 * LANES), BF16(2 * LANES)))


def result(*steps: Stmt) -> np.ndarray:
    arrays = {"x": np.ones(2 * LANES, np.float32), "b": np.full(2 * LANES, 2, np.float32)}
    arrays = {name: x.astype(numpy_dtype(BF16)) for name, x in arrays.items()}
    arrays |= {"z": np.zeros(LANES, np.float32), "c": np.zeros(LANES, np.float32)}
    run(kernel(*steps), {}, arrays, strict=True)
    return arrays["c"]


def test_one_adds_to_another_that_is_under_way() -> None:
    assert (result(FENCE, product(), product(), COMMIT, WAIT) == 8).all()
    first = CopyWait(1, products=True, sums=("acc",))
    steps = (FENCE, product(), COMMIT, FENCE, product(), COMMIT, first, AGAIN)
    with pytest.raises(InterpError, match="`a` has changed while a product reads it"):
        result(*steps, WAIT)
    assert (result(*steps[:-1], WAIT, AGAIN) == 8).all()


@pytest.mark.parametrize(
    "steps",
    [
        (FENCE, product(), COMMIT),
        (FENCE, product(), WAIT),
        (FENCE, product(), COMMIT, CopyWait(1, products=True)),
        (FENCE, product(), COMMIT, FENCE, product(), COMMIT, CopyWait(1, products=True)),
    ],
    ids=["no wait", "no commit", "one too many", "the second"],
)
def test_sums_are_not_there_before(steps: tuple[Stmt, ...]) -> None:
    with pytest.raises(InterpError, match="load of `acc` at offset 0, which was never stored"):
        result(*steps)


def test_begins_behind_a_fence() -> None:
    for steps in ((product(),), (FENCE, product(), COMMIT, product())):
        with pytest.raises(InterpError, match="begins without a fence"):
            result(*steps, COMMIT, WAIT)
    assert replace(product(), asynchronous=False) != product()
    assert (result(Block((replace(product(), asynchronous=False),))) == 4).all()
