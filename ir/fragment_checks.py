"""What fragments of tensor cores ask of the arrays that they are loaded from and stored to.

Their rows lie at multiples of 16 bytes, and they begin at multiples of 32 (CUDA C++ Programming Guide,
"Warp matrix functions", load_matrix_sync). Where strides decide that, the entry point tests them for
loads, and the kernel for stores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd, lcm

from hbc.ir.build import and_, const_value, eq, mod
from hbc.ir.diag import error
from hbc.ir.kernel import Argument, Check, Kernel
from hbc.ir.layout import layout
from hbc.ir.linear import factors, linear
from hbc.ir.nodes import Allocate, Broadcast, Expr, If, Load, Stmt, Store, Var, const_index
from hbc.ir.types import TILES, Memory
from hbc.ir.walk import block, map_stmt, nodes

BEGIN, ROW = 32, 16
"""Bytes that the first element of a fragment, and each row, is aligned to."""


def fragment_checks(kernel: Kernel) -> Kernel:
    """The kernel with checks of the strides of its arguments. HbcError where a fragment begins at
    places that are never aligned, whatever the strides."""
    arguments = {a.name: a for a in kernel.arguments}
    needed: dict[str, int] = {}
    for buffer, index, at in _places(kernel):
        if (a := arguments.get(buffer)) is not None and isinstance(at, Load):
            for stride, divisor in _divisors(a, index, at).items():
                needed[stride] = lcm(needed.get(stride, 1), divisor)
    checks = [_check(arguments, stride, n) for stride, n in needed.items() if n > 1]
    return replace(kernel, checks=tuple(dict.fromkeys([*kernel.checks, *checks])))


def stores_anywhere(kernel: Kernel) -> Kernel:
    """The kernel where fragments are stored to an argument through memory if its strides want that.

    C[..] = tile   ->   if C_stride0 % 8 == 0 { C[..] = tile } else { copy[..] = tile; C[..] = copy[..] }
    """
    arguments = {a.name: a for a in kernel.arguments}
    tiles = {n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate) and n.memory in TILES}
    taken = {n.buffer for n in nodes(kernel.body) if isinstance(n, Allocate)}

    def stmt(s: Stmt) -> Stmt:
        s = map_stmt(s, lambda e: e, stmt)
        if not isinstance(s, Store) or s.buffer not in arguments or s.mask is not None:
            return s
        if not isinstance(s.value, Load) or s.value.buffer not in tiles:
            return s
        needed = _divisors(arguments[s.buffer], s.index, s)
        tests = [eq(mod(Var(stride), n), 0) for stride, n in needed.items() if n > 1]
        if not tests:
            return s
        name, count = f"{s.value.buffer}_copy", 0
        while name in taken:
            count += 1
            name = f"{s.value.buffer}_copy_{count}"
        taken.add(name)
        copy = Store(name, s.value.index, s.value)
        moved = replace(s, value=replace(s.value, buffer=name))
        lanes = const_index(s.value.type.lanes)
        through = Allocate(
            name, s.value.type.element, lanes, Memory.STACK, block(copy, moved),
            "a fragment on its way to rows that are not aligned",
        )  # fmt: skip
        return If(and_(*tests), s, through)

    return kernel.map_body(stmt)


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
