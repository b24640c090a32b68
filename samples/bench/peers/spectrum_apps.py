"""Fourier transforms in Halide, peers of apps.py: those of its apps/fft (Stockham's, of radix 8 and 4,
columns in lanes), along rows, a vector of which is transposed before and after."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, prod, sin
from typing import Any

import halide as hl
from peers.image_apps import LANES, Built

m, s, n, k, q, r_, mo, mi, ko, ki = (
    hl.Var(v) for v in ("m", "s", "n", "k", "q", "r", "mo", "mi", "ko", "ki")
)
Complex = tuple[Any, Any]


def turned(v: Complex, angle: float) -> Complex:
    """v times exp(i angle)."""
    c, d = round(cos(angle), 12), round(sin(angle), 12)
    if c == 0:
        return (v[1], -v[0]) if d < 0 else (-v[1], v[0])
    return hl.f32(c) * v[0] - hl.f32(d) * v[1], hl.f32(c) * v[1] + hl.f32(d) * v[0]


def small(x: list[Complex]) -> list[Complex]:
    """The transform of a power of two of values, by halves."""
    if len(x) == 1:
        return x
    half = len(x) // 2
    even, odd = small(x[::2]), small(x[1::2])
    odd = [v if j == 0 else turned(v, -pi * j / half) for j, v in enumerate(odd)]
    sums = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(even, odd, strict=True)]
    return sums + [(a[0] - b[0], a[1] - b[1]) for a, b in zip(even, odd, strict=True)]


def transformed(x: Callable[[Any], Complex], radices: tuple[int, ...]) -> tuple[Any, list[Any]]:
    """The last exchange, [row, frequency], and all of them; x: a sample of row m."""
    size, done, stages = prod(radices), 1, []
    for radix in radices:
        r = hl.RDom([(0, radix), (0, size // radix)])
        found, exchange, w = hl.Func(), hl.Func(), hl.Func()
        samples = [x(s + j * (size // radix)) for j in range(radix)]
        if done > 1:
            angle = hl.f32(-2 * pi / (radix * done)) * n
            w[n] = hl.Tuple((hl.cos(angle), hl.sin(angle)))
            w.compute_root().vectorize(n, 8)
            by = [w[j * (s % done)] for j in range(radix)]
            samples[1:] = [
                (v[0] * t[0] - v[1] * t[1], v[0] * t[1] + v[1] * t[0])
                for v, t in zip(samples[1:], by[1:], strict=True)
            ]
        found[m, s] = hl.Tuple([part for v in small(samples) for part in v])
        exchange[m, n] = hl.Tuple((hl.undef(hl.Float(32)), hl.undef(hl.Float(32))))
        values = found[m, r.y]
        place = (r.y // done) * (radix * done) + r.y % done + r.x * done
        parts = [hl.mux(r.x, [values[2 * j + i] for j in range(radix)]) for i in (0, 1)]
        exchange[m, place] = hl.Tuple(parts)
        exchange.bound(n, 0, size)
        found.compute_at(exchange, r.y).vectorize(m)
        exchange.update().reorder(m, r.x, r.y).vectorize(m).unroll(r.x)
        stages.append(exchange)
        x, done = (lambda at, f=exchange: tuple(f[m, at][i] for i in (0, 1))), done * radix
    return stages[-1], stages


def fft(radices: tuple[int, ...] = (8, 8, 4)) -> Built:
    """apps/fft's radices, 8 and 8 and 4: a row in each lane"""
    a, out, turn = hl.ImageParam(hl.Float(32), 3), hl.Func("out"), hl.Func("turn")
    turn[m, q] = hl.Tuple((a[q, m, 0], a[q, m, 1]))
    last, stages = transformed(lambda at: tuple(turn[m, at][i] for i in (0, 1)), radices)
    out[k, m, r_] = hl.mux(r_, [last[m, k][0], last[m, k][1]])
    out.bound(r_, 0, 2).bound(k, 0, prod(radices))
    out.split(m, mo, mi, LANES).split(k, ko, ki, LANES)
    out.reorder(ki, mi, r_, ko, mo).unroll(r_).vectorize(ki).unroll(mi).parallel(mo)
    turn.compute_at(out, mo).split(q, ko, ki, LANES).reorder(m, ki, ko).vectorize(m).unroll(ki)
    for f in stages:
        f.compute_at(out, mo)
    return out, [a]


