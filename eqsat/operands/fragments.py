"""Where fragments of a GPU's tensor cores may lie: what is elsewhere is packed.

They begin at multiples of 32 bytes and their rows are multiples of 16 apart (see `fragment_checks`). Of
strides of arguments that is asked at the entry point; all else must be so by its numbers.
"""

from __future__ import annotations

from math import gcd

from hbc.eqsat.operands.fragment_checks import BEGIN, ROW
from hbc.ir.algebra.layout import Layout, normal
from hbc.ir.algebra.linear import factors, linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import DType, Memory

MULTIPLE = "%"
"""In the name of a place, before a number of which it is a multiple."""


def may_be_fragment(buffer: str, raw: Layout, columns: int, size: int, memory: Memory) -> bool:
    """Whether lanes that lie in rows of so many elements of `size` bytes in a buffer can be moved as a
    fragment, if they are to be one."""
    if memory is not Memory.WMMA:
        return True
    flat = normal(raw)
    adjacent = any(n > columns and const_value(s) == 1 for n, s in flat.dims)
    if adjacent and not may_be_packed(columns, size, memory):
        return False
    rows = (s for _, s in flat.dims if const_value(s) != 1)
    return _is_multiple(flat.base, BEGIN // size, buffer) and all(
        _is_multiple(s, ROW // size, buffer) for s in rows
    )


def may_be_packed(columns: int, size: int, memory: Memory) -> bool:
    """Whether rows of so many elements of `size` bytes may follow each other where a fragment is loaded
    from."""
    return memory is not Memory.WMMA or columns * size % ROW == 0


def _is_multiple(e: ir.Expr, n: int, buffer: str) -> bool:
    form = linear(e)
    if form.constant % n:
        return False
    return all((c * _multiple(atom)) % n == 0 or _by_stride(atom, buffer) for atom, c in form.terms)


def _by_stride(atom: ir.Expr, buffer: str) -> bool:
    """Whether a stride of the buffer, an argument, is a factor."""
    return any(
        isinstance(v, ir.Var) and v.name.startswith(f"{buffer}_stride") for v in factors(atom)
    )


def _multiple(atom: ir.Expr) -> int:
    divisor = 1
    for v in factors(atom):
        if isinstance(v, ir.Var) and MULTIPLE in v.name:
            divisor *= int(v.name.partition(MULTIPLE)[2].rstrip("~"))
    return divisor


def multiple(e: ir.Expr, element: DType) -> str:
    """The mark that says of what an index is a multiple, as far as fragments of such elements want to
    know, whatever the strides."""
    form = linear(e)
    divisor = gcd(BEGIN // element.bytes, form.constant)
    for atom, c in form.terms:
        strided = any(isinstance(v, ir.Var) and "_stride" in v.name for v in factors(atom))
        divisor = divisor if strided else gcd(divisor, c)
    return f"{MULTIPLE}{divisor}"
