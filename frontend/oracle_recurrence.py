"""Scans that are linear recurrences, y[t] = g[t] + sum of a_k * y[t - k]: millions of steps at once.

Solved by blocks with the impulse response h. The bound follows h too: errors add as |h| * local
error, whereas a running bound would follow the recurrence of |a_k|, which explodes for stable
filters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbc.frontend.funcs import Func, Update
from hbc.frontend.oracle_float import LEAST, roundoff
from hbc.frontend.oracle_points import Points, grid, linear
from hbc.frontend.oracle_program import Program, reads
from hbc.frontend.oracle_value import Value, uncertainty
from hbc.ir.nodes import Access, Binary, Expr, Op, Unary, UnaryOp, Var
from hbc.ir.numpy_types import Array
from hbc.ir.types import F32
from hbc.ir.walk import free_variables

_BLOCK = 512
_DECAYED = 1e-9


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`terms` are (k, sign, a_k; None for 1), `rest` the summands of g with their signs; `rounds`
    operations are rounded in each step."""

    terms: tuple[tuple[int, int, Expr | None], ...]
    rest: tuple[tuple[int, Expr], ...]
    rounds: int


def recurrence(func: Func, update: Update, variable: str) -> Recurrence | None:
    """The update as a linear recurrence along `variable`, or None."""
    if func.element != F32 or update.op is not None or Var(variable) not in update.indices:
        return None
    found = _split(func, update, variable, update.value, 1)
    if found is None or not found.terms:
        return None
    coefficients = [a for _, _, a in found.terms if a is not None]
    moving = {variable, *func.variables, *(r.name for r in update.reduce)}
    if any(free_variables(a) & moving or reads(a, func.name) for a in coefficients):
        return None
    return found


def _split(func: Func, update: Update, variable: str, e: Expr, sign: int) -> Recurrence | None:
    if not reads(e, func.name):
        return Recurrence((), ((sign, e),), 0)
    match e:
        case Access():
            lag = _lag(update, variable, e)
            return None if lag is None else Recurrence(((lag, sign, None),), (), 0)
        case Unary(op=UnaryOp.NEG, a=a):
            return _split(func, update, variable, a, -sign)
        case Binary(op=Op.ADD | Op.SUB as op, a=a, b=b):
            one = _split(func, update, variable, a, sign)
            two = _split(func, update, variable, b, sign if op is Op.ADD else -sign)
            if one is None or two is None:
                return None
            rounds = one.rounds + two.rounds + 1
            return Recurrence(one.terms + two.terms, one.rest + two.rest, rounds)
        case Binary(op=Op.MUL, a=a, b=Access() as own) | Binary(op=Op.MUL, a=Access() as own, b=a):
            lag = _lag(update, variable, own) if own.name == func.name else None
            return None if lag is None else Recurrence(((lag, sign, a),), (), 1)
        case _:
            return None


def _lag(update: Update, variable: str, e: Access) -> int | None:
    """k, when the access is the stored place k >= 1 steps earlier."""
    lag = 0
    for stored, read in zip(update.indices, e.indices, strict=True):
        if stored == Var(variable):
            form = linear(read)
            if form is None or form.terms != ((variable, 1),):
                return None
            lag = -form.constant
        elif stored != read or variable in free_variables(stored):
            return None
    return lag if lag >= 1 else None


def active_range(
    program: Program, condition: Expr | None, variable: str, span: tuple[int, int]
) -> tuple[int, int] | None:
    """The part of the range of `variable` where the condition holds, when it mentions nothing else
    and that part is the end of the range; otherwise None."""
    if condition is None:
        return span
    if free_variables(condition) - program.sizes.keys() - {variable}:
        return None
    v = program.meaning(condition)(grid({variable: span}, program.sizes))
    holds = np.broadcast_to(v.x, (span[1],))
    skipped = int(span[1] - np.count_nonzero(holds))
    return (span[0] + skipped, span[1] - skipped) if holds[skipped:].all() and v.e is None else None


def impulse_response(coefficients: Array) -> Array | None:
    """h[0] = 1, h[1], ... for a_1, a_2, ...; None when it does not die out within a block."""
    h = np.zeros(_BLOCK + len(coefficients))
    h[len(coefficients)] = 1.0
    back = coefficients[::-1]
    for t in range(len(coefficients) + 1, len(h)):
        h[t] = back @ h[t - len(coefficients) : t]
    h = h[len(coefficients) :]
    tail = np.abs(h[-2 * len(coefficients) - 32 :]).max()
    return h if np.isfinite(h).all() and tail <= _DECAYED * np.abs(h).max() else None


