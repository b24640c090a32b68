# AVX-512: dot products of bytes, 16-bit integers and bf16, and the multiply-add of f32
# (Intel SDM vol. 2C). Operand `a` is the first source, `b` the second (in memory, or a broadcast of it).
# gcc 12 spills the accumulators of VNNI intrinsics and keeps those of asm; clang is the reverse.
# Timing: uops.info, Ice Lake and Zen 4.

# Bytes, unsigned by signed; the sum wraps.
instruction vpdpbusd_xmm(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in xmm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpbusd {b}, {a}, {c}"
emit clang "{c} = _mm_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusd_ymm(c: i32[8], a: u8[8, 4], b: i8[8, 4]) in ymm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpbusd {b}, {a}, {c}"
emit clang "{c} = _mm256_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusd_zmm(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpbusd {b}, {a}, {c}"
emit clang "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512f, avx512vnni

# Both signed: a + 128 is unsigned, and 128 times the sum of b comes off again; all of it wraps, so that nothing is lost.
# Two dot products, an exclusive or and a difference.
instruction vpdpbusd_signed_xmm(c: i32[4], a: i8[4, 4], b: i8[4, 4]) in xmm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm_sub_epi32(_mm_dpbusd_epi32({c}, _mm_xor_si128({a}, _mm_set1_epi8(-128)), {b}), _mm_dpbusd_epi32(_mm_setzero_si128(), _mm_set1_epi8(-128), {b}));"
cost { latency 6; per_cycle 0.75 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusd_signed_ymm(c: i32[8], a: i8[8, 4], b: i8[8, 4]) in ymm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm256_sub_epi32(_mm256_dpbusd_epi32({c}, _mm256_xor_si256({a}, _mm256_set1_epi8(-128)), {b}), _mm256_dpbusd_epi32(_mm256_setzero_si256(), _mm256_set1_epi8(-128), {b}));"
cost { latency 6; per_cycle 0.75 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusd_signed_zmm(c: i32[16], a: i8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_sub_epi32(_mm512_dpbusd_epi32({c}, _mm512_xor_si512({a}, _mm512_set1_epi8(-128)), {b}), _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(-128), {b}));"
cost { latency 6; per_cycle 0.5 }
needs avx512f, avx512vnni

# The same with one saturation of the exact sum: another result than `+=` where that wraps.
instruction vpdpbusds_xmm(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in xmm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpbusds {b}, {a}, {c}"
emit clang "{c} = _mm_dpbusds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusds_ymm(c: i32[8], a: u8[8, 4], b: i8[8, 4]) in ymm_evex {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpbusds {b}, {a}, {c}"
emit clang "{c} = _mm256_dpbusds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpbusds_zmm(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpbusds {b}, {a}, {c}"
emit clang "{c} = _mm512_dpbusds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512f, avx512vnni

# 16-bit integers; the sum wraps.
instruction vpdpwssd_xmm(c: i32[4], a: i16[4, 2], b: i16[4, 2]) in xmm_evex {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpwssd {b}, {a}, {c}"
emit clang "{c} = _mm_dpwssd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpwssd_ymm(c: i32[8], a: i16[8, 2], b: i16[8, 2]) in ymm_evex {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpwssd {b}, {a}, {c}"
emit clang "{c} = _mm256_dpwssd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpwssd_zmm(c: i32[16], a: i16[16, 2], b: i16[16, 2]) in zmm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit gcc asm "vpdpwssd {b}, {a}, {c}"
emit clang "{c} = _mm512_dpwssd_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512f, avx512vnni

# The same with one saturation of the exact sum.
instruction vpdpwssds_xmm(c: i32[4], a: i16[4, 2], b: i16[4, 2]) in xmm_evex {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpwssds {b}, {a}, {c}"
emit clang "{c} = _mm_dpwssds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpwssds_ymm(c: i32[8], a: i16[8, 2], b: i16[8, 2]) in ymm_evex {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpwssds {b}, {a}, {c}"
emit clang "{c} = _mm256_dpwssds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 2 }
needs avx512f, avx512vnni, avx512vl

instruction vpdpwssds_zmm(c: i32[16], a: i16[16, 2], b: i16[16, 2]) in zmm {
    reduce q in 2
    c[l] += i32(a[l, q]) * i32(b[l, q])
    rounding { overflow saturates }
}
emit gcc asm "vpdpwssds {b}, {a}, {c}"
emit clang "{c} = _mm512_dpwssds_epi32({c}, {a}, {b});"
cost { latency 4; per_cycle 1 }
needs avx512f, avx512vnni

# The odd element of each pair first: fma(even, fma(odd, c)). MXCSR is not consulted.
instruction vdpbf16ps_xmm(c: f32[4], a: bf16[4, 2], b: bf16[4, 2]) in xmm_evex {
    reduce q in 2
    c[l] += f32(a[l, q]) * f32(b[l, q])
    rounding { product fused; order descending; subnormals flushed }
}
emit "{c} = _mm_dpbf16_ps({c}, {a}, {b});"
cost { latency 6; per_cycle 1 }
needs avx512f, avx512bf16, avx512vl

instruction vdpbf16ps_ymm(c: f32[8], a: bf16[8, 2], b: bf16[8, 2]) in ymm_evex {
    reduce q in 2
    c[l] += f32(a[l, q]) * f32(b[l, q])
    rounding { product fused; order descending; subnormals flushed }
}
emit "{c} = _mm256_dpbf16_ps({c}, {a}, {b});"
cost { latency 6; per_cycle 1 }
needs avx512f, avx512bf16, avx512vl

instruction vdpbf16ps_zmm(c: f32[16], a: bf16[16, 2], b: bf16[16, 2]) in zmm {
    reduce q in 2
    c[l] += f32(a[l, q]) * f32(b[l, q])
    rounding { product fused; order descending; subnormals flushed }
}
emit "{c} = _mm512_dpbf16_ps({c}, {a}, {b});"
cost { latency 6; per_cycle 1 }
needs avx512f, avx512bf16

# f32, one rounding; MXCSR as C programs have it.
instruction vfmadd231ps_zmm(c: f32[16], a: f32[16], b: f32[16]) in zmm {
    c[l] += a[l] * b[l]
    rounding { product fused }
}
emit "{c} = _mm512_fmadd_ps({a}, {b}, {c});"
cost { latency 4; per_cycle 2 }
needs avx512f
