"""Shared memory: how often an access of a warp goes through, exactly, for its addresses.

Shared memory has 32 banks of 4-byte words; a bank gives one word at a time, to as many lanes as want it
(CUDA C++ Programming Guide, "Shared Memory" of compute capability 5.x and later). Accesses of 8 and 16
bytes go through by halves and quarters of a warp, and so do the four times eight rows of `ldmatrix`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from hbc.codegen.fragments.fragment_kinds import fragment_kinds
from hbc.codegen.fragments.matrix_loads import MatrixLoad, matrix_load
from hbc.codegen.gpu.swizzle import MATRIX_ROW, swizzle_bits
from hbc.codegen.threads.access import ThreadAccess, nest_accesses
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.launches import THREADS, WARP, tiles_in
from hbc.ir.lang.types import INDEX, Memory
from hbc.ir.lang.walk import contains, free_variables, inner_statements, statements, substitute
from hbc.ir.moves.bank_conflicts import Words, wavefronts

WORD = 4  # bytes
MOST_WARPS = 8  # that are looked at
_MOST_TURNS = 64  # of the loops that a thread runs


@record
class BankUse:
    """What the loads of an array, or the stores to it, of `bytes` by each lane, cost a warp at most: how
    often one goes through, and how often it would without conflicts."""

    buffer: str
    stores: bool
    bytes: int
    wavefronts: int
    least: int


def bank_uses(kernel: Kernel) -> list[BankUse]:
    """Of all accesses of shared memory whose addresses are known; the worst of each array, direction and
    width."""
    shared = {
        n.buffer: n
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory is Memory.SHARED
    }
    tiles = tiles_in(kernel.body)
    loads = _matrix_loads(kernel) if shared and tiles else {}
    worst: dict[tuple[str, bool, int], BankUse] = {}
    for nest, names in _nests(kernel.body, {}) if shared else ():
        accesses = dict.fromkeys(nest_accesses(nest, shared, tiles=tiles, outside=names))
        for a in accesses:
            use = _use(a, shared[a.buffer], loads)
            if use is not None:
                key = (use.buffer, use.stores, use.bytes)
                if key not in worst or worst[key].wavefronts < use.wavefronts:
                    worst[key] = use
    return list(worst.values())


def _nests(
    s: ir.Stmt, names: Mapping[str, ir.Expr]
) -> Iterator[tuple[ir.For, Mapping[str, ir.Expr]]]:
    """The loops over threads, with the names of indices around them."""
    while isinstance(s, ir.LetStmt):
        if s.value.type == INDEX:
            names = {**names, s.name: substitute(s.value, names)}
        s = s.body
    if isinstance(s, ir.For) and s.kind in THREADS:
        yield s, names
        return
    for c in inner_statements(s):
        yield from _nests(c, names)


def _matrix_loads(kernel: Kernel) -> dict[int, MatrixLoad]:
    """How `ldmatrix` does loads of whole fragments, by the id of the load."""
    kinds = fragment_kinds(kernel.body, {i.name: i for i in kernel.instructions})
    fills = (s for s in statements(kernel.body) if isinstance(s, ir.Store) and s.buffer in kinds)
    whole = (s for s in fills if s.value.type.lanes == kinds[s.buffer].elements.size)
    found = ((id(s.value), matrix_load(s.value, kinds[s.buffer])) for s in whole)
    return {number: load for number, load in found if load is not None}


def _use(a: ThreadAccess, array: ir.Allocate, loads: Mapping[int, MatrixLoad]) -> BankUse | None:
    if a.index is None or any(d.extent is None for d in a.digits):
        return None
    if contains(a.index, ir.Load):
        return None
    if a.together > 1:
        load = loads.get(id(a.node))
        return _matrix_rows(a, array) if load is None else _loaded_rows(a, array, load)
    size = array.element.bytes
    width = len(a.offsets) * size
    if a.offsets != tuple(range(a.offsets[0], a.offsets[0] + len(a.offsets))) or width > 16:
        return None
    group = WARP * WORD // max(width, WORD)
    most, least = 0, WARP // group
    for index in _indices(a):
        for start in range(0, index.shape[-1], WARP):
            warp = index[..., start : start + WARP]
            parts = [warp[n : n + group] for n in range(0, len(warp), group)]
            most = max(most, sum(_times(p + a.offsets[0], width, array) for p in parts))
    return BankUse(a.buffer, a.stores, width, most, least) if most else None


def _times(elements: Words, width: int, array: ir.Allocate) -> int:
    """For the elements at which some lanes begin to access so many bytes each."""
    first = _places(elements, array) * array.element.bytes // WORD
    return wavefronts((first[:, None] + np.arange(max(1, width // WORD))).ravel())


def _places(elements: Words, array: ir.Allocate) -> Words:
    if array.swizzle is None:
        return elements
    bits = swizzle_bits(array.swizzle, array.element)
    return elements ^ (elements >> bits.shift & bits.mask)


def _indices(a: ThreadAccess) -> Iterator[Words]:
    """The index of every thread of a few warps, for a few turns of the loops that a thread runs. Names that
    mean nothing here are 0."""
    assert a.index is not None
    extents = [d.extent or 1 for d in a.digits]
    count = max((e - 1) * w for e, w in zip(extents, a.weights, strict=True)) if extents else 0
    count = min(max(count + 1, prod(extents)), MOST_WARPS * WARP)
    number = np.arange(count)
    values: dict[str, Words] = {n: np.zeros(1, np.int64) for n in free_variables(a.index)}
    for d, extent, weight in zip(a.digits, extents, a.weights, strict=True):
        values[d.name] = number // weight % extent
    turns = [np.zeros(1, np.int64) if x.extent is None else np.arange(x.extent) for x in a.loops]
    turns = [t if x.name in free_variables(a.index) else t[:1]
             for t, x in zip(turns, a.loops, strict=True)]  # fmt: skip
    for n, turn in enumerate(np.ndindex(*(len(t) for t in turns))):
        if n == _MOST_TURNS:
            return
        own = {x.name: t[at : at + 1] for x, t, at in zip(a.loops, turns, turn, strict=True)}
        index = evaluated(a.index, {**values, **own})
        if index is None:
            return
        yield np.broadcast_to(index, (count,))


def _loaded_rows(a: ThreadAccess, array: ir.Allocate, load: MatrixLoad) -> BankUse | None:
    """A fragment by `ldmatrix`, the rows of whose matrices are known."""
    at = np.array(load.at)
    at += min(a.offsets) - at.min()
    starts = (start for index in _indices(a) for start in np.unique(index))
    times = (sum(_times(rows + start, MATRIX_ROW, array) for rows in at) for start in starts)
    most = max(times, default=0)
    return BankUse(a.buffer, False, MATRIX_ROW, most, len(at)) if most else None


def _matrix_rows(a: ThreadAccess, array: ir.Allocate) -> BankUse | None:
    """A fragment that a warp loads by rows of 16 bytes, eight at a time."""
    run, inner = MATRIX_ROW // array.element.bytes, a.node.index
    while isinstance(inner, ir.Ramp) and inner.base.type.lanes > 1:
        inner = inner.base
    if a.stores or array.element.bytes > 2 or not isinstance(inner, ir.Ramp):
        return None
    at = np.sort(np.array(a.offsets))
    gaps = np.flatnonzero(np.diff(at) != 1)
    # Of a factor that lies turned, the innermost lanes are no row.
    row = int(gaps[0]) + 1 if len(gaps) else inner.lanes
    rows = at.reshape(-1, row) if len(at) % row == 0 else at.reshape(1, -1)
    if row % run or len(rows) % 8 or (np.diff(rows, axis=1) != 1).any():
        return None
    most, least = 0, len(at) // (8 * run)
    for index in _indices(a):
        for start in np.unique(index):
            groups = [
                rows[r : r + 8, c] + start
                for r in range(0, len(rows), 8)
                for c in range(0, row, run)
            ]
            most = max(most, sum(_times(g, MATRIX_ROW, array) for g in groups))
    return BankUse(a.buffer, False, MATRIX_ROW, most, least)
