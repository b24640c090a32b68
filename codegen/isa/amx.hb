# AMX (Intel SDM vol. 2D, TDPBF16PS and others). Tiles have 1 to 16 rows of 4 to 64 bytes. B's rows hold
# groups of two (16 bits) or four (8 bits) rows of the matrix, interleaved.
# Timing: Intel optimization manual, "AMX throughput and latency": 52 cycles, one every 16.

# Even and odd products go to two chains of multiply-adds that begin at zero; then their sum, then C.
# MXCSR is not consulted: subnormals are zero, rounding is to nearest.
instruction tdpbf16ps(c: f32[M, N], a: bf16[M, K], b: bf16[K / 2, N, 2]) in amx_tile {
    size M, N <= 16
    size K <= 32 step 2
    reduce k in K
    c[i, j] += f32(a[i, k]) * f32(b[k / 2, j, k % 2])
    rounding { product fused; chains 2; subnormals flushed }
}
emit "_tile_dpbf16ps({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_bf16

# The same with f16, whose subnormals are ordinary numbers of f32: only those of f32 become zero.
instruction tdpfp16ps(c: f32[M, N], a: f16[M, K], b: f16[K / 2, N, 2]) in amx_tile {
    size M, N <= 16
    size K <= 32 step 2
    reduce k in K
    c[i, j] += f32(a[i, k]) * f32(b[k / 2, j, k % 2])
    rounding { product fused; chains 2; subnormals flushed }
}
emit "_tile_dpfp16ps({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_fp16

# Integers: exact, and the sum wraps.
instruction tdpbssd(c: i32[M, N], a: i8[M, K], b: i8[K / 4, N, 4]) in amx_tile {
    size M, N <= 16
    size K <= 64 step 4
    reduce k in K
    c[i, j] += i32(a[i, k]) * i32(b[k / 4, j, k % 4])
}
emit "_tile_dpbssd({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_int8

instruction tdpbsud(c: i32[M, N], a: i8[M, K], b: u8[K / 4, N, 4]) in amx_tile {
    size M, N <= 16
    size K <= 64 step 4
    reduce k in K
    c[i, j] += i32(a[i, k]) * i32(b[k / 4, j, k % 4])
}
emit "_tile_dpbsud({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_int8

instruction tdpbusd(c: i32[M, N], a: u8[M, K], b: i8[K / 4, N, 4]) in amx_tile {
    size M, N <= 16
    size K <= 64 step 4
    reduce k in K
    c[i, j] += i32(a[i, k]) * i32(b[k / 4, j, k % 4])
}
emit "_tile_dpbusd({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_int8

instruction tdpbuud(c: i32[M, N], a: u8[M, K], b: u8[K / 4, N, 4]) in amx_tile {
    size M, N <= 16
    size K <= 64 step 4
    reduce k in K
    c[i, j] += i32(a[i, k]) * i32(b[k / 4, j, k % 4])
}
emit "_tile_dpbuud({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_tile, amx_int8

