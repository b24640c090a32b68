"""Peers of the matrix product C = A B: M N K, dtype f32 | bf16 (f32 sums) | u8s8 (s32 sums)."""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import bfloat
import numpy as np
import timing
from halide_jit import (
    LANES,
    Schedule,
    bf16_buffer,
    dense,
    fastest,
    funcs,
    hl,
    names,
    require,
)
from timing import Array, Candidate


@dataclass(frozen=True, slots=True)
class Problem:
    """Operands as stored (bf16 as its bits); `a_values`, `b_values`: the same numbers in f64."""

    m: int
    n: int
    k: int
    dtype: str
    a: Array
    b: Array
    a_values: Array
    b_values: Array

    def new_output(self) -> Array:
        """A fresh C."""
        return np.empty((self.m, self.n), np.int32 if self.dtype == "u8s8" else np.float32)

    def error(self, output: Array) -> float:
        """Compares a few rows."""
        rows = timing.sample_rows(self.m)
        return timing.relative_error(output[rows], self.a_values[rows] @ self.b_values)


def make_problem(m: int, n: int, k: int, dtype: str) -> Problem:
    """Random operands."""
    rng = np.random.default_rng(0)
    if dtype == "u8s8":
        a: Array = rng.integers(0, 256, (m, k), dtype=np.uint8)
        b: Array = rng.integers(-128, 128, (k, n), dtype=np.int8)
        return Problem(m, n, k, dtype, a, b, a.astype(np.float64), b.astype(np.float64))
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    if dtype == "f32":
        return Problem(m, n, k, dtype, a, b, a.astype(np.float64), b.astype(np.float64))
    a, b = bfloat.to_bits(a), bfloat.to_bits(b)
    a_values, b_values = bfloat.to_f32(a), bfloat.to_f32(b)
    return Problem(m, n, k, dtype, a, b, a_values.astype(np.float64), b_values.astype(np.float64))


def numpy_peer(p: Problem) -> Iterator[Candidate]:
    """OpenBLAS: f32 as it is, bf16 widened to f32, u8s8 widened to f64 (exact)."""
    if p.dtype == "f32":
        c = p.new_output()
        yield Candidate(np.__version__, lambda: np.matmul(p.a, p.b, out=c), c, note=_blas())
    elif p.dtype == "bf16":
        note = f"{_blas()}; widened to f32 inside"
        yield Candidate(np.__version__, lambda: bfloat.to_f32(p.a) @ bfloat.to_f32(p.b), note=note)
    else:
        note = f"{_blas()}; widened to f64 inside"
        yield Candidate(
            np.__version__,
            lambda: (p.a.astype(np.float64) @ p.b.astype(np.float64)).astype(np.int32),
            note=note,
        )


def _blas() -> str:
    config: Any = np.show_config
    blas = config(mode="dicts")["Build Dependencies"]["blas"]
    return f"{blas['name']} {blas['version']}"


