"""Solves linear recurrences by blocks, millions of steps at once, with a bound that follows h.

Errors add up as |h| * local error, h the impulse response. A running bound would follow the
recurrence of the |a_k| instead, which explodes for stable filters.
"""

from __future__ import annotations

import numpy as np

from hbc.frontend.oracle.floats import LARGEST, LEAST, roundoff
from hbc.frontend.oracle.points import Points
from hbc.frontend.oracle.program import Program
from hbc.frontend.oracle.recurrence import Recurrence, Summand
from hbc.frontend.oracle.value import Value, uncertainty
from hbc.ir.lang.types import F32
from hbc.ir.meaning.numpy_types import Array

_BLOCK = 512
_SECOND_ORDER = 1.01
"""Covers products of roundings and the oracle's own f64 arithmetic."""


def solve(program: Program, recurrence: Recurrence, points: Points, before: Value) -> Value | None:
    """y over points whose last axis is t. `before` has the values of the `order` steps before, the
    oldest first, along its last axis. None when something is not finite, or may overflow f32."""
    shape, order = points.shape, recurrence.order
    g, size, e = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    signed, magnitude, spread = np.zeros(order), np.zeros(order), np.zeros(order)
    for s in recurrence.summands:
        factor = _factor(program, s)
        if s.rest is None:
            signed[s.lag - 1] += s.sign * float(factor.x)
            magnitude[s.lag - 1] += abs(float(factor.x))
            spread[s.lag - 1] += float(uncertainty(factor, F32))
            continue
        v = program.meaning(s.rest)(points)
        ev = uncertainty(v, F32)
        g += s.sign * factor.x * v.x
        size += np.abs(factor.x * v.x)
        e += np.abs(factor.x) * ev + uncertainty(factor, F32) * (np.abs(v.x) + ev)
    flat = (-1, shape[-1])
    start = np.ascontiguousarray(before.x).reshape(-1, order)
    y = _values(g.reshape(flat), start, signed)
    known = np.concatenate([start, y], axis=1)
    off = np.zeros_like(known)
    if before.e is not None:
        off[:, :order] = before.e.reshape(-1, order)
    size, e = size.reshape(flat), e.reshape(flat)
    for k in range(1, order + 1):
        past = slice(order - k, order - k + shape[-1])
        size += magnitude[k - 1] * np.abs(known[:, past])
        e += magnitude[k - 1] * off[:, past] + spread[k - 1] * np.abs(known[:, past])
    local = e + recurrence.rounds * (roundoff(F32) * size + LEAST[F32])
    bound = _convolved(local, np.abs(_impulse_response(signed, shape[-1]))) * _SECOND_ORDER
    if not (np.maximum(size, np.abs(y)) + bound <= LARGEST[F32]).all():
        return None
    return Value(y.reshape(shape), bound.reshape(shape))


def _factor(program: Program, s: Summand) -> Value:
    x, e = np.ones(()), np.zeros(())
    for one in s.factors:
        v = program.meaning(one)(Points(0, {}, program.sizes))
        ev = uncertainty(v, F32)
        x, e = x * v.x, np.abs(x) * ev + e * (np.abs(v.x) + ev)
    return Value(x, e)


def _impulse_response(a: Array, steps: int) -> Array:
    """h[0] = 1, h[1], ... of the recurrence with a_1, a_2, ..."""
    impulse = np.zeros((1, steps))
    impulse[0, 0] = 1.0
    return np.asarray(_values(impulse, np.zeros((1, len(a))), a)[0])


def _values(g: Array, start: Array, a: Array) -> Array:
    """The recurrence of each row: blocks by a Toeplitz matrix, then what each hands to the next."""
    order, steps = len(a), g.shape[1]
    h = np.zeros(order + _BLOCK)
    h[order] = 1.0
    for t in range(order + 1, order + _BLOCK):
        h[t] = h[t - order : t] @ a[::-1]
    blocks = _blocks(g, 0) @ _lower(h[order:]).T
    carry = _carry(a)
    state = start
    for n in range(blocks.shape[1]):
        blocks[:, n] += state @ carry
        state = np.concatenate([state, blocks[:, n]], axis=1)[:, -order:]
    return np.ascontiguousarray(blocks.reshape(len(g), -1)[:, :steps])


def _blocks(x: Array, before: int) -> Array:
    """Rows cut into blocks, the last filled up with zeros, after `before` blocks of zeros."""
    count = -(-x.shape[1] // _BLOCK) + before
    padded = np.zeros((len(x), count * _BLOCK))
    padded[:, before * _BLOCK : before * _BLOCK + x.shape[1]] = x
    return padded.reshape(len(x), count, _BLOCK)


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
    """At least the convolution of each row with h >= 0: exact for this block and what h's first
    block reaches of the one before, then by the greatest values of blocks."""
    steps, count = x.shape[1], -(-x.shape[1] // _BLOCK)
    head = np.zeros(_BLOCK)
    head[: min(_BLOCK, steps)] = h[:_BLOCK]
    blocks = _blocks(x, 1)
    out = blocks[:, 1:] @ _lower(head).T + blocks[:, :-1] @ _reached(head).T
    sums = _blocks(h[None], 0)[0].sum(axis=1)[1:]
    most = blocks.max(axis=2)
    either = np.maximum(most[:, 1:], most[:, :-1])
    for row in range(len(x)) if len(sums) else ():
        out[row, 1:] += np.convolve(either[row], sums)[: count - 1, None]
    return np.ascontiguousarray(out.reshape(len(x), -1)[:, :steps])


def _reached(h: Array) -> Array:
    """U[i, j] = h[BLOCK + i - j], what the block before gives; 0 beyond the first block of h."""
    padded = np.concatenate([h, np.zeros(_BLOCK)])
    i, j = np.indices((_BLOCK, _BLOCK))
    return np.asarray(padded[_BLOCK + i - j])
