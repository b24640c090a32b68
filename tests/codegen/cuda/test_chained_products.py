"""Sums of one product that are the first factor of the next: they stay in the lanes that have them.

Where lanes have other columns of the sums than they want of the factor, the first product has its columns in
another order. The results are compared with NumPy's, the lanes by the processor's model of `mma.sync`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from cuda_library import CudaLibrary, cuda_of
from numpy.typing import NDArray

from hbc.cli.main import commands
from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.build.nvcc import build_cuda
from hbc.codegen.gpu.banks import bank_uses
from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

# D = f(A B^T) C^T, in steps of 64 columns of the middle.
KERNEL = """
size M, L, N
param K: i64 = 64
input A: FIRST[M, K]
input B: SECOND[L, K]
input C: THIRD[N, L]
output D: SUMS[M, N]
require 1 <= L
rows[n, l, k] = clamp_edge(B)[64 * n + l, k]
turned[n, e, l] = clamp_edge(C)[e, 64 * n + l]
reduce k in K, j in 64, t in (L + 63) / 64
dot[i, n, l] = 0
dot[i, n, l] += TIMES1
MIDDLE
part[i, n, e] = 0
part[i, n, e] += TIMES2
sum[i, e] = 0
sum[i, e] += part[i, t, e]
D[i, e] = sum[i, e]
schedule s for cuda {
  D.split(i, io, ii, 64).split(e, eo, ee, 32).split(ii, iw, iv, 16).split(ee, et, ev, 16)
  D.reorder(io, eo, iw, et, iv, ev).gpu_blocks(io, eo).gpu_threads(iw).unroll(et).vectorize(iv).vectorize(ev)
  sum.compute_at(D, eo).store_in(mma_accumulator)
  sum.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(iw, et, iv, ev).gpu_threads(iw).unroll(et)
  sum.vectorize(iv).vectorize(ev)
  sum.update.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(t, iw, et, iv, ev).gpu_threads(iw).unroll(et)
  sum.update.vectorize(iv).vectorize(ev)
  rows.compute_at(sum.update, t).store_in(shared).pad_storage(k, PITCH).vectorize(k, UNIT)
  turned.compute_at(sum.update, t).store_in(shared).pad_storage(l, PITCH).vectorize(l, UNIT)
  dot.compute_at(sum.update, t).store_in(mma_accumulator)
  dot.split(i, iw, iv, 16).split(l, lt, lv, WIDTH).reorder(n, iw, lt, iv, lv).gpu_threads(iw).unroll(lt)
  dot.vectorize(iv).vectorize(lv)
  dot.update.split(k, kt, kv, DEPTH).split(i, iw, iv, 16).split(l, lt, lv, WIDTH)
  dot.update.reorder(n, iw, kt, lt, iv, lv, kv).gpu_threads(iw).unroll(lt)
  dot.update.atomic().vectorize(iv).vectorize(lv).vectorize(kv)
  PLACES
  part.compute_at(sum.update, t).store_in(mma_accumulator)
  part.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(n, iw, et, iv, ev).gpu_threads(iw).unroll(et)
  part.vectorize(iv).vectorize(ev)
  part.update.split(j, jt, jv, DEPTH).split(i, iw, iv, 16).split(e, et, ev, 16)
  part.update.reorder(n, iw, jt, et, iv, ev, jv).gpu_threads(iw).unroll(jt).unroll(et)
  part.update.atomic().vectorize(iv).vectorize(ev).vectorize(jv)
}
"""
PLACE = """
  NAME.compute_at(sum.update, t).store_in(mma_accumulator)
  NAME.split(i, iw, iv, 16).split(l, lt, lv, AT).reorder(n, iw, lt, iv, lv).gpu_threads(iw).unroll(lt)
  NAME.vectorize(iv).vectorize(lv)
