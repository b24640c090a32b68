# NVIDIA's tensor cores through nvcuda::wmma (CUDA C++ Programming Guide, "Warp matrix functions"). A warp
# holds a matrix in a fragment; which lane has which element is not said, so whole matrices are loaded and
# stored. A and B may be stored by rows or by columns: the layout is part of the meaning, as ever.
# How the sum of a product rounds is not documented; ascending multiply-adds are within its error.
# Timing: a warp's share of sm_80's tensor cores, 1024 multiply-adds of f16 in a cycle of an SM with four
# of them ("NVIDIA A100 Tensor Core GPU Architecture", table 4), twice as many of bytes.

feature wmma { machine cuda; cpuinfo "sm_75"; flag ""; probe { leaf 75; bit 0 } }
place wmma { machine cuda; memory wmma_accumulator; count 24; rows 32; row_bytes 128; header "mma.h"
             load  "nvcuda::wmma::load_matrix_sync({register}, {pointer}, {stride});"
             store "nvcuda::wmma::store_matrix_sync({pointer}, {register}, {stride});" }
feature wmma_sm80 { machine cuda; cpuinfo "sm_80"; flag ""; probe { leaf 80; bit 0 } }
target wmma "tensor cores of NVIDIA's GPUs" uses wmma, wmma_sm80

instruction wmma_16x16x16_f16_row_row(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_row_col(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_col_row(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_col_col(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_row_row(c: f32[32, 8], a: f16[32, 16], b: f16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_row_col(c: f32[32, 8], a: f16[32, 16], b: f16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_col_row(c: f32[32, 8], a: f16[16, 32], b: f16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_col_col(c: f32[32, 8], a: f16[16, 32], b: f16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_row_row(c: f32[8, 32], a: f16[8, 16], b: f16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_row_col(c: f32[8, 32], a: f16[8, 16], b: f16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_col_row(c: f32[8, 32], a: f16[16, 8], b: f16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_col_col(c: f32[8, 32], a: f16[16, 8], b: f16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_f16_row_row(c: f16[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_f16_row_col(c: f16[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_f16_col_row(c: f16[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_f16_f16_col_col(c: f16[16, 16], a: f16[16, 16], b: f16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_f16_row_row(c: f16[32, 8], a: f16[32, 16], b: f16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_f16_row_col(c: f16[32, 8], a: f16[32, 16], b: f16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_f16_col_row(c: f16[32, 8], a: f16[16, 32], b: f16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_32x8x16_f16_f16_col_col(c: f16[32, 8], a: f16[16, 32], b: f16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_f16_row_row(c: f16[8, 32], a: f16[8, 16], b: f16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_f16_row_col(c: f16[8, 32], a: f16[8, 16], b: f16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[i, k]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_f16_col_row(c: f16[8, 32], a: f16[16, 8], b: f16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_8x32x16_f16_f16_col_col(c: f16[8, 32], a: f16[16, 8], b: f16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f16(a[k, i]) * f16(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma

instruction wmma_16x16x16_bf16_row_row(c: f32[16, 16], a: bf16[16, 16], b: bf16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x16_bf16_row_col(c: f32[16, 16], a: bf16[16, 16], b: bf16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x16_bf16_col_row(c: f32[16, 16], a: bf16[16, 16], b: bf16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x16_bf16_col_col(c: f32[16, 16], a: bf16[16, 16], b: bf16[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_32x8x16_bf16_row_row(c: f32[32, 8], a: bf16[32, 16], b: bf16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_32x8x16_bf16_row_col(c: f32[32, 8], a: bf16[32, 16], b: bf16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_32x8x16_bf16_col_row(c: f32[32, 8], a: bf16[16, 32], b: bf16[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_32x8x16_bf16_col_col(c: f32[32, 8], a: bf16[16, 32], b: bf16[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_8x32x16_bf16_row_row(c: f32[8, 32], a: bf16[8, 16], b: bf16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_8x32x16_bf16_row_col(c: f32[8, 32], a: bf16[8, 16], b: bf16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_8x32x16_bf16_col_row(c: f32[8, 32], a: bf16[16, 8], b: bf16[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_8x32x16_bf16_col_col(c: f32[8, 32], a: bf16[16, 8], b: bf16[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += f32(a[k, i]) * f32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x16_s8_row_row(c: i32[16, 16], a: i8[16, 16], b: i8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_s8_row_col(c: i32[16, 16], a: i8[16, 16], b: i8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_s8_col_row(c: i32[16, 16], a: i8[16, 16], b: i8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_s8_col_col(c: i32[16, 16], a: i8[16, 16], b: i8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_s8_row_row(c: i32[32, 8], a: i8[32, 16], b: i8[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_s8_row_col(c: i32[32, 8], a: i8[32, 16], b: i8[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_s8_col_row(c: i32[32, 8], a: i8[16, 32], b: i8[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_s8_col_col(c: i32[32, 8], a: i8[16, 32], b: i8[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_s8_row_row(c: i32[8, 32], a: i8[8, 16], b: i8[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_s8_row_col(c: i32[8, 32], a: i8[8, 16], b: i8[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_s8_col_row(c: i32[8, 32], a: i8[16, 8], b: i8[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_s8_col_col(c: i32[8, 32], a: i8[16, 8], b: i8[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_u8_row_row(c: i32[16, 16], a: u8[16, 16], b: u8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_u8_row_col(c: i32[16, 16], a: u8[16, 16], b: u8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_u8_col_row(c: i32[16, 16], a: u8[16, 16], b: u8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x16_u8_col_col(c: i32[16, 16], a: u8[16, 16], b: u8[16, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_u8_row_row(c: i32[32, 8], a: u8[32, 16], b: u8[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_u8_row_col(c: i32[32, 8], a: u8[32, 16], b: u8[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_u8_col_row(c: i32[32, 8], a: u8[16, 32], b: u8[16, 8]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_32x8x16_u8_col_col(c: i32[32, 8], a: u8[16, 32], b: u8[8, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_u8_row_row(c: i32[8, 32], a: u8[8, 16], b: u8[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_u8_row_col(c: i32[8, 32], a: u8[8, 16], b: u8[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[i, k]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_u8_col_row(c: i32[8, 32], a: u8[16, 8], b: u8[16, 32]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[k, j])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_8x32x16_u8_col_col(c: i32[8, 32], a: u8[16, 8], b: u8[32, 16]) in wmma {
    reduce k in 16
    c[i, j] += i32(a[k, i]) * i32(b[j, k])
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.125 }
needs wmma

instruction wmma_16x16x8_tf32_row_row(c: f32[16, 16], a: f32[16, 8], b: f32[8, 16]) in wmma {
    reduce k in 8
    c[i, j] += tf32(a[i, k]) * tf32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x8_tf32_row_col(c: f32[16, 16], a: f32[16, 8], b: f32[16, 8]) in wmma {
    reduce k in 8
    c[i, j] += tf32(a[i, k]) * tf32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x8_tf32_col_row(c: f32[16, 16], a: f32[8, 16], b: f32[8, 16]) in wmma {
    reduce k in 8
    c[i, j] += tf32(a[k, i]) * tf32(b[k, j])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80

instruction wmma_16x16x8_tf32_col_col(c: f32[16, 16], a: f32[8, 16], b: f32[16, 8]) in wmma {
    reduce k in 8
    c[i, j] += tf32(a[k, i]) * tf32(b[j, k])
    rounding { product fused }
}
emit "wmma::mma_sync({c}, {a}, {b}, {c});"
cost { latency 32; per_cycle 0.0625 }
needs wmma, wmma_sm80