def solve(
    program: Program, found: Recurrence, points: Points, before: Value, order: int
) -> Value | None:
    """y over points whose last axis is t. `before` has the `order` values that precede, oldest
    first, along its last axis. None when the recurrence does not die out or is not finite."""
    a, ea = _coefficients(program, found, order)
    h = impulse_response(a)
    if h is None:
        return None
    shape = points.shape
    g, size, e = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for sign, rest in found.rest:
        v = program.meaning(rest)(points)
        g += sign * v.x
        size += np.abs(v.x)
        e += uncertainty(v, F32)
    start = np.asarray(np.broadcast_to(before.x, (*shape[:-1], order)), np.float64)
    if not (np.isfinite(g).all() and np.isfinite(e).all() and np.isfinite(start).all()):
        return None
    flat = (-1, shape[-1])
    g, size, e, start = (
        g.reshape(flat),
        size.reshape(flat),
        e.reshape(flat),
        start.reshape(-1, order),
    )
    y = _values(g, start, a, h)
    whole = np.concatenate([start, y], axis=1)
    e0 = np.zeros_like(whole)
    if before.e is not None:
        e0[:, :order] = before.e.reshape(-1, order)
    steps = y.shape[1]
    rounds = len(found.rest) + found.rounds
    for k in range(1, order + 1):
        past = slice(order - k, order - k + steps)
        size += abs(a[k - 1]) * np.abs(whole[:, past])
        e += abs(a[k - 1]) * e0[:, past] + ea[k - 1] * np.abs(whole[:, past])
    local = e + (rounds * roundoff(F32) * 1.01) * size + rounds * LEAST[F32]
    bound = _convolved(local, np.abs(h)) * 1.01
    return Value(y.reshape(shape), bound.reshape(shape))


def _coefficients(program: Program, found: Recurrence, order: int) -> tuple[Array, Array]:
    a, e = np.zeros(order), np.zeros(order)
    for lag, sign, factor in found.terms:
        v = (
            Value(np.ones(()))
            if factor is None
            else program.meaning(factor)(Points(0, {}, program.sizes))
        )
        a[lag - 1] += sign * float(v.x)
        e[lag - 1] += float(uncertainty(v, F32))
    return a, e


def _values(g: Array, start: Array, a: Array, h: Array) -> Array:
    """The recurrence of each row: blocks by a Toeplitz matrix, then what each hands to the next."""
    order, steps = len(a), g.shape[1]
    count = -(-steps // _BLOCK)
    blocks = np.zeros((len(g), count * _BLOCK))
    blocks[:, :steps] = g
    blocks = blocks.reshape(len(g), count, _BLOCK) @ _lower(h).T
    carry = _carry(a)
    state = start
    for n in range(count):
        blocks[:, n] += state @ carry
        state = np.concatenate([state, blocks[:, n]], axis=1)[:, -order:]
    return np.ascontiguousarray(blocks.reshape(len(g), -1)[:, :steps])


def _carry(a: Array) -> Array:
    """Row i: what a block gives when only the i-th value before it (oldest first) is 1."""
    order = len(a)
    y = np.zeros((order, order + _BLOCK))
    y[:, :order] = np.eye(order)
    for t in range(order, order + _BLOCK):
        y[:, t] = y[:, t - order : t] @ a[::-1]
    return y[:, order:]


def _lower(h: Array) -> Array:
    """L[i, j] = h[i - j] for j <= i, else 0."""
    padded = np.concatenate([np.zeros(_BLOCK - 1), h[:_BLOCK]])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _BLOCK)
    return np.ascontiguousarray(windows[:, ::-1])


def _convolved(x: Array, h: Array) -> Array:
    """Each row convolved with h, by blocks: this block and the one before it."""
    steps = x.shape[1]
    count = -(-steps // _BLOCK)
    padded = np.zeros((len(x), (count + 1) * _BLOCK))
    padded[:, _BLOCK : _BLOCK + steps] = x
    blocks = padded.reshape(len(x), count + 1, _BLOCK)
    out = blocks[:, 1:] @ _lower(h).T + blocks[:, :-1] @ _before(h).T
    return np.ascontiguousarray(out.reshape(len(x), -1)[:, :steps])


def _before(h: Array) -> Array:
    """U[i, j] = h[BLOCK + i - j], what the block before gives; 0 beyond the response's end."""
    padded = np.concatenate([h[:_BLOCK], np.zeros(_BLOCK)])
    i, j = np.indices((_BLOCK, _BLOCK))
    return np.asarray(padded[_BLOCK + i - j])