"""
BYTES = "mid[i, n, l] = select(64 * n + l < L, FIRST(clamp(dot[i, n, l] >> 6, LOW, 127)), 0)"
FLOATS = "mid[i, n, l] = select(64 * n + l < L, FIRST(dot[i, n, l] * 0.125), 0)"
STEPS = """wide[i, n, l] = f32(dot[i, n, l]) * 0.125
mid[i, n, l] = select(64 * n + l < L, FIRST(clamp(wide[i, n, l], LOW.0, 127.0)), 0)"""


def chain(
    first: str, second: str, sums: str, width: int = 16, pitch: int = 80, middle: str = ""
) -> str:
    """The program: types of the factors and the sums, columns of the sums in a fragment, elements from a row
    in shared memory to the next."""
    whole, cut = sums == "i32", sums == "f32" and first == "f32"
    depth = {"i8": 32, "u8": 32, "f16": 16, "bf16": 16, "f32": 8}[first]
    middle = middle or (BYTES if whole else FLOATS)

    def times(a: str, b: str) -> str:
        return f"{'tf32' if cut else sums}({a}) * {'tf32' if cut else sums}({b})"

    places = "".join(
        PLACE.replace("NAME", name).replace("AT", str(depth if name == "mid" else width))
        for name in ("wide", "mid")
        if f"{name}[" in middle
    )
    text = KERNEL
    for word, value in {
        "TIMES1": times("A[i, k]", "rows[n, l, k]"),
        "TIMES2": times("mid[i, n, j]", "turned[n, e, j]"),
        "MIDDLE": middle,
        "PLACES": places,
        "PITCH": str(pitch),
        "FIRST": first,
        "SECOND": second,
        "THIRD": second,
        "SUMS": sums,
        "WIDTH": str(width),
        "DEPTH": str(depth),
        "UNIT": str(16 // (1 if whole else 2 if not cut else 4)),
        "LOW": "0" if first == "u8" else "-127",
    }.items():
        text = text.replace(word, value)
    return text


def numbers(t: str, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[np.generic]:
    """Small whole numbers, whose sums any order of additions has exactly."""
    low = 0 if t == "u8" else -8
    kind = {"i8": np.int8, "u8": np.uint8, "f16": np.float16, "f32": np.float32}[t]
    return random.integers(low, 9, shape).astype(kind)


def run(
    text: str, first: str, second: str, sums: str, sizes: tuple[int, int, int], at: Path
) -> None:
    """Compiles for the processor, runs, and compares with NumPy."""
    m, length, n = sizes
    random = np.random.default_rng(7)
    a, b = numbers(first, (m, 64), random), numbers(second, (length, 64), random)
    c = numbers(second, (n, length), random)
    dot = a.astype(np.int64) @ b.astype(np.int64).T
    if sums == "i32":
        shifted = dot >> 6 if "wide" not in text else np.trunc(dot * 0.125)
        mid = np.clip(shifted, 0 if first == "u8" else -127, 127).astype(np.float64)
    else:
        mid = (dot * 0.125).astype(a.dtype).astype(np.float64)
    want = mid @ c.astype(np.float64).T
    got = np.full((m, n), 77, np.int32 if sums == "i32" else np.float32)
    source = cuda_of(text)
    assert CudaLibrary(source, at).call("", m, length, n, a, b, c, got) == 0
    assert np.array_equal(got.astype(np.float64), want)


def shared_arrays(text: str) -> set[str]:
    """What the kernels keep in shared memory."""
    return set(re.findall(r"__shared__ \S+ \w+ (\w+)\[", cuda_of(text).text))


TYPES = [("i8", "i8", "i32"), ("u8", "i8", "i32"), ("f32", "f32", "f32"), ("f16", "f16", "f32")]


@pytest.mark.parametrize(("first", "second", "sums"), TYPES)
@pytest.mark.parametrize("sizes", [(64, 128, 32), (37, 101, 45)])
def test_no_lane_gives_anything_away(
    first: str, second: str, sums: str, sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    """Nothing but what both products read comes to shared memory, and `ldmatrix` takes its rows in the order
    of the columns."""
    text = chain(first, second, sums)
    assert shared_arrays(text) == {"rows", "turned"}
    assert "__shfl" not in cuda_of(text).text
    assert "ptx_ldmatrix_x4(ptx_words(rows_tile" in cuda_of(text).text
    run(text, first, second, sums, sizes, tmp_path)


@pytest.mark.parametrize(("first", "second", "sums"), TYPES[:3])
def test_factors_that_lanes_load_one_by_one(
    first: str, second: str, sums: str, tmp_path: Path
) -> None:
    """From rows that are not at multiples of 16 bytes."""
    text = chain(first, second, sums, pitch=66)
    assert shared_arrays(text) == {"rows", "turned"}
    assert "ptx_ldmatrix_x4(ptx_words(rows_tile" not in cuda_of(text).text
    run(text, first, second, sums, (37, 101, 45), tmp_path)


def test_factors_of_several_narrow_sums(tmp_path: Path) -> None:
    """Two tiles of 8 columns are one factor of 16 halves."""
    text = chain("f16", "f16", "f32", 8)
    assert shared_arrays(text) == {"rows", "turned"}
    run(text, "f16", "f16", "f32", (37, 101, 45), tmp_path)


def test_what_no_order_serves(tmp_path: Path) -> None:
    """Of 8 columns of sums two lanes want all: bytes go through shared memory."""
    text = chain("i8", "i8", "i32", 8)
    assert shared_arrays(text) == {"rows", "turned", "dot_copy", "mid_copy"}
    run(text, "i8", "i8", "i32", (37, 101, 45), tmp_path)


def test_what_lies_between_goes_along(tmp_path: Path) -> None:
    """Floats computed from the sums, from which the bytes are computed, are in the same order."""
    text = chain("i8", "i8", "i32", middle=STEPS)
    assert shared_arrays(text) == {"rows", "turned"}
    run(text, "i8", "i8", "i32", (37, 101, 45), tmp_path)


def test_explain_says_so(tmp_path: Path) -> None:
    """The described instruction, and the order of its columns."""
    (tmp_path / "k.hb").write_text(chain("i8", "i8", "i32"))
    done = CliRunner().invoke(
        commands, ["explain", str(tmp_path / "k.hb"), "--target", "cuda", "--json"]
    )
    chosen = {
        (s["stage"], s["chosen"], tuple(s["columns"]))
        for s in json.loads(done.stdout)["statements"]
    }
    assert chosen == {
        ("dot", "mma_m16n16k32_s8", (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)),
        ("part", "mma_m16n16k32_s8", ()),
    }
    text = (
        CliRunner().invoke(commands, ["explain", str(tmp_path / "k.hb"), "--target", "cuda"]).stdout
    )
    assert "  columns 0 1 4 5 8 9 12 13 2 3 6 7 10 11 14 15: lanes have" in text


def test_the_bank_report_knows_which_rows_are_read_at_once() -> None:
    """Rows 0, 1, 4, 5, 8, ... of 80 bytes: two of eight in the same banks."""
    p = check(parse(Source("k.hb", chain("i8", "i8", "i32"))), {})
    kernel = lower_to_kernel(p, choose_schedule(p, "cuda", None), TARGETS["cuda"])
    loads = {u.buffer: (u.wavefronts, u.least) for u in bank_uses(kernel) if not u.stores}
    assert loads == {"rows": (8, 4), "turned": (4, 4)}


@pytest.mark.usefixtures("nvcc")
def test_nvcc_keeps_them_in_registers(tmp_path: Path) -> None:
    """Behind the copies of 16 bytes there is no store to shared memory, and a thread has no stack."""
    source = cuda_of(chain("i8", "i8", "i32"))
    used = build_cuda(source, tmp_path / "k.cubin", "cubin", ("sm_80",))
    assert all(r.spills == r.stack == 0 for r in used)
    build_cuda(source, tmp_path / "k.ptx", "ptx", ("sm_80",))
    ptx = (tmp_path / "k.ptx").read_text(encoding="utf-8")
    assert set(re.findall(r"st\.shared\S*", ptx)) <= {"st.shared.v4.b32", "st.shared.v4.u32"}
    assert not re.findall(r"ld\.shared\S*", ptx)  # but `ldmatrix`
