instruction dot(c: i32[48], a: u8[48, 4], b: i8[48, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l / 6 * 6 + l % 6, q]) * i32(b[l / 4 * 4 + l % 4, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512vnni