def onednn_peer(p: Problem) -> Iterator[Candidate]:
    """oneDNN's matmul, with B as it is and with B packed beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        library = _build_onednn(Path(folder))
        for prepack in (False, True):
            c = p.new_output()
            pointers = (p.a.ctypes.data, p.b.ctypes.data, c.ctypes.data)
            gemm = library.gemm_new(p.dtype.encode(), p.m, p.n, p.k, int(prepack), *pointers)
            if not gemm:
                continue
            kernel = library.gemm_implementation(gemm).decode()
            yield Candidate(
                library.gemm_version().decode(),
                partial(library.gemm_run, gemm),
                c,
                note=f"{kernel}, {'B packed beforehand, not timed' if prepack else 'plain B'}",
                peer="onednn-prepacked" if prepack else "onednn",
            )


def _build_onednn(folder: Path) -> Any:
    source = Path(__file__).with_name("onednn_gemm.cpp")
    built = folder / "onednn_gemm.so"
    compiler = shutil.which("g++")
    if compiler is None:
        raise timing.MissingPeer("g++")
    command = [compiler, "-O2", "-shared", "-fPIC", str(source), "-ldnnl", "-o", str(built)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise timing.MissingPeer("libdnnl-dev")
    library = ctypes.CDLL(str(built))
    pointer, number = ctypes.c_void_p, ctypes.c_long
    library.gemm_new.argtypes = [ctypes.c_char_p, *[number] * 3, ctypes.c_int, *[pointer] * 3]
    library.gemm_new.restype = pointer
    library.gemm_run.argtypes = [pointer]
    library.gemm_run.restype = None
    library.gemm_implementation.argtypes = [pointer]
    library.gemm_implementation.restype = ctypes.c_char_p
    library.gemm_version.restype = ctypes.c_char_p
    return library


def halide_peer(p: Problem) -> Iterator[Candidate]:
    """Register blocks over a packed B; the packing is part of the pipeline."""
    require()
    if p.dtype == "f32":
        blocks = [(6, 4), (8, 2), (4, 4), (8, 3), (4, 5)]
        whole = [(r, v) for r, v in blocks if p.n % (v * LANES) == 0]
        schedules = [
            Schedule(
                f"{rows}x{vectors} vector block, B packed per column panel, k unrolled by 2",
                partial(f32_pipeline, p, rows, vectors),
            )
            for rows, vectors in whole or blocks
        ]
        yield fastest(schedules, [p.a, p.b], p.new_output())
        return
    schedules = [
        Schedule(
            f"{rows}x{vectors} vector block, dot products, B interleaved at the root",
            partial(dot_pipeline, p, rows, vectors),
        )
        for rows, vectors in [(4, 4), (6, 4), (8, 2)]
    ]
    inputs = [p.a, p.b] if p.dtype == "u8s8" else [bf16_buffer(p.a), bf16_buffer(p.b)]
    yield fastest(schedules, inputs, p.new_output())


def f32_pipeline(p: Problem, rows: int, vectors: int) -> tuple[Any, list[Any]]:
    """A rows x vectors register block runs down a column panel of B, packed and kept in cache."""
    wide = LANES * vectors
    ragged = p.n % wide != 0
    a, b = hl.ImageParam(hl.Float(32), 2, "A"), hl.ImageParam(hl.Float(32), 2, "B")
    x, y, xi, yi, panel, lane, row = names("x y xi yi panel lane row")
    k = hl.RDom([(0, p.k)], "k")
    packed, product, out = funcs("packed product out")
    column = panel * wide + lane
    packed[lane, row, panel] = b[hl.min(column, p.n - 1) if ragged else column, row]
    product[x, y] = hl.f32(0)
    product[x, y] += a[k, y] * packed[x % wide, k, x // wide]
    out[x, y] = product[x, y]

    guard, shift = hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards
    out.bound(x, 0, p.n).bound(y, 0, p.m)
    out.tile(x, y, xi, yi, wide, rows, guard if ragged or p.m % rows else shift)
    out.vectorize(xi, LANES).unroll(xi).unroll(yi).reorder(xi, yi, y, x).parallel(x)
    product.compute_at(out, y).vectorize(x, LANES).unroll(x).unroll(y)
    product.update().reorder(x, y, k.x).vectorize(x, LANES).unroll(x).unroll(y).unroll(k.x, 2)
    packed.compute_at(out, x).vectorize(lane, LANES).unroll(lane)
    dense(a, p.k, p.m)
    dense(b, p.n, p.k)
    dense(out.output_buffer(), p.n, p.m)
    return out, [a, b]


def dot_pipeline(p: Problem, rows: int, vectors: int) -> tuple[Any, list[Any]]:
    """Groups of 2 (bf16) or 4 (u8s8) along k become one dot-product instruction."""
    group = 4 if p.dtype == "u8s8" else 2
    type_a, type_b, type_c = (
        (hl.UInt(8), hl.Int(8), hl.Int(32))
        if p.dtype == "u8s8"
        else (hl.BFloat(16), hl.BFloat(16), hl.Float(32))
    )
    a, b = hl.ImageParam(type_a, 2, "A"), hl.ImageParam(type_b, 2, "B")
    x, y, xi, yi, xo, kq, kr, lane = names("x y xi yi xo kq kr lane")
    k = hl.RDom([(0, group), (0, -(-p.k // group))], "k")
    left, packed, product, out = funcs("left packed product out")
    ragged = p.k % group != 0
    depth = kq * group + kr
    left[kr, y] = a[hl.min(kr, p.k - 1), y] if ragged else a[kr, y]
    if ragged:
        zero = hl.cast(type_b, 0)
        packed[kr, x, kq] = hl.select(depth < p.k, b[x, hl.min(depth, p.k - 1)], zero)
        left.compute_root().vectorize(kr, LANES)
    else:
        packed[kr, x, kq] = b[x, depth]
    product[x, y] = hl.cast(type_c, 0)
    term = hl.cast(type_c, left[k.y * group + k.x, y])
    product[x, y] += term * hl.cast(type_c, packed[k.x, x, k.y])
    out[x, y] = product[x, y]

    guard, shift = hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards
    out.bound(x, 0, p.n).bound(y, 0, p.m)
    out.tile(x, y, xi, yi, LANES * vectors, rows, guard if p.m % rows else shift)
    out.vectorize(xi, LANES).unroll(xi).unroll(yi).reorder(xi, yi, y, x).parallel(x)
    product.compute_at(out, y).vectorize(x, LANES).unroll(x).unroll(y)
    update = product.update().split(x, x, lane, LANES).reorder(k.x, lane, x, y, k.y).atomic()
    update.vectorize(k.x).vectorize(lane).unroll(x).unroll(y)
    packed.compute_root().bound(kr, 0, group).reorder_storage(kr, x, kq)
    packed.split(x, x, xo, LANES).reorder(kr, xo, x, kq).unroll(kr).vectorize(xo).parallel(kq, 32)
    dense(a, p.k, p.m)
    dense(b, p.n, p.k)
    return out, [a, b]


def torch_peer(p: Problem) -> Iterator[Candidate]:
    """torch.mm in f32 and bf16; for u8s8 the s8 x s8 product and the quantised linear layer."""
    torch = timing.load("torch")
    torch.set_num_threads(timing.threads())
    if p.dtype == "f32":
        a, b, c = torch.from_numpy(p.a), torch.from_numpy(p.b), torch.empty(p.m, p.n)
        yield Candidate(torch.__version__, lambda: torch.mm(a, b, out=c), c.numpy())
    elif p.dtype == "bf16":
        a, b = bfloat.to_torch(torch, p.a), bfloat.to_torch(torch, p.b)
        c = torch.empty(p.m, p.n, dtype=torch.bfloat16)
        yield Candidate(
            torch.__version__,
            lambda: torch.mm(a, b, out=c),
            c.view(torch.int16).numpy(),
            view=lambda bits: bfloat.to_f32(bits.view(np.uint16)),
            note="result rounded to bf16",
            tolerance=1e-2,
        )
    else:
        yield from _torch_u8s8(torch, p)


def _torch_u8s8(torch: Any, p: Problem) -> Iterator[Candidate]:
    signed = torch.from_numpy((p.a.astype(np.int16) - 128).astype(np.int8))
    a, b = torch.from_numpy(p.a), torch.from_numpy(p.b)
    offset = 128 * p.b.astype(np.int32).sum(axis=0)
    yield Candidate(
        torch.__version__,
        lambda: torch._int_mm(signed, b),
        view=lambda product: product.numpy() + offset,
        note="_int_mm, s8 x s8",
    )
    weights = torch.ops.onednn.qlinear_prepack(b.t().contiguous(), [p.m, p.k])
    scales, zeros = torch.ones(p.n), torch.zeros(p.n, dtype=torch.int64)
    quantised: tuple[Any, ...] = (
        a,
        1.0,
        0,
        weights,
        scales,
        zeros,
        None,
        1.0,
        0,
        torch.float32,
        "none",
        [],
        "",
    )
    yield Candidate(
        torch.__version__,
        lambda: torch.ops.onednn.qlinear_pointwise(*quantised),
        note="onednn.qlinear, B packed beforehand, f32 result",
        peer="torch-prepacked",
    )


def main() -> int:
    """Runs all peers at the sizes of the command line."""
    timing.pin()
    sizes = timing.read_sizes(M=1024, N=1024, K=1024, dtype="f32")
    if sizes["dtype"] not in ("f32", "bf16", "u8s8"):
        timing.refuse("dtype is f32, bf16 or u8s8")
    p = make_problem(sizes["M"], sizes["N"], sizes["K"], sizes["dtype"])
    tolerance = {"f32": 1e-4, "bf16": 1e-3, "u8s8": 0.0}[p.dtype]
    operations = 2.0 * p.m * p.n * p.k
    case = timing.Case(f"gemm_{p.dtype}", sizes, operations, p.error, tolerance)
    peers = {
        "numpy": lambda: numpy_peer(p),
        "onednn": lambda: onednn_peer(p),
        "halide": lambda: halide_peer(p),
        "torch": lambda: torch_peer(p),
    }
    return timing.report(case, peers)


if __name__ == "__main__":
    sys.exit(main())
