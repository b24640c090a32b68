instruction dot(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512vnni
