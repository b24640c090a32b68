instruction fdot(c: f32[16], a: bf16[16, 2], b: bf16[16, 2]) in zmm {
    reduce q in 2
    c[l] += f32(a[l, q]) * f32(b[l, q])
    rounding { mode odd; product fused }
}
emit "{c} = _mm512_dpbf16_ps({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512bf16
