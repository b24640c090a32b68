instruction dot(c: i64[8], a: u8[8, 8], b: i8[8, 8]) in zmm {
    reduce q in 8
    c[l] += i64(a[l, q]) * i64(b[l, q])
    rounding { overflow wraps }
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512vnni
