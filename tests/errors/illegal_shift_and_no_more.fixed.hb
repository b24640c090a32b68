size M, N, K
input A: f32[M, K]
input B: f32[K, N]
output C: f32[M, N]
reduce k in K
b[l, j] = B[l, j] * 2
C[i, j] = 0
C[i, j] += A[i, k] * b[k, j]
schedule s for avx2 {
    C.update.split(j, jo, ji, 8, tail = guard).vectorize(ji)
    b.compute_at(C.update, jo)
}
