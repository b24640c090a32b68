# Products of floats of 8 bits by mma.sync, from sm_89 on (PTX ISA 8.5, "Matrix Fragments for mma.m16n8k32"): fragments
# as those of bytes in mma.hb. Within a product GPUs may keep fewer bits of the sum than f32 has, and than is described
# here: about 14 on an H800 (DeepSeek-V3 Technical Report, 2024, section 3.3.2).
# Timing: as bytes.

instruction mma_m16n8k32_e4m3(c: f32[16, 8], a: f8e4m3[16, 32], b: f8e4m3[32, 8]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_f32_e4m3({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma, mma_sm89

instruction mma_m16n8k32_e4m3_e5m2(c: f32[16, 8], a: f8e4m3[16, 32], b: f8e5m2[32, 8]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_f32_e4m3_e5m2({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma, mma_sm89

instruction mma_m16n8k32_e5m2_e4m3(c: f32[16, 8], a: f8e5m2[16, 32], b: f8e4m3[32, 8]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_f32_e5m2_e4m3({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma, mma_sm89

instruction mma_m16n8k32_e5m2(c: f32[16, 8], a: f8e5m2[16, 32], b: f8e5m2[32, 8]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 * 16, lane / 4]
}
emit "ptx_mma_m16n8k32_f32_e5m2({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.125 }
needs mma, mma_sm89

instruction mma_m16n16k32_e4m3(c: f32[16, 16], a: f8e4m3[16, 32], b: f8e4m3[32, 16]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_f32_e4m3({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma, mma_sm89

instruction mma_m16n16k32_e4m3_e5m2(c: f32[16, 16], a: f8e4m3[16, 32], b: f8e5m2[32, 16]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_f32_e4m3_e5m2({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma, mma_sm89

instruction mma_m16n16k32_e5m2_e4m3(c: f32[16, 16], a: f8e5m2[16, 32], b: f8e4m3[32, 16]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_f32_e5m2_e4m3({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma, mma_sm89

instruction mma_m16n16k32_e5m2(c: f32[16, 16], a: f8e5m2[16, 32], b: f8e5m2[32, 16]) in mma {
    reduce k in 32
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 + element / 4 % 2 * 8, lane % 4 * 4 + element % 4 + element / 8 * 16]
    fragment b[lane % 4 * 4 + element % 4 + element / 4 % 2 * 16, lane / 4 + element / 8 * 8]
}
emit "ptx_mma_m16n16k32_f32_e5m2({c}, ptx_words({a}), ptx_words({b}), {c});"
cost { latency 33; per_cycle 0.0625 }
needs mma, mma_sm89
