size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0.0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
twice[i, j] = f32(A[i, j]) * 2
C[i, j] = acc[i, j] + twice[i, j]
require N <= K
schedule s for amx {
    acc.compute_root()
    twice.compute_root().compute_with(acc, i)
}
