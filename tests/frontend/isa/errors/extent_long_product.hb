instruction my_dot(c: i32[16], a: u8[16, 4000000000 * 4000000000], b: i8[16, M * 1024]) in zmm {
    size M <= 36028797018963968
    reduce q in 5000000000 * 5000000000
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 9 }
needs avx512f, avx512vnni

