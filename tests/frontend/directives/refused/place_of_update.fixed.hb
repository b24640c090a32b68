size   W, H
input  A: f32[H, W]
input  B: f32[W, H]
output C: f32[H, H]
reduce k in W
acc[i, j] = 0.0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]   = acc[i, j]
schedule s for avx512 {
    acc.compute_root()
}
