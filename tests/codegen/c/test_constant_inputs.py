"""Inputs that are declared constant: packed once, in memory of the caller's, for many calls."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.main import exit_code_of
from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.codegen.build.processor import can_run
from hbc.codegen.build.toolchain import build
from hbc.codegen.c.codes import PACKED, SIZE, code_kind
from hbc.codegen.c.file import emit_c
from hbc.ir.algebra.simplify import simplify
from hbc.ir.beforehand.split import split_constants
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const, const_value
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes, substitute

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
SAMPLES = Path(__file__).resolve().parents[3] / "samples"
GEMM = """
kernel k
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N] constant
input  bias: i32[N] constant
output C: i32[M, N]
reduce k in K
acc[i, j]  = bias[j]
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
schedule plain for c { acc.compute_at(C, i) }
schedule rows for c { B.in(acc).compute_root().reorder_storage(j, k) ; acc.compute_at(C, i) }
schedule panels for c {
    C.split(j, jo, ji, 8).reorder(jo, i, ji)
    B.in(acc).compute_at(C, jo)
    acc.compute_at(C, i)
}
schedule special for c {
    C.specialize(N >= 16).parallel(i)
    acc.compute_at(C, i)
    B.in(acc).compute_root()
}
schedule dots for avx512vnni {
    C.tile(i, j, io, jo, ii, ji, 6, 64, tail = shift).reorder(jo, io, ii, ji)
    C.vectorize(ji, 16).unroll(ji).unroll(ii).parallel(jo)
    acc.compute_at(C, io).store_in(registers).vectorize(j, 16).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4).reorder(ko, i, j, ki).atomic().vectorize(ki)
    acc.update.vectorize(j, 16).unroll(j).unroll(i)
}
example { M = 5; N = 19; K = 7; A = random(1); B = random(2); bias = random(3, -1000, 1000) }
"""
SCHEDULES = ("none", "plain", "rows", "panels", "special", "dots")


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    path = tmp_path / "k.hb"
    path.write_text(GEMM, encoding="utf-8")
    return path


def library(kernel: Path, schedule: str) -> ctypes.CDLL:
    p = load_pipeline(kernel, {})
    target = TARGETS["avx512vnni" if schedule == "dots" else "c"]
    if not can_run(target):
        pytest.skip(f"runs {target.name} code")
    chosen = None if schedule == "none" else choose_schedule(p, target.name, schedule)
    source = emit_c(lower_to_kernel(p, chosen, target), target)
    assert source.packs == ("B", "bias")
    built = kernel.with_name(f"{schedule}.so")
    build(source, target, built, extra=STRICT)
    found = ctypes.CDLL(str(built))
    for name in ("k_packed_size_B", "k_packed_size_bias"):
        getattr(found, name).restype = ctypes.c_int64
    return found


def words(*sizes: int) -> list[ctypes.c_int64]:
    return [ctypes.c_int64(n) for n in sizes]


def room(count: int) -> np.ndarray:
    """Memory that begins at a multiple of 64, and a page that must stay as it is behind it."""
    raw = np.full(count + 64 + 4096, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64
    return raw[begin : begin + count + 4032]


def pointer(a: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(a.ctypes.data)


def packed(k: ctypes.CDLL, name: str, sizes: tuple[int, ...], array: np.ndarray) -> np.ndarray:
    count = getattr(k, f"k_packed_size_{name}")(*words(*sizes))
    assert count > 0
    memory = room(count)
    assert getattr(k, f"k_pack_{name}")(*words(*sizes), pointer(array), pointer(memory)) == 0
    assert (memory[count:] == 0xA5).all()
    return memory


def test_what_panels_need_is_packed_beforehand(gemm: Path) -> None:
    """Once for all of them, although each has its own and threads share them; and where sizes need
    nothing else, nothing else is kept."""
    p = load_pipeline(gemm, {})
    target = TARGETS["avx512vnni"]
    kernel = lower_to_kernel(p, choose_schedule(p, target.name, "dots"), target)
    split = split_constants(kernel)
    assert split is not None
    (pack,) = (part for part in split.packs if part.input.name == "B")

    def length(name: str, **sizes: int) -> int:
        (extent,) = next(a.extents for a in pack.kept if a.name == name)
        found = const_value(simplify(substitute(extent, {n: const(v) for n, v in sizes.items()})))
        assert isinstance(found, int)
        return found

    assert length("B_packed", M=6, N=128, K=36) == 128 * 36
    assert length("B_dense", M=6, N=128, K=36) == 0
    assert length("B_dense", M=6, N=63, K=36) == 63 * 36
    main = next(s for s in nodes(split.rest.body) if isinstance(s, ir.If))
    assert not any(isinstance(s, ir.Allocate) and s.memory is Memory.HEAP for s in nodes(main.then))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (5, 19, 7), (13, 131, 37), (6, 64, 64)])
def test_what_is_packed_serves_many_calls(
    gemm: Path, schedule: str, m: int, n: int, k: int
) -> None:
    code, random = library(gemm, schedule), np.random.default_rng(1)
    b = random.integers(-128, 128, (k, n), dtype=np.int8)
    bias = random.integers(-(2**31), 2**31, n, dtype=np.int32)
    kept, kept_bias = (packed(code, x, (m, n, k), a) for x, a in (("B", b), ("bias", bias)))
    exact, exact_bias = b.astype(np.int64), bias.astype(np.int64)
    b[:], bias[:] = 0, 0  # nothing but what was packed is read
    for _ in range(3):
        a = random.integers(0, 256, (m, k), dtype=np.uint8)
        c = np.full((m, n), -77, np.int32)
        arrays = map(pointer, (a, kept, kept_bias, c))
        assert code.k_packed(*words(m, n, k), *arrays) == 0
        assert (c == (a.astype(np.int64) @ exact + exact_bias).astype(np.int32)).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_usual_entry_points_pack_in_each_call(gemm: Path, schedule: str) -> None:
    arguments = ["verify", str(gemm), "--schedule", schedule, "--trials", "4"]
    target = "avx512vnni" if schedule == "dots" else "c"
    assert exit_code_of([*arguments, "--target", target]) == 0


def test_what_was_not_packed_so_is_refused(gemm: Path) -> None:
    """For other sizes, by another kernel, at an odd address, not at all."""
    code, other = library(gemm, "rows"), library(gemm, "plain")
    b, bias = np.ones((7, 19), np.int8), np.ones(19, np.int32)
    kept, kept_bias = (packed(code, x, (5, 19, 7), a) for x, a in (("B", b), ("bias", bias)))
    others = packed(other, "B", (5, 19, 7), b)
    a, c = np.ones((5, 7), np.uint8), np.full((5, 19), -77, np.int32)
    no = room(4096)
    for sizes, memory in (
        ((5, 18, 7), kept), ((5, 19, 6), kept), ((5, 19, 7), others), ((5, 19, 7), no),
        ((5, 19, 7), kept[1:]), ((5, 19, 7), None),
    ):  # fmt: skip
        given = ctypes.c_void_p(0) if memory is None else pointer(memory)
        status = code.k_packed(*words(*sizes), pointer(a), given, pointer(kept_bias), pointer(c))
        assert code_kind(status) == PACKED
        code.k_strerror.restype = ctypes.c_char_p
        assert b"`B` was not packed by this kernel" in code.k_strerror(status)
    assert (c == -77).all()
    # Sizes that what is packed does not depend on may be others.
    wide = np.ones((9, 7), np.uint8), np.empty((9, 19), np.int32)
    given = (pointer(wide[0]), pointer(kept), pointer(kept_bias), pointer(wide[1]))
    assert code.k_packed(*words(9, 19, 7), *given) == 0
    assert (wide[1] == 8).all()


def test_sizes_that_make_no_sense_are_refused(gemm: Path) -> None:
    code = library(gemm, "rows")
    assert code_kind(-code.k_packed_size_B(*words(1, -1, 1))) == SIZE
    assert code.k_packed_size_B(*words(1, 1 << 40, 1 << 40)) < 0
    assert code_kind(code.k_pack_B(*words(1, 1, 1), pointer(np.ones(1, np.int8)), None)) == PACKED


def test_factors_in_the_order_of_instructions_are_kept(tmp_path: Path) -> None:
    """The rest of the program does not read the filter where all of it is in that order."""
    p = load_pipeline(SAMPLES / "conv2d_u8s8.hb", {"C": "8", "K": "32", "W": "18", "H": "5"}, True)
    kernel = tmp_path / "k.hb"
    kernel.write_text((SAMPLES / "conv2d_u8s8.hb").read_text(encoding="utf-8"), encoding="utf-8")
    from hbc.cli.automatic import automatic

    made = automatic(p, TARGETS["avx512vnni"], {}, True)
    assert made is not None
    text = emit_c(made.kernel, TARGETS["avx512vnni"]).text
    rest = text[text.index("static void conv2d_u8s8_packed_compute") :]
    parameters = rest[: rest.index(")")]
    assert re.findall(r"\w*F\w*", parameters) == ["F_packed_1"]


def test_checks_of_strides_are_of_arrays_without_gaps(tmp_path: Path) -> None:
    """A schedule that fuses pixels and channels wants rows of so many elements."""
    path = tmp_path / "k.hb"
    path.write_text(
        "size H, W\ninput X: u8[H, W, 3]\ninput Z: u8[H, W, 3] constant\noutput Y: u8[H, W, 3]\n"
        "Y[y, x, c] = X[y, x, c] + Z[y, x, c]\n"
        "schedule s for c { Y.fuse(x, c, xc).split(xc, o, i, 16).vectorize(i) }\n"
        "example { H = 5; W = 7; X = random(1); Z = random(2) }\n",
        encoding="utf-8",
    )
    assert exit_code_of(["verify", str(path), "--trials", "3", "--target", "c"]) == 0


def test_constant_is_a_name_elsewhere(tmp_path: Path) -> None:
    """Of a Func behind an input, and of a fill."""
    path = tmp_path / "k.hb"
    path.write_text(
        "size N\ninput X: f32[N]\nconstant[i] = X[i] * 2\ninput Z: f32[N] constant\noutput Y: f32[N]\n"
        "Y[i] = constant[i] + Z[i]\nexample { N = 5; X = constant(2) }\n",
        encoding="utf-8",
    )
    assert exit_code_of(["verify", str(path), "--trials", "2"]) == 0
    assert exit_code_of(["fmt", str(path)]) == 0
    assert "input  Z: f32[N] constant\n" in path.read_text(encoding="utf-8")
    assert [i.constant for i in load_pipeline(path, {}).inputs] == [False, True]


def test_bounds_of_scalars_are_not_asked_where_these_are_not_passed(tmp_path: Path) -> None:
    """What packs takes the constant input and the sizes alone."""
    path = tmp_path / "k.hb"
    path.write_text(
        "size N\ninput X: u8[N, 8] constant\ninput by: i32\nbound by in -3 .. 4\noutput Y: u8[N, 8]\n"
        "edge = clamp_edge(X)\nrows[y, x] = X[y, x] / 2\nY[y, x] = edge[y, x + by] + rows[y, x]\n"
        "schedule s for c { rows.compute_root() }\n"
        "example { N = 5; X = random(1); by = 2 }\n",
        encoding="utf-8",
    )
    assert exit_code_of(["verify", str(path), "--target", "c"]) == 0  # which tries both ways
