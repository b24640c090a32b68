instruction tile(c: f32[M, N], a: bf16[M, K], b: bf16[K / 2, N, 2]) in amx_tile {
    size M, N <= 16
    size K <= 32 step 2
    reduce k in K
    c[i, j] += f32(a[i, k]) * f32(b[k / 2, j, k % 2])
    rounding { product fused; chains 2 }
}
emit "_tile_dpbf16ps({c}, {a}, {b});"
cost { latency 52; per_cycle 0.0625 }
needs amx_bf16
