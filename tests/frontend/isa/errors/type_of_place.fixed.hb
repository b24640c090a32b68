instruction fma(c: f32[16], a: f32[16], b: f32[16]) in zmm {
    c[l] += a[l] * b[l]
    rounding { product fused }
}
emit "{c} = _mm512_fmadd_ps({a}, {b}, {c});"
cost { latency 4; per_cycle 2 }
needs avx512f
