# Products of wgmma.mma_async whose first factor is in registers of the four warps (PTX ISA 8.5, "Asynchronous Warpgroup
# Level Matrix Instructions"), laid out as the sums of another product are: what is computed of those element by element
# is such a factor where it is. Four steps of 16 each; until they are waited for, nobody may store to these registers.
# Timing: as the products of wgmma.hb.

instruction wgmma_m64n64k64_f16_registers_jk(c: f32[64, 64], a: f16[64, 64], b: f16[64, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n64k64_f32_f16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n64k64_f16_registers_kj(c: f32[64, 64], a: f16[64, 64], b: f16[64, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n64k64_f32_f16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n128k64_f16_registers_jk(c: f32[64, 128], a: f16[64, 64], b: f16[128, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n128k64_f32_f16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.00390625 }
needs wgmma

instruction wgmma_m64n128k64_f16_registers_kj(c: f32[64, 128], a: f16[64, 64], b: f16[64, 128]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n128k64_f32_f16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.00390625 }
needs wgmma

instruction wgmma_m64n256k64_f16_registers_jk(c: f32[64, 256], a: f16[64, 64], b: f16[256, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n256k64_f32_f16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.001953125 }
needs wgmma

instruction wgmma_m64n256k64_f16_registers_kj(c: f32[64, 256], a: f16[64, 64], b: f16[64, 256]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n256k64_f32_f16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.001953125 }
needs wgmma

instruction wgmma_m64n64k64_bf16_registers_jk(c: f32[64, 64], a: bf16[64, 64], b: bf16[64, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n64k64_f32_bf16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n64k64_bf16_registers_kj(c: f32[64, 64], a: bf16[64, 64], b: bf16[64, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n64k64_f32_bf16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.0078125 }
needs wgmma

instruction wgmma_m64n128k64_bf16_registers_jk(c: f32[64, 128], a: bf16[64, 64], b: bf16[128, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n128k64_f32_bf16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.00390625 }
needs wgmma

instruction wgmma_m64n128k64_bf16_registers_kj(c: f32[64, 128], a: bf16[64, 64], b: bf16[64, 128]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n128k64_f32_bf16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.00390625 }
needs wgmma

instruction wgmma_m64n256k64_bf16_registers_jk(c: f32[64, 256], a: bf16[64, 64], b: bf16[256, 64]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[j, k])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n256k64_f32_bf16<0>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.001953125 }
needs wgmma

instruction wgmma_m64n256k64_bf16_registers_kj(c: f32[64, 256], a: bf16[64, 64], b: bf16[64, 256]) in wgmma {
    reduce k in 64
    c[i, j] += f32(a[i, k]) * f32(b[k, j])
    rounding { product fused }
    fragment c[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    fragment a[lane / 4 % 8 + lane / 32 * 16 + element / 2 % 2 * 8, lane % 4 * 2 + element % 2 + element / 4 * 8]
    shared b
}
emit "ptx_wgmma_m64n256k64_f32_bf16<1>({c}, ptx_words({a}), {b});"
cost { latency 128; per_cycle 0.001953125 }
needs wgmma
