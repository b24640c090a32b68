instruction fma(c: f64[8], a: f64[8], b: f64[8]) in zmm {
    c[l] += a[l] * b[l]
    rounding { product fused }
}
emit "{c} = _mm512_fmadd_pd({a}, {b}, {c});"
cost { latency 4; per_cycle 2 }
needs avx512f