def windowed(a: Any, size: int, hop: int, scheduled: list[Any]) -> Callable[[Any], Complex]:
    """Samples of row m: its window of a sound, and nothing as imaginary part."""
    window, turn = hl.Func("window"), hl.Func("turn")
    window[n] = hl.f32(0.5) - hl.f32(0.5) * hl.cos(hl.f32(2 * pi / size) * n)
    window.compute_root().vectorize(n, 8)
    turn[m, q] = window[q] * a[m * hop + q]
    scheduled.append(turn)
    return lambda at: (turn[m, at], hl.f32(0))


def stft(hop: int = 128, radices: tuple[int, ...] = (8, 8, 8)) -> Built:
    """The same of windows, of radix 8: none in apps/"""
    a, out, first = hl.ImageParam(hl.Float(32), 1), hl.Func("out"), []
    last, stages = transformed(windowed(a, prod(radices), hop, first), radices)
    out[k, m, r_] = hl.mux(r_, [last[m, k][0], last[m, k][1]])
    out.bound(r_, 0, 2).bound(k, 0, prod(radices) // 2 + 1)
    out.split(m, mo, mi, LANES, hl.TailStrategy.ShiftInwards).split(k, ko, ki, LANES)
    out.reorder(ki, mi, r_, ko, mo).unroll(r_).vectorize(ki).unroll(mi).parallel(mo)
    in_lanes(first[0], out)
    for f in stages:
        f.compute_at(out, mo)
    return out, [a]


def in_lanes(turn: Any, out: Any) -> None:
    """Rows in lanes, each a column of what was a row."""
    turn.compute_at(out, mo).split(q, ko, ki, LANES).reorder(m, ki, ko).vectorize(m).unroll(ki)


def mel_spectrogram(
    hop: int = 160, bands: int = 40, rate: float = 16000, radices: tuple[int, ...] = (8, 8, 8)
) -> Built:
    """The same with the sums of bands, 8 of which stay in registers: none in apps/"""
    a, out, first = hl.ImageParam(hl.Float(32), 1), hl.Func("out"), []
    weight, power, total = hl.Func("weight"), hl.Func("power"), hl.Func("total")
    b, bo, size = hl.Var("b"), hl.Var("bo"), prod(radices)
    last, stages = transformed(windowed(a, size, hop, first), radices)
    power[m, k] = last[m, k][0] * last[m, k][0] + last[m, k][1] * last[m, k][1]

    def centre(at: Any) -> Any:
        top = hl.f32(1127.01048) * hl.log(hl.f32(1 + rate / 2 / 700))
        return hl.f32(700) * (hl.exp(top * hl.f32(at) / (bands + 1) / hl.f32(1127.01048)) - 1)

    f = hl.f32(k) * hl.f32(rate / size)
    up = (f - centre(b)) / (centre(b + 1) - centre(b))
    down = (centre(b + 2) - f) / (centre(b + 2) - centre(b + 1))
    weight[b, k] = hl.max(hl.min(up, down), 0)
    r = hl.RDom([(0, size // 2 + 1)])
    total[m, b] = hl.f32(0)
    total[m, b] += weight[b, r] * power[m, r]
    out[b, m] = hl.log(hl.max(total[m, b], hl.f32(1e-10)))
    out.bound(b, 0, bands).split(m, mo, mi, LANES, hl.TailStrategy.ShiftInwards)
    out.split(b, bo, b, 8).reorder(mi, b, bo, mo).vectorize(mi).unroll(b).parallel(mo)
    total.compute_at(out, bo).vectorize(m).unroll(b)
    total.update().reorder(m, b, r).vectorize(m).unroll(b)
    power.compute_at(out, mo).vectorize(m)
    weight.compute_root().vectorize(b, 8)
    in_lanes(first[0], out)
    for f in stages:
        f.compute_at(out, mo)
    return out, [a]
