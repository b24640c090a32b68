# AVX2: dot products as VEX encodings (AVX-VNNI, Intel SDM vol. 2C), and the multiply-add of f32.
# Timing: uops.info, Alder Lake.

# Bytes, unsigned by signed; the sum wraps.
instruction vpdpbusd_xmm_vex(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in xmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm_dpbusd_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

instruction vpdpbusd_ymm_vex(c: i32[8], a: u8[8, 4], b: i8[8, 4]) in ymm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm256_dpbusd_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

# Both signed: a + 128 is unsigned, and 128 times the sum of b comes off again; all of it wraps, so that nothing is lost.
# Two dot products, an exclusive or and a difference.
instruction vpdpbusd_signed_xmm_vex(c: i32[4], a: i8[4, 4], b: i8[4, 4]) in xmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm_sub_epi32(_mm_dpbusd_avx_epi32({c}, _mm_xor_si128({a}, _mm_set1_epi8(-128)), {b}), _mm_dpbusd_avx_epi32(_mm_setzero_si128(), _mm_set1_epi8(-128), {b}));"
cost { latency 6; per_cycle 0.75 }
needs avx2, avxvnni

instruction vpdpbusd_signed_ymm_vex(c: i32[8], a: i8[8, 4], b: i8[8, 4]) in ymm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm256_sub_epi32(_mm256_dpbusd_avx_epi32({c}, _mm256_xor_si256({a}, _mm256_set1_epi8(-128)), {b}), _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(-128), {b}));"
cost { latency 6; per_cycle 0.75 }
needs avx2, avxvnni

# The same with one saturation of the exact sum: another result than `+=` where that wraps.
instruction vpdpbusds_xmm_vex(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in xmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit "{c} = _mm_dpbusds_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

instruction vpdpbusds_ymm_vex(c: i32[8], a: u8[8, 4], b: i8[8, 4]) in ymm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit "{c} = _mm256_dpbusds_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

# 16-bit integers; the sum wraps.
instruction vpdpwssd_xmm_vex(c: i32[4], a: i16[4, 2], b: i16[4, 2]) in xmm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm_dpwssd_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

instruction vpdpwssd_ymm_vex(c: i32[8], a: i16[8, 2], b: i16[8, 2]) in ymm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm256_dpwssd_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

# The same with one saturation of the exact sum.
instruction vpdpwssds_xmm_vex(c: i32[4], a: i16[4, 2], b: i16[4, 2]) in xmm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit "{c} = _mm_dpwssds_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

instruction vpdpwssds_ymm_vex(c: i32[8], a: i16[8, 2], b: i16[8, 2]) in ymm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit "{c} = _mm256_dpwssds_avx_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx2, avxvnni

# f32, one rounding; MXCSR as C programs have it.
instruction vfmadd231ps_xmm(c: f32[4], a: f32[4], b: f32[4]) in xmm {
    c[l] += a[l] * b[l]
    rounding { product fused }
}
emit "{c} = _mm_fmadd_ps({a}, {b}, {c});"
cost { latency 4; per_cycle 2 }
needs avx2, fma

instruction vfmadd231ps_ymm(c: f32[8], a: f32[8], b: f32[8]) in ymm {
    c[l] += a[l] * b[l]
    rounding { product fused }
}
emit "{c} = _mm256_fmadd_ps({a}, {b}, {c});"
cost { latency 4; per_cycle 2 }
needs avx2, fma
