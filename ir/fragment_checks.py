"""What fragments of tensor cores ask of the arrays that they are loaded from and stored to.

Their rows lie at multiples of 16 bytes, and they begin at multiples of 32 (CUDA C++ Programming Guide,
"Warp matrix functions", load_matrix_sync). Where strides decide that, the entry point tests them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd, lcm

from hbc.ir.build import const_value, eq, mod
from hbc.ir.diag import error
from hbc.ir.kernel import Argument, Check, Kernel
from hbc.ir.layout import layout
from hbc.ir.linear import factors, linear
from hbc.ir.nodes import Allocate, Broadcast, Expr, Load, Store, Var
from hbc.ir.types import Memory
from hbc.ir.walk import nodes

BEGIN, ROW = 32, 16
"""Bytes that the first element of a fragment, and each row, is aligned to."""


def fragment_checks(kernel: Kernel) -> Kernel:
    """The kernel with checks of the strides of its arguments. HbcError where a fragment begins at
    places that are never aligned, whatever the strides."""
    arguments = {a.name: a for a in kernel.arguments}
    needed: dict[str, int] = {}
    for buffer, index, at in _places(kernel):
        if (a := arguments.get(buffer)) is not None:
            for stride, divisor in _divisors(a, index, at).items():
                needed[stride] = lcm(needed.get(stride, 1), divisor)
    checks = [_check(arguments, stride, n) for stride, n in needed.items() if n > 1]
    return replace(kernel, checks=tuple(dict.fromkeys([*kernel.checks, *checks])))


def _places(kernel: Kernel) -> Iterator[tuple[str, Expr, Load | Store]]:
    """Where fragments are loaded from and stored to."""
    own = {
        n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate) and n.memory is Memory.WMMA
    }
    for n in nodes(kernel.body):
        if not isinstance(n, Store):
            continue
        value = n.value.value if isinstance(n.value, Broadcast) else n.value  # one row for all
        if n.buffer in own and isinstance(value, Load) and value.buffer not in own:
            yield value.buffer, value.index, value
        elif n.buffer not in own and isinstance(n.value, Load) and n.value.buffer in own:
            yield n.buffer, n.index, n


def _divisors(a: Argument, index: Expr, at: Load | Store) -> dict[str, int]:
    """What must divide each stride of the array."""
    found = layout(index)
    if found is None:
        return {}
    size = a.element.bytes
    names = {a.stride_name(d) for d in range(len(a.extents) - 1)}
    needed: dict[str, int] = {}
    for e, least in (
        (found.base, BEGIN // size),
        *((s, ROW // size) for s in _row_strides(found.dims)),
    ):
        form = linear(e)
        rest = [(None, form.constant), *form.terms]
        for atom, coefficient in rest:
            short = least // gcd(least, coefficient)
            if short == 1:
                continue
            by = (
                [v.name for v in factors(atom) if isinstance(v, Var) and v.name in names]
                if atom
                else []
            )
            if not by:
                raise error(
                    f"a fragment of `{a.name}` does not begin at a multiple of {BEGIN} bytes", at.span,
                    f"split by multiples of {BEGIN // size}, or stage it in shared memory:"
                    f" `{a.name}.in(...).store_in(shared)`",
                )  # fmt: skip
            needed[by[0]] = lcm(needed.get(by[0], 1), short)
    return needed


def _row_strides(dims: tuple[tuple[int, Expr], ...]) -> list[Expr]:
    return [stride for _, stride in dims if const_value(stride) != 1]


def _check(arguments: dict[str, Argument], stride: str, n: int) -> Check:
    name, _, dim = stride.rpartition("_stride")
    element = arguments[name].element
    return Check(
        eq(mod(Var(stride), n), 0),
        f"stride {dim} of `{name}` must be a multiple of {n}: fragments of {element} are moved in"
        f" rows of {ROW} bytes",
    )
