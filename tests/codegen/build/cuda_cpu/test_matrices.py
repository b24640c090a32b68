"""Pins WMMA, ldmatrix and mma.sync of CUDA on the CPU against NumPy."""

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cuda_programs import INCLUDES, aligned, call, library
from numpy.typing import NDArray

from hbc.codegen.build.cuda_cpu import TEMPLATES

BF16 = np.dtype(ml_dtypes.bfloat16)


@dataclass(frozen=True, slots=True)
class Shape:
    """One WMMA product: M x N x K, operands of type `given` (`stored` in memory), sums of type `made`."""

    m: int
    n: int
    k: int
    given: str
    stored: str
    made: str
    by_rows: tuple[bool, bool] = (True, True)

    @property
    def name(self) -> str:
        order = "".join("r" if rows else "c" for rows in self.by_rows)
        given = self.given.rpartition(":")[2].replace(" ", "_")
        return f"m{self.m}n{self.n}k{self.k}_{given}_{self.made}_{order}"


WIDE = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
ORDERS = tuple((a, b) for a in (True, False) for b in (True, False))
SHAPES = [
    *(Shape(*s, "__half", "__half", made, o) for s in WIDE for made in ("float", "__half") for o in ORDERS),
    *(Shape(*s, "__nv_bfloat16", "__nv_bfloat16", "float", o) for s in WIDE for o in ORDERS),
    *(Shape(16, 16, 16, t, t, "int", o) for t in ("signed char", "unsigned char") for o in ORDERS),
    Shape(32, 8, 16, "unsigned char", "unsigned char", "int", (True, False)),
    Shape(8, 32, 16, "signed char", "signed char", "int", (True, True)),
    *(Shape(16, 16, 8, "nvcuda::wmma::precision::tf32", "float", "float", o) for o in ORDERS),
    *(Shape(8, 8, 4, "double", "double", "double", o) for o in ORDERS),
]  # fmt: skip
DTYPES: dict[str, np.dtype[Any]] = {
    "__half": np.dtype(np.float16), "__nv_bfloat16": BF16, "float": np.dtype(np.float32),
    "double": np.dtype(np.float64), "signed char": np.dtype(np.int8),
    "unsigned char": np.dtype(np.uint8), "int": np.dtype(np.int32),
}  # fmt: skip


def wmma_kernel(shape: Shape) -> str:
    """Two products of tiles in a matrix of twice their columns, added up, and doubled."""
    m, n, k, name = shape.m, shape.n, shape.k, shape.name
    rows_a, rows_b = shape.by_rows
    layouts = ["row_major" if rows else "col_major" for rows in shape.by_rows]
    lda, ldb = (2 * k if rows_a else m), (n if rows_b else 2 * k)
    step_a, step_b = (k if rows_a else k * m), (k * n if rows_b else k)
    return f"""
extern "C" __global__ void {name}_kernel(const {shape.stored} *A, const {shape.stored} *B, {shape.made} *C)
{{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {shape.given}, wmma::{layouts[0]}> a;
    wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {shape.given}, wmma::{layouts[1]}> b;
    wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {shape.made}> c;
    wmma::fill_fragment(c, {"__half(0.0f)" if shape.made == "__half" else "0"});
    for (int i = 0; i < 2; i++) {{
        wmma::load_matrix_sync(a, A + i * {step_a}, {lda});
        wmma::load_matrix_sync(b, B + i * {step_b}, {ldb});
        wmma::mma_sync(c, a, b, c);
    }}
    for (int i = 0; i < c.num_elements; i++)
        c.x[i] = c.x[i] + c.x[i];
    wmma::store_matrix_sync(C, c, {n}, wmma::mem_row_major);
}}
extern "C" void {name}(const {shape.stored} *A, const {shape.stored} *B, {shape.made} *C)
{{
    {name}_kernel<<<1, 32>>>(A, B, C);
}}
"""


