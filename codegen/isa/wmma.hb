# NVIDIA's tensor cores through nvcuda::wmma (CUDA C++ Programming Guide, "Warp matrix functions"). A warp
# holds a matrix in a fragment; which lane has which element is not said, so whole matrices are loaded and
# stored. A and B may be stored by rows or by columns: the layout is part of the meaning, as ever.
# How the sum of a product rounds is not documented; ascending multiply-adds are within its error.

feature wmma { machine cuda; cpuinfo "sm_75"; flag ""; probe { leaf 75; bit 0 } }
place wmma { machine cuda; memory wmma_accumulator; count 24; rows 32; row_bytes 128; header "mma.h"
             load  "nvcuda::wmma::load_matrix_sync({register}, {pointer}, {stride});"
             store "nvcuda::wmma::store_matrix_sync({pointer}, {register}, {stride});" }
target wmma "tensor cores of NVIDIA's GPUs" uses wmma

instruction wmma_16x16x16_f16_row_row(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_f16_row_col(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma
