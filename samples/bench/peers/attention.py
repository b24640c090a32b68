"""Peers of softmax(Q K^T / sqrt(D)) V in f32: N heads, sequence length L, head size D."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import timing
from halide_jit import (
    LANES,
    Schedule,
    dense,
    fastest,
    funcs,
    hl,
    names,
    reduction_names,
    require,
)
from timing import Array, Candidate


@dataclass(frozen=True, slots=True)
class Problem:
    """Queries, keys and values, each heads x length x size."""

    queries: Array
    keys: Array
    values: Array

    @property
    def scale(self) -> float:
        """1 / sqrt(D)."""
        return float(1 / np.sqrt(self.queries.shape[2]))

    def error(self, output: Array) -> float:
        """Compares a few rows of every head."""
        rows = timing.sample_rows(self.queries.shape[1])
        scores = self.queries[:, rows].astype(np.float64) @ self.keys.transpose(0, 2, 1)
        weights = np.exp((scores - scores.max(-1, keepdims=True)) * self.scale)
        want = weights @ self.values / weights.sum(-1, keepdims=True)
        return timing.relative_error(output[:, rows], want)


def make_problem(heads: int, length: int, size: int) -> Problem:
    """Normally distributed operands."""
    rng = np.random.default_rng(4)
    shape = (heads, length, size)
    return Problem(*(rng.standard_normal(shape, np.float32) for _ in range(3)))


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Blocks of query rows whose whole score rows stay in cache."""
    require()
    _, length, size = p.queries.shape
    if size % LANES or length % LANES:
        raise timing.Unsuitable("this schedule wants L and D to be multiples of 16")
    schedules = [
        Schedule(
            f"blocks of {rows} query rows, scores {rows}x{vectors} vectors in registers",
            partial(pipeline, p, rows, vectors),
        )
        for rows, vectors in [(8, 2), (4, 4), (8, 3)]
    ]
    yield fastest(schedules, [p.queries, p.keys, p.values], np.empty_like(p.queries))


def pipeline(p: Problem, rows: int, vectors: int) -> tuple[Any, list[Any]]:
    """Scores of a row block, then maximum, exp and sum over vectors, then the product with V."""
    heads, length, size = p.queries.shape
    q_in, k_in, v_in = (hl.ImageParam(hl.Float(32), 3, name) for name in "QKV")
    d, t, q, h, qo, qi, di, ti, to = names("d t q h qo qi di ti to")
    keys, dots, scores, top, weights, total, mixed, out = funcs(
        "keys dots scores top weights total mixed out"
    )
    rd, rt = hl.RDom([(0, size)], "rd"), hl.RDom([(0, length)], "rt")
    rm, rs = hl.RDom([(0, length)], "rm"), hl.RDom([(0, length)], "rs")
    keys[t, d, h] = k_in[d, t, h]
    dots[t, q, h] = hl.f32(0)
    dots[t, q, h] += q_in[rd, q, h] * keys[t, rd, h]
    scores[t, q, h] = dots[t, q, h] * hl.f32(p.scale)
    top[q, h] = hl.f32(-3.4e38)
    top[q, h] = hl.max(top[q, h], scores[rm, q, h])
    weights[t, q, h] = hl.exp(scores[t, q, h] - top[q, h])
    total[q, h] = hl.f32(0)
    total[q, h] += weights[rs, q, h]
    mixed[d, q, h] = hl.f32(0)
    mixed[d, q, h] += weights[rt, q, h] * v_in[d, rt, h]
    out[d, q, h] = mixed[d, q, h] / total[q, h]

    out.bound(d, 0, size).bound(q, 0, length).bound(h, 0, heads)
    out.split(q, qo, qi, rows).reorder(d, qi, qo, h).vectorize(d, LANES).unroll(d).unroll(qi)
    out.parallel(qo).parallel(h)
    keys.compute_root().tile(t, d, ti, di, LANES, LANES).vectorize(ti).unroll(di).parallel(h)
    scores.compute_at(out, qo).split(t, to, ti, LANES * vectors, hl.TailStrategy.ShiftInwards)
    scores.reorder(ti, q, to).vectorize(ti, LANES).unroll(ti).unroll(q)
    dots.compute_at(scores, to).vectorize(t, LANES).unroll(t).unroll(q)
    dots.update().reorder(t, q, rd.x).vectorize(t, LANES).unroll(t).unroll(q)
    weights.compute_at(out, qo).vectorize(t, LANES)
    for func, over in ((top, rm.x), (total, rs.x)):
        _reduce_by_lanes(func, over, out, qo, q)
    mixed.compute_at(out, qo).vectorize(d, LANES).unroll(d).unroll(q)
    update = mixed.update().tile(d, q, di, qi, size, 4).reorder(di, qi, rt.x, d, q)
    update.vectorize(di, LANES).unroll(di).unroll(qi)
    for operand in (q_in, k_in, v_in):
        dense(operand, size, length, heads)
    return out, [q_in, k_in, v_in]


def _reduce_by_lanes(func: Any, over: Any, consumer: Any, at: Any, row: Any) -> None:
    """A row's reduction as one for each of 16 lanes."""
    (lane,) = names("lane")
    outer, inner = reduction_names("outer inner")
    func.compute_at(consumer, at)
    lanes = func.update().split(over, outer, inner, LANES).rfactor([(inner, lane)])
    lanes.compute_at(func, row).vectorize(lane).update().vectorize(lane)
    func.update().atomic().vectorize(inner)


def torch_peer(p: Problem) -> Iterator[Candidate]:
    """scaled_dot_product_attention (fused), and matmul, softmax, matmul (naive)."""
    torch = timing.load("torch")
    torch.set_num_threads(timing.threads())
    q, k, v = (torch.from_numpy(a)[None] for a in (p.queries, p.keys, p.values))
    fused = torch.nn.functional.scaled_dot_product_attention
    calls = {
        "torch-fused": (lambda: fused(q, k, v), "scaled_dot_product_attention"),
        "torch": (
            lambda: torch.softmax((q @ k.transpose(-1, -2)) * p.scale, -1) @ v,
            "matmul, softmax, matmul",
        ),
    }
    for name, (call, note) in calls.items():
        yield Candidate(
            torch.__version__, call, view=lambda r: np.asarray(r[0].numpy()), note=note, peer=name
        )


def numpy_peer(p: Problem) -> Iterator[Candidate]:
    """Matmul, softmax, matmul."""

    def run() -> Array:
        scores = p.queries @ p.keys.transpose(0, 2, 1)
        scores *= np.float32(p.scale)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        mixed: Array = scores @ p.values
        mixed /= scores.sum(-1, keepdims=True)
        return mixed

    yield Candidate(np.__version__, run, note="matmul, exp, matmul")


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(N=8, L=1024, D=64)
    p = make_problem(sizes["N"], sizes["L"], sizes["D"])
    operations = 4.0 * sizes["N"] * sizes["L"] ** 2 * sizes["D"]
    case = timing.Case("attention", sizes, operations, p.error, 1e-3)
    peers = {
        "halide": lambda: halide_peer(p),
        "torch": lambda: torch_peer(p),
        "numpy": lambda: numpy_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())