MMA_KERNELS = """
// D = A B for A[16][16], B[16][8] of 16-bit elements by rows in shared memory.
#define MMA16(NAME, T, R, N) \\
extern "C" __global__ void NAME##_kernel(const T *A, const T *B, R *C) \\
{ \\
    __shared__ __align__(16) T s[16 * 16], r[16 * 8]; \\
    const int lane = threadIdx.x; \\
    for (int i = lane; i < 256; i += 32) s[i] = A[i]; \\
    for (int i = lane; i < 128; i += 32) r[i] = B[i]; \\
    __syncwarp(); \\
    unsigned a[4], b[2]; \\
    ptx_ldmatrix_x4(a, s + lane % 16 * 16 + lane / 16 * 8); \\
    ptx_ldmatrix_trans_x2(b, r + lane % 16 * 8); \\
    R c[N] = {}; \\
    NAME##_product(c, a, b); \\
    NAME##_store(C, c, lane); \\
} \\
extern "C" void NAME(const T *A, const T *B, R *C) { NAME##_kernel<<<1, 32>>>(A, B, C); }
#define PRODUCT(NAME, R, N, MMA) \\
__device__ void NAME##_product(R (&c)[N], unsigned (&a)[4], unsigned (&b)[2]) { MMA(c, a, b, c); }
#define STORE4(NAME, R) \\
__device__ void NAME##_store(R *C, R (&c)[4], int lane) \\
{ \\
    for (int i = 0; i < 4; i++) \\
        C[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i]; \\
}
PRODUCT(f16, float, 4, ptx_mma_m16n8k16_f32_f16) STORE4(f16, float) MMA16(f16, __half, float, 4)
PRODUCT(bf16, float, 4, ptx_mma_m16n8k16_f32_bf16) STORE4(bf16, float) MMA16(bf16, __nv_bfloat16, float, 4)
PRODUCT(f16h, unsigned, 2, ptx_mma_m16n8k16_f16_f16)
__device__ void f16h_store(unsigned *C, unsigned (&c)[2], int lane)
{
    for (int i = 0; i < 2; i++)
        C[(lane / 4 + i * 8) * 4 + lane % 4] = c[i];
}
MMA16(f16h, __half, unsigned, 2)

// Operands from memory: A by rows, B by columns; 32 / K elements in a register.
template <class T, class R, int K, class F>
__device__ void direct(const T *A, const T *B, R *C, F product)
{
    const int lane = threadIdx.x, packed = 4 / sizeof(T);
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++)
        memcpy(&a[i], A + (lane / 4 + i % 2 * 8) * K + lane % 4 * packed + i / 2 * 4 * packed, 4);
    for (int i = 0; i < 2; i++)
        memcpy(&b[i], B + lane / 4 * K + lane % 4 * packed + i * 4 * packed, 4);
    R c[4] = {};
    product(c, a, b, c);
    for (int i = 0; i < 4; i++)
        C[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}
#define DIRECT(NAME, T, R, K, MMA) \\
extern "C" __global__ void NAME##_kernel(const T *A, const T *B, R *C) \\
{ \\
    direct<T, R, K>(A, B, C, [](R (&d)[4], unsigned (&a)[4], unsigned (&b)[2], R (&c)[4]) { \\
        MMA(d, a, b, c); \\
    }); \\
} \\
extern "C" void NAME(const T *A, const T *B, R *C) { NAME##_kernel<<<1, 32>>>(A, B, C); }
DIRECT(tf32, float, float, 8, ptx_mma_m16n8k8_f32_tf32)
DIRECT(s8, signed char, int, 32, ptx_mma_m16n8k32_s32_s8)
DIRECT(u8, unsigned char, int, 32, ptx_mma_m16n8k32_s32_u8)
"""


@pytest.fixture(scope="module")
def kernels() -> ctypes.CDLL:
    return library("".join(map(wmma_kernel, SHAPES)), "wmma_kernels")


@pytest.fixture(scope="module")
def mma() -> ctypes.CDLL:
    ptx = (TEMPLATES / "cuda_ptx.h").read_text(encoding="ascii").replace("#pragma once", "")
    return library(ptx + MMA_KERNELS, "mma_kernels")


def values(rng: np.random.Generator, dtype: np.dtype[Any], *shape: int) -> NDArray[Any]:
    """Integers of the whole range; floats so small and whole that every sum is exact."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return rng.integers(-4, 5, shape).astype(dtype)


def with_low_bits(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The bits that TF32 ignores, set."""
    return (values.view(np.uint32) | 0xFFF).view(np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
def test_wmma(shape: Shape, kernels: ctypes.CDLL) -> None:
    rng = np.random.default_rng(3)
    dtype, made = DTYPES[shape.stored], DTYPES[shape.made]
    a = values(rng, dtype, shape.m, 2 * shape.k)
    b = values(rng, dtype, 2 * shape.k, shape.n)
    c = aligned(np.full((shape.m, shape.n), 77, made))
    given = [x if rows else x.T for x, rows in zip((a, b), shape.by_rows, strict=True)]
    if "tf32" in shape.given:
        given = [with_low_bits(np.ascontiguousarray(x)) for x in given]
    call(getattr(kernels, shape.name), *(aligned(np.ascontiguousarray(x)) for x in given), c)
    assert np.array_equal(c, 2 * (a.astype(np.float64) @ b.astype(np.float64)))


@pytest.mark.parametrize(
    ("name", "stored", "made", "k"),
    [
        ("f16", "__half", "float", 16), ("bf16", "__nv_bfloat16", "float", 16),
        ("f16h", "__half", "__half", 16), ("tf32", "float", "float", 8),
        ("s8", "signed char", "int", 32), ("u8", "unsigned char", "int", 32),
    ],
)  # fmt: skip
def test_mma_sync(name: str, stored: str, made: str, k: int, mma: ctypes.CDLL) -> None:
    rng = np.random.default_rng(4)
    a, b = values(rng, DTYPES[stored], 16, k), values(rng, DTYPES[stored], k, 8)
    c = aligned(np.full((16, 8), 77, DTYPES[made]))
    given = [a, b if DTYPES[stored].itemsize == 2 else np.ascontiguousarray(b.T)]
    if name == "tf32":
        given = [with_low_bits(x) for x in given]
    call(getattr(mma, name), *map(aligned, given), c)
    assert np.array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


def test_nvcc_takes_the_same_kernels(nvcc: tuple[str, ...], tmp_path: Path) -> None:
    """What the tests above run is CUDA."""
    ptx = (TEMPLATES / "cuda_ptx.h").read_text(encoding="ascii").replace("#pragma once", "")
    file = tmp_path / "kernels.cu"
    file.write_text(
        INCLUDES + "#include <cuda.h>\n" + ptx + "".join(map(wmma_kernel, SHAPES)) + MMA_KERNELS,
        encoding="ascii",
    )
    command = [
        *nvcc,
        "-std=c++17",
        "-arch=sm_80",
        "-cubin",
        "-o",
        str(tmp_path / "cubin"),
        str(file),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
