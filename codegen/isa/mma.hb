# NVIDIA's tensor cores through the PTX instruction mma.sync (PTX ISA 8.5, "Matrix Fragments for
# mma.m16n8k16" and its neighbours): the manual says which lane holds which element, and so do the fragments
# here. `lane` is 0 to 31, `element` counts what one lane has of an operand; elements of less than 32 bits lie
# in its registers in that order.
# Those of n16 are two instructions side by side: B then has four matrices, which one `ldmatrix` loads.
# How the sum of a product rounds is not documented; ascending multiply-adds are within its error.
# Timing: a warp's share of sm_80's tensor cores, 1024 multiply-adds of f16 in a cycle of an SM with four
# of them ("NVIDIA A100 Tensor Core GPU Architecture", table 4), twice as many of bytes, half of tf32.

feature mma { machine cuda; cpuinfo "sm_80"; flag ""; probe { leaf 80; bit 0 } }
place mma { machine cuda; memory mma_accumulator; count 24; rows 32; row_bytes 64; lanes 32; header "" }
# Factors of 8 bits (`mma_float8.hb`).
feature mma_sm89 { machine cuda; cpuinfo "sm_89"; flag ""; probe { leaf 89; bit 0 } }
target mma "tensor cores of NVIDIA's GPUs since sm_80, by registers" uses mma, mma_sm89

instruction mma_m16n8k16_f16(c: f32[16, 8], a: f16[16, 16], b: f16[16, 8]) in mma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 * 8, lane / 4]
}
emit "ptx_mma_m16n8k16_f32_f16({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k16_f16(c: f32[16, 16], a: f16[16, 16], b: f16[16, 16]) in mma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 % 2 * 8, lane / 4 + element / 4 * 8]
}
emit "ptx_mma_m16n16k16_f32_f16({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n8k16_f16_f16(c: f16[16, 8], a: f16[16, 16], b: f16[16, 8]) in mma {
    reduce k in 16
    c[i, j] += a[i, k] * b[k, j]
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 * 8, lane / 4]
}
emit "ptx_mma_m16n8k16_f16_f16(ptx_words({c}), ptx_words({a}), ptx_words({b}), ptx_words({c}));"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k16_f16_f16(c: f16[16, 16], a: f16[16, 16], b: f16[16, 16]) in mma {
    reduce k in 16
    c[i, j] += a[i, k] * b[k, j]
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 % 2 * 8, lane / 4 + element / 4 * 8]
}
emit "ptx_mma_m16n16k16_f16_f16(ptx_words({c}), ptx_words({a}), ptx_words({b}), ptx_words({c}));"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n8k16_bf16(c: f32[16, 8], a: bf16[16, 16], b: bf16[16, 8]) in mma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 * 8, lane / 4]
}
emit "ptx_mma_m16n8k16_f32_bf16({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k16_bf16(c: f32[16, 16], a: bf16[16, 16], b: bf16[16, 16]) in mma {
    reduce k in 16
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment b[lane % 4 * 2 + element % 2 + element / 2 % 2 * 8, lane / 4 + element / 4 * 8]
}
emit "ptx_mma_m16n16k16_f32_bf16({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n8k32_s8(c: i32[16, 8], a: i8[16, 32], b: i8[32, 8]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_s32_s8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k32_s8(c: i32[16, 16], a: i8[16, 32], b: i8[32, 16]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_s32_s8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n8k32_u8(c: i32[16, 8], a: u8[16, 32], b: u8[32, 8]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_s32_u8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n8k32_u8_s8(c: i32[16, 8], a: u8[16, 32], b: i8[32, 8]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_s32_u8_s8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n8k32_s8_u8(c: i32[16, 8], a: i8[16, 32], b: u8[32, 8]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_s32_s8_u8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k32_u8(c: i32[16, 16], a: u8[16, 32], b: u8[32, 16]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_s32_u8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n16k32_u8_s8(c: i32[16, 16], a: u8[16, 32], b: i8[32, 16]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_s32_u8_s8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n16k32_s8_u8(c: i32[16, 16], a: i8[16, 32], b: u8[32, 16]) in mma {
    reduce k in 32
    c[i, j] += i32(a[i, k]) * i32(b[k, j])
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_s32_s8_u8({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma

instruction mma_m16n8k8_tf32(c: f32[16, 8], a: f32[16, 8], b: f32[8, 8]) in mma {
    reduce k in 8
    c[i, j] += tf32(a[i, k]) * tf32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element % 2 * 8, lane % 4 + element / 2 * 4]
    fragment b[lane % 4 + element * 4, lane / 4]
}
emit "ptx_mma_m16n8k8_f32_f32({c}, {a}, {b}, {c});"
cost { latency 33; per_cycle 0.125 }
needs mma

instruction mma_m16n16k8_tf32(c: f32[16, 16], a: f32[16, 8], b: f32[8, 16]) in mma {
    reduce k in 8
    c[i, j] += tf32(a[i, k]) * tf32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element % 2 * 8, lane % 4 + element / 2 * 4]
    fragment b[lane % 4 + element % 2 * 4, lane / 4 + element / 2 * 8]
}
emit "ptx_mma_m16n16k8_f32_f32({c}, {a}, {b}, {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma
