size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j] = acc[i, j]
schedule s for c {
    C.unroll(j, 4)
}
